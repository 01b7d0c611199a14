import { Effect } from "effect"

/**
 * Failures of ours that the library was told of: what it does not handle of them is handled by the end of the
 * connection.
 */
const told = new WeakSet<object>()

/** Notes a failure that the library is told of. */
export const noteTold = (error: unknown): void => {
  if (typeof error === "object" && error !== null) told.add(error)
}

/** What a line that breaks is called by Node; the stack of such an error names nobody, or the one who writes to the line. */
const brokenLine =
  /^(EAI_AGAIN|ECONNABORTED|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOTCONN|ENOTFOUND|EPIPE|EPROTO|ETIMEDOUT|ERR_SOCKET_\w+|ERR_SSL_\w+|ERR_STREAM_(DESTROYED|PREMATURE_CLOSE|WRITE_AFTER_END)|WS_ERR_\w+)$/

const libraries = /node_modules\/(@whiskeysockets|libsignal|ws)\//

/**
 * What is known of a rejection that nobody has handled, where it is the library's; undefined for a fault of our own. Never
 * its content. The library rejects with what is no error, the number a line was closed with, and with errors of the line.
 */
export const strayRejection = (reason: unknown): string | undefined => {
  if (!(reason instanceof Error)) return typeof reason
  if ("code" in reason && typeof reason.code === "string" && brokenLine.test(reason.code)) return reason.code
  return told.has(reason) || libraries.test(reason.stack ?? "") ? "error" : undefined
}

/** The library waits for answers in the background that nobody waits for: that one never comes must not end the node. */
export const looseEnds = Effect.gen(function*() {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const onRejection = (reason: unknown) => {
        const kind = strayRejection(reason)
        if (kind === undefined) throw reason
        run(Effect.annotateLogs(Effect.logDebug("nobody waited for an answer over a WhatsApp line"), { kind }))
      }
      process.on("unhandledRejection", onRejection)
      return onRejection
    }),
    (onRejection) => Effect.sync(() => process.off("unhandledRejection", onRejection))
  )
})
