import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as NodeFs from "node:fs"
import type * as NodeNet from "node:net"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeZlib from "node:zlib"
import { asking } from "../support/bulkMail.ts"
import { makeRawServer } from "../support/RawServer.ts"
import { Relay } from "../support/Relay.ts"
import { selfSigned } from "../support/selfSigned.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver, type ReceiverAnswer } from "../support/WebhookReceiver.ts"
import { create, deliveriesOf, happen } from "../support/webhookStories.ts"

/** What the history has to say of a first attempt. */
interface Recorded {
  readonly status: "delivered" | "retrying"
  readonly error: string | null
  readonly response_code: number | null
  readonly response_body: string | null
}

const broke = (error: string, response_code: number | null = null): Recorded => ({
  status: "retrying",
  error,
  response_code,
  response_body: null
})

const refused = (response_code: number, response_body = ""): Recorded => ({
  status: "retrying",
  error: response_code < 400 ? "redirect" : "http_status",
  response_code,
  response_body
})

const taken = (response_code: number, response_body = ""): Recorded => ({
  status: "delivered",
  error: null,
  response_code,
  response_body
})

/** Makes something happen for a webhook at this URL, and gives what its history says after the first attempt. */
const firstAttemptAt = Effect.fnUntraced(function*(url: string) {
  const node = yield* Service
  const { key } = yield* makeAccount()
  const { id } = yield* create(node, key, { url, events: ["email.bulk_completed"] })
  yield* happen(node, key)
  const listed = yield* asking(deliveriesOf(node, key, id), ({ at }) => Number(at("data", 0, "attempt_count")) > 0)
  const delivery = String(listed.at("data", 0, "id"))
  const { at } = yield* node.request("GET", `/v1/webhooks/${id}/deliveries/${delivery}`, { key })
  return { one: listed.at("data", 0), attempt: at("data", "attempts", 0) }
})

const assertRecorded = Effect.fnUntraced(function*(url: string, { response_body, status, ...outcome }: Recorded) {
  const { attempt, one } = yield* firstAttemptAt(url)
  assert.deepInclude(one, { status, attempt_count: 1, ...outcome })
  assert.deepInclude(attempt, { attempt: 1, response_body, ...outcome })
  const isOver = status === "delivered"
  assert.strictEqual(Reflect.get(Object(one), "next_attempt_at") === null, isOver)
  assert.strictEqual(Reflect.get(Object(one), "completed_at") !== null, isOver)
  return Number(Reflect.get(Object(one), "duration_ms"))
})

const limit = 16 * 1024
const bomb = NodeZlib.gzipSync(Buffer.alloc(50_000_000))
const zeros = NodeZlib.gzipSync(Buffer.alloc(1_000))

const answers: ReadonlyArray<readonly [what: string, answer: ReceiverAnswer, recorded: Recorded]> = [
  ["says 204", 204, taken(204)],
  ["sends a body without end", "flood", taken(200, "x".repeat(limit))],
  [
    "sends 50 MB in a few kilobytes of gzip, which are not unpacked",
    { status: 200, headers: { "content-encoding": "gzip" }, body: bomb },
    taken(200, bomb.subarray(0, limit).toString("utf8"))
  ],
  [
    "sends bytes that are no text",
    { status: 500, headers: { "content-encoding": "gzip" }, body: zeros },
    refused(500, zeros.toString("utf8"))
  ],
  [
    "sends a body whose limit falls into a letter",
    { status: 400, body: `x${"ü".repeat(limit)}` },
    refused(400, `x${"ü".repeat(limit / 2 - 1)}\ufffd`)
  ],
  ["asks to wait for an hour", { status: 429, headers: { "retry-after": "3600" } }, refused(429)],
  ["is gone", 410, refused(410)],
  ["says a status that there is not", 999, refused(999)],
  ["has nothing new", 304, refused(304)],
  ["breaks the connection", "reset", broke("connection_reset")]
]

const late: ReadonlyArray<readonly [what: string, answer: ReceiverAnswer, recorded: Recorded]> = [
  ["never answers", "hang", broke("timeout")],
  ["drips its body", "drip", broke("timeout", 200)],
  ["answers a second too late", { status: 200, afterMillis: 1_500 }, broke("timeout")]
]

const head = "HTTP/1.1 200 OK\r\n"
const ok = `${head}content-length: 2\r\n\r\nok`

const bytes: ReadonlyArray<readonly [what: string, answer: string, recorded: Recorded]> = [
  ["is no HTTP at all", "SSH-2.0-OpenSSH_9.6\r\n", broke("body_read")],
  ["is HTTP 0.9", "hello", broke("body_read")],
  ["has a status of five digits", "HTTP/1.1 99999 What\r\n\r\n", broke("body_read")],
  ["has a head of 20 KB", `${head}x: ${"x".repeat(20_000)}\r\n\r\n`, broke("body_read")],
  ["has two lengths", `${head}content-length: 5\r\ncontent-length: 6\r\n\r\nhello`, broke("body_read")],
  [
    "has a length and chunks",
    `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    broke("body_read")
  ],
  ["is shorter than it says", `${head}content-length: 100\r\n\r\nshort`, broke("body_read", 200)],
  ["has a chunk of no length", `${head}transfer-encoding: chunked\r\n\r\nZZ\r\n`, broke("body_read", 200)],
  ["is empty", "", broke("connection_reset")],
  ["changes the protocol", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", broke("connection_reset")],
  // RFC 9110, 15.2, would have it passed over as the hints are; undici takes it for a fault of the server.
  ["tells to go on though nobody asked", `HTTP/1.1 100 Continue\r\n\r\n${ok}`, broke("connection_reset")],
  ["has hints before it", `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${ok}`, taken(200, "ok")],
  ["ends with the connection", `${head}\r\nuntil the end`, taken(200, "until the end")],
  ["is HTTP 1.0", "HTTP/1.0 200 OK\r\n\r\nold", taken(200, "old")],
  ["has another one behind it", `${ok}HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`, taken(200, "ok")]
]

const every100Millis = (socket: NodeNet.Socket, next: (index: number) => string) => {
  let index = 0
  const timer = setInterval(() => socket.write(next(index++)), 100)
  socket.once("close", () => clearInterval(timer))
}

const peers: ReadonlyArray<readonly [what: string, peer: (socket: NodeNet.Socket) => void, recorded: Recorded]> = [
  ["hangs up at once", (socket) => void socket.end(), broke("connection_reset")],
  ["resets at once", (socket) => void socket.resetAndDestroy(), broke("connection_reset")],
  ["answers before it has read", (socket) => void socket.pause().end(ok), taken(200, "ok")],
  ["drips its head", (socket) => every100Millis(socket, (at) => ok.charAt(at)), broke("timeout")],
  ["has hints for ever", (socket) => every100Millis(socket, () => "HTTP/1.1 103 Hints\r\n\r\n"), broke("timeout")]
]

const hasty = { WEBHOOK_TIMEOUT_SECONDS: "1" }

layer(Relay.layer({ env: hasty }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a first attempt at an endpoint",
  (it) => {
    for (const [what, answer, recorded] of answers) {
      it.effect(`that ${what} is ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver({ script: [answer] })
          yield* assertRecorded(receiver.url, recorded)
        }))
    }

    for (const [what, answer, recorded] of late) {
      it.effect(`that ${what} is given up after the one second that it has`, () =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver({ script: [answer] })
          const duration = yield* assertRecorded(receiver.url, recorded)
          assert.isTrue(duration >= 999 && duration < 3_000, `${duration} ms`)
          yield* receiver.disconnected
        }))
    }

    for (const [what, answer, recorded] of bytes) {
      it.effect(`whose answer ${what} is ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const server = yield* makeRawServer(answer)
          yield* assertRecorded(server.url, recorded)
        }))
    }

    for (const [what, peer, recorded] of peers) {
      it.effect(`that ${what} is ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const server = yield* makeRawServer(peer)
          yield* assertRecorded(server.url, recorded)
        }))
    }

    for (const status of [300, 301, 302, 303, 307, 308]) {
      it.effect(`that says ${status} is not followed`, () =>
        Effect.gen(function*() {
          const elsewhere = yield* makeWebhookReceiver()
          const headers = { location: `${elsewhere.url}/next` }
          const receiver = yield* makeWebhookReceiver({ script: [{ status, headers, body: "moved" }] })
          yield* assertRecorded(receiver.url, refused(status, "moved"))
          assert.strictEqual(elsewhere.connections(), 0)
        }))
    }

    it.effect("that nobody listens at is retrying: connection_refused", () =>
      Effect.gen(function*() {
        const { url } = yield* Effect.scoped(makeWebhookReceiver())
        yield* assertRecorded(url, broke("connection_refused"))
      }))

    it.effect("of a certificate that nobody vouches for, or of no TLS, is retrying: tls_error, with nothing sent", () =>
      Effect.gen(function*() {
        const selfMade = yield* makeWebhookReceiver({ tls: selfSigned })
        yield* assertRecorded(selfMade.url, broke("tls_error"))
        const plain = yield* makeWebhookReceiver()
        yield* assertRecorded(plain.url.replace("http:", "https:"), broke("tls_error"))
        assert.deepStrictEqual([selfMade.requests.length, plain.requests.length], [0, 0])
      }))

    it.effect("that says nothing to a TLS greeting is given up after the one second that it has", () =>
      Effect.gen(function*() {
        const silent = yield* makeRawServer(() => {})
        yield* assertRecorded(silent.url.replace("http:", "https:"), broke("timeout"))
      }))
  }
)

/** A node whose system trusts the tests' certificate, which is for localhost and 127.0.0.1 alone. */
const Trusting = Layer.unwrap(Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "trust-"))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  )
  const file = NodePath.join(folder, "ca.pem")
  NodeFs.writeFileSync(file, selfSigned.cert)
  return Relay.layer({ env: { ...hasty, NODE_EXTRA_CA_CERTS: file } })
}))

layer(Trusting, { excludeTestServices: true, timeout: "60 seconds" })("a first attempt over TLS", (it) => {
  it.effect("is delivered under the name of the certificate, and sends nothing under another name", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({
        host: "::",
        tls: selfSigned,
        script: [{ status: 200, body: "ok" }]
      })
      yield* assertRecorded(receiver.url, taken(200, "ok"))
      yield* assertRecorded(`https://[::1]:${receiver.port}/`, broke("tls_error"))
      assert.strictEqual(receiver.requests.length, 1)
    }))
})
