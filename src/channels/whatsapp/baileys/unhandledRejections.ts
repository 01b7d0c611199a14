import { Effect } from "effect"

/** Our own failures that were passed to the library. They end the connection, so the library need not handle them. */
const reported = new WeakSet<object>()

/** Marks a failure that is passed to the library. */
export const markReported = (error: unknown): void => {
  if (typeof error === "object" && error !== null) reported.add(error)
}

/** Node's codes of a broken connection. The stack of such an error names no library. */
const brokenConnection =
  /^(EAI_AGAIN|ECONNABORTED|ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOTCONN|ENOTFOUND|EPIPE|EPROTO|ETIMEDOUT|ERR_SOCKET_\w+|ERR_SSL_\w+|ERR_STREAM_(DESTROYED|PREMATURE_CLOSE|WRITE_AFTER_END)|WS_ERR_\w+)$/

const libraries = /node_modules\/(@whiskeysockets|libsignal|ws)\//

/**
 * The kind of a rejection of the library, never its content. Undefined for a fault of our own code. The library also
 * rejects with values that are not errors, such as the close code of a connection.
 */
export const classifyRejection = (reason: unknown): string | undefined => {
  if (!(reason instanceof Error)) return typeof reason
  if ("code" in reason && typeof reason.code === "string" && brokenConnection.test(reason.code)) return reason.code
  return reported.has(reason) || libraries.test(reason.stack ?? "") ? "error" : undefined
}

/**
 * Ignores unhandled rejections of the library, which starts requests in the background and never handles their failure.
 * They must not end the process.
 */
export const unhandledRejections = Effect.gen(function*() {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const onRejection = (reason: unknown) => {
        const kind = classifyRejection(reason)
        if (kind === undefined) throw reason
        run(Effect.annotateLogs(Effect.logDebug("ignored an unhandled rejection from the WhatsApp library"), { kind }))
      }
      process.on("unhandledRejection", onRejection)
      return onRejection
    }),
    (onRejection) => Effect.sync(() => process.off("unhandledRejection", onRejection))
  )
})
