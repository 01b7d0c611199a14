import { assert, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { PublicDownload, type PublicDownloadOptions } from "../../../src/platform/net/PublicDownload.ts"
import { makeWebhookReceiver, type ReceiverScript } from "../../support/WebhookReceiver.ts"

const opened = Effect.fnUntraced(function*(script: ReceiverScript, options: Partial<PublicDownloadOptions> = {}) {
  const receiver = yield* makeWebhookReceiver({ script })
  const built = yield* Layer.build(
    PublicDownload.layer({ allowLoopback: true, maxBytes: 1_000, timeout: "30 seconds", ...options })
  )
  return { receiver, ...(yield* Context.get(built, PublicDownload).open(`${receiver.url}/a.png`)) }
})

const download = Effect.fnUntraced(function*(script: ReceiverScript, options?: Partial<PublicDownloadOptions>) {
  const { contentType, failure, stream } = yield* opened(script, options)
  const bytes = yield* Effect.promise(() => stream.toArray().then(Buffer.concat, () => Buffer.alloc(0)))
  return { bytes, contentType, reason: failure()?.reason }
})

const reasonOf = (script: ReceiverScript, options?: Partial<PublicDownloadOptions>) =>
  Effect.map(Effect.flip(download(script, options)), ({ reason }) => reason)

describe("PublicDownload", () => {
  it.live("downloads a file with its type by GET", () =>
    Effect.gen(function*() {
      const headers = { "content-type": "Image/PNG; charset=x" }
      const file = yield* download(({ method }) => ({ status: method === "GET" ? 200 : 405, headers, body: "bytes" }))
      assert.deepStrictEqual(file, { bytes: Buffer.from("bytes"), contentType: "image/png", reason: undefined })
    }))

  it.live("refuses an address that is not public", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf([200], { allowLoopback: false }), "blocked_address")
    }))

  it.live("follows no redirect, and fails for an error status", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf([{ status: 302, headers: { location: "http://localhost/" } }]), "http_status")
      assert.strictEqual(yield* reasonOf([404]), "http_status")
    }))

  it.live("stops a file that announces or sends too many bytes", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* reasonOf([{ status: 200, headers: { "content-length": "1001" }, body: "a".repeat(1_001) }]),
        "too_large"
      )
      assert.strictEqual((yield* download(["flood"])).reason, "too_large")
    }))

  it.live("accepts an unannounced file up to the limit, and no byte more", () =>
    Effect.gen(function*() {
      const reasonOfSize = (bytes: number) =>
        Effect.map(
          download([{ status: 200, headers: { "transfer-encoding": "chunked" }, body: "a".repeat(bytes) }]),
          ({ reason }) => reason
        )
      assert.deepStrictEqual([yield* reasonOfSize(1_000), yield* reasonOfSize(1_001)], [undefined, "too_large"])
    }))

  it.live("stops a response whose head or body is too slow", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf(["hang"], { timeout: "1 second" }), "timeout")
      assert.strictEqual((yield* download(["drip"], { timeout: "1 second" })).reason, "timeout")
    }))

  it.live("reports no timeout for a file that arrived in time", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const spy = vi.spyOn(AbortSignal, "timeout").mockReturnValue(yield* Scope.provide(Effect.abortSignal, scope))
      const { failure, stream } = yield* Effect.ensuring(
        opened([{ status: 200, body: "bytes" }]),
        Effect.sync(() => spy.mockRestore())
      )
      assert.deepStrictEqual(yield* Effect.promise(() => stream.toArray().then(Buffer.concat)), Buffer.from("bytes"))
      yield* Scope.close(scope, Exit.void)
      assert.isUndefined(failure())
    }))

  it.live("reports no failure for a file that its reader stops reading, and one for a broken connection", () =>
    Effect.gen(function*() {
      const { failure, receiver, stream } = yield* opened(["drip"])
      stream.on("error", () => {}).destroy(new Error("the disk is full"))
      yield* receiver.disconnected
      assert.isUndefined(failure())
      const cut = { status: 200, headers: { "content-length": "9", "connection": "close" }, body: "bytes" }
      assert.strictEqual((yield* download([cut])).reason, "body_read")
    }))
})
