import { Context, Duration, Effect, Layer, Schema, type Scope } from "effect"
import * as NodeStream from "node:stream"
import { FailureReason } from "../../values/FailureReason.ts"
import { isPublicAddress } from "../../values/publicAddress.ts"
import { guardedConnector } from "./guardedConnector.ts"
import { resolveName } from "./resolveName.ts"
import { describe, failureReason } from "./transportFailure.ts"
import { LateAgent, undici } from "./undici.ts"

/** Limits of a download. */
export interface PublicDownloadOptions {
  /** Development: loopback for the names localhost, 127.0.0.1 and ::1 only. */
  readonly allowLoopback: boolean
  readonly maxBytes: number
  /** From the name's look-up to the last byte. */
  readonly timeout: Duration.Input
}

/** The download failed or is incomplete. */
export class DownloadFailed extends Schema.TaggedError<DownloadFailed>()("DownloadFailed", {
  reason: Schema.Literals([...FailureReason.literals, "http_status", "too_large"]),
  /** The status of a response that is not a success. */
  status: Schema.optionalKey(Schema.Int),
  /** One sentence for the owner of the URL; it reveals no private address. */
  detail: Schema.String
}) {
  override get message(): string {
    return this.detail
  }
}

/** A file whose bytes are arriving. */
export interface Download {
  /** Media type without parameters, in lower case. */
  readonly contentType: string | undefined
  /** The size that the server announced; it never sends more bytes. */
  readonly size: number | undefined
  readonly stream: NodeStream.Readable
  /** Why the stream ended early. */
  readonly failure: () => DownloadFailed | undefined
}

const failed = (error: Error): DownloadFailed => {
  const reason = failureReason(error, false) ?? "connection_reset"
  return new DownloadFailed({ reason, detail: describe(error) })
}

const mediaType = (header: string | ReadonlyArray<string> | undefined) =>
  (typeof header === "string" ? header : header?.[0])?.split(";")[0]?.trim().toLowerCase()

const make = Effect.fnUntraced(function*({ allowLoopback, maxBytes, timeout }: PublicDownloadOptions) {
  const millis = Duration.toMillis(Duration.fromInputUnsafe(timeout))
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new LateAgent(() => ({
        connect: guardedConnector({
          isAllowed: isPublicAddress,
          allowLoopback,
          lookup: resolveName(),
          connectTimeoutMillis: Math.min(millis, 10_000)
        }),
        allowH2: false,
        pipelining: 1,
        headersTimeout: millis,
        bodyTimeout: millis
      }))
    ),
    (started) => Effect.promise(() => started.destroy())
  )
  const tooLarge = () => new DownloadFailed({ reason: "too_large", detail: `the file has more than ${maxBytes} bytes` })
  const tooSlow = () =>
    new DownloadFailed({
      reason: "timeout",
      detail: `the file did not arrive completely within ${millis / 1000} seconds`
    })

  const open = Effect.fnUntraced(function*(url: string) {
    let failure: DownloadFailed | undefined
    let hasArrived = false
    const closed = yield* Effect.abortSignal
    const late = AbortSignal.timeout(millis)
    late.addEventListener("abort", () => {
      if (!closed.aborted && !hasArrived) failure ??= tooSlow()
    })
    const signal = AbortSignal.any([closed, late])
    const response = yield* Effect.tryPromise({
      try: () => undici().request(url, { dispatcher: agent.get(), method: "GET", signal }),
      catch: (error) => failure ?? failed(error instanceof Error ? error : new Error("no response"))
    })
    // The reader of the body handles its errors. An error after that must not end the process.
    response.body.on("error", () => {})
    if (response.statusCode < 200 || response.statusCode > 299) {
      const status = response.statusCode
      return yield* new DownloadFailed({ reason: "http_status", status, detail: `the response was ${status}` })
    }
    const length = response.headers["content-length"]
    const announced = length === undefined ? undefined : Number(length)
    if (announced !== undefined && announced > maxBytes) return yield* tooLarge()
    let size = 0
    const bounded = new NodeStream.Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        size += chunk.length
        if (size > maxBytes) {
          failure = tooLarge()
          done(failure)
        } else done(null, chunk)
      }
    })
    response.body.on("end", () => {
      hasArrived = true
    })
    // Runs before the pipeline destroys its streams. A stream that its reader has destroyed is no failure of the download.
    response.body.on("error", (error) => {
      if (!bounded.destroyed) failure ??= new DownloadFailed({ reason: "body_read", detail: describe(error) })
    })
    return {
      contentType: mediaType(response.headers["content-type"]),
      size: announced,
      stream: NodeStream.pipeline(response.body, bounded, () => {}),
      failure: () => failure
    }
  })

  return PublicDownload.of({ open })
})

/**
 * Downloads files from URLs of untrusted users: from the public internet only, without redirects, within limits of size
 * and time, and never whole in memory.
 */
export class PublicDownload extends Context.Service<PublicDownload, {
  /** Starts a download, which ends with the scope. */
  readonly open: (url: string) => Effect.Effect<Download, DownloadFailed, Scope.Scope>
}>()("messaging-service/platform/net/PublicDownload") {
  static readonly layer = (options: PublicDownloadOptions): Layer.Layer<PublicDownload> =>
    Layer.effect(PublicDownload, make(options))
}
