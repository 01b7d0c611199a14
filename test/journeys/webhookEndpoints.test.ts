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

/** The recorded outcome of a first attempt. */
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

const accepted = (response_code: number, response_body = ""): Recorded => ({
  status: "delivered",
  error: null,
  response_code,
  response_body
})

/** Publishes an event for a webhook at this URL and returns the record of its first attempt. */
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
  assert.deepInclude(one, { status, ...outcome })
  assert.deepInclude(attempt, { attempt: 1, response_body, ...outcome })
  const isOver = status === "delivered"
  assert.strictEqual(Reflect.get(Object(one), "next_attempt_at") === null, isOver)
  assert.strictEqual(Reflect.get(Object(one), "completed_at") !== null, isOver)
  return Number(Reflect.get(Object(one), "duration_ms"))
})

const limit = 4 * 1024
const bomb = NodeZlib.gzipSync(Buffer.alloc(50_000_000))
const zeros = NodeZlib.gzipSync(Buffer.alloc(1_000))

const answers: ReadonlyArray<readonly [what: string, answer: ReceiverAnswer, recorded: Recorded]> = [
  ["answers 204", 204, accepted(204)],
  ["sends an endless body", "flood", accepted(200, "x".repeat(limit))],
  [
    "sends 50 MB in a few kilobytes of gzip, which stay compressed",
    { status: 200, headers: { "content-encoding": "gzip" }, body: bomb },
    accepted(200, bomb.subarray(0, limit).toString("utf8"))
  ],
  [
    "sends bytes that are not text",
    { status: 500, headers: { "content-encoding": "gzip" }, body: zeros },
    refused(500, zeros.toString("utf8").replaceAll("\0", "\ufffd"))
  ],
  [
    "sends a body whose limit falls inside a character",
    { status: 400, body: `x${"ü".repeat(limit)}` },
    refused(400, `x${"ü".repeat(limit / 2 - 1)}\ufffd`)
  ],
  ["asks for an hour's delay", { status: 429, headers: { "retry-after": "3600" } }, refused(429)],
  ["answers 410", 410, refused(410)],
  ["answers with an invalid status", 999, refused(999)],
  ["answers 304", 304, refused(304)],
  ["resets the connection", "reset", broke("connection_reset")]
]

const late: ReadonlyArray<readonly [what: string, answer: ReceiverAnswer, recorded: Recorded]> = [
  ["never answers", "hang", broke("timeout")],
  ["sends its body a byte at a time", "drip", broke("timeout", 200)],
  ["answers six seconds too late", { status: 200, afterMillis: 9_000 }, broke("timeout")]
]

const head = "HTTP/1.1 200 OK\r\n"
const ok = `${head}content-length: 2\r\n\r\nok`

const bytes: ReadonlyArray<readonly [what: string, answer: string, recorded: Recorded]> = [
  ["is not HTTP", "SSH-2.0-OpenSSH_9.6\r\n", broke("body_read")],
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
  ["has an invalid chunk length", `${head}transfer-encoding: chunked\r\n\r\nZZ\r\n`, broke("body_read", 200)],
  ["is empty", "", broke("connection_reset")],
  ["changes the protocol", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", broke("connection_reset")],
  // RFC 9110, 15.2, would have it ignored like the hints; undici treats it as a server fault.
  ["starts with an unrequested 100 Continue", `HTTP/1.1 100 Continue\r\n\r\n${ok}`, broke("connection_reset")],
  [
    "follows interim responses",
    `HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${ok}`,
    accepted(200, "ok")
  ],
  ["ends with the connection", `${head}\r\nuntil the end`, accepted(200, "until the end")],
  ["is HTTP 1.0", "HTTP/1.0 200 OK\r\n\r\nold", accepted(200, "old")],
  ["has a second answer behind it", `${ok}HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n`, accepted(200, "ok")]
]

const every100Millis = (socket: NodeNet.Socket, next: (index: number) => string) => {
  let index = 0
  const timer = setInterval(() => socket.write(next(index++)), 100)
  socket.once("close", () => clearInterval(timer))
}

const peers: ReadonlyArray<readonly [what: string, peer: (socket: NodeNet.Socket) => void, recorded: Recorded]> = [
  ["hangs up at once", (socket) => void socket.end(), broke("connection_reset")],
  ["resets at once", (socket) => void socket.resetAndDestroy(), broke("connection_reset")],
  ["answers before it has read the request", (socket) => void socket.pause().end(ok), accepted(200, "ok")]
]

const slow: ReadonlyArray<readonly [what: string, peer: (socket: NodeNet.Socket) => void, recorded: Recorded]> = [
  ["sends its head a byte at a time", (socket) => every100Millis(socket, (at) => ok.charAt(at)), broke("timeout")],
  [
    "sends endless interim responses",
    (socket) => every100Millis(socket, () => "HTTP/1.1 103 Hints\r\n\r\n"),
    broke("timeout")
  ]
]

layer(Relay.layer({ env: { WEBHOOK_TIMEOUT_SECONDS: "3" } }), { excludeTestServices: true })(
  "first attempt at a slow endpoint",
  (it) => {
    for (const [what, answer, recorded] of late) {
      it.effect(`an endpoint that ${what} is given up on after the timeout of three seconds`, () =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver({ script: [answer] })
          const duration = yield* assertRecorded(receiver.url, recorded)
          assert.isTrue(duration >= 2_999 && duration < 9_000, `${duration} ms`)
          yield* receiver.disconnected
        }))
    }

    for (const [what, peer, recorded] of slow) {
      it.effect(`a peer that ${what} is given up on after the timeout of three seconds`, () =>
        Effect.gen(function*() {
          const server = yield* makeRawServer(peer)
          yield* assertRecorded(server.url, recorded)
        }))
    }

    it.effect("an endpoint silent during the TLS handshake is given up on after the timeout of three seconds", () =>
      Effect.gen(function*() {
        const silent = yield* makeRawServer(() => {})
        yield* assertRecorded(silent.url.replace("http:", "https:"), broke("timeout"))
      }))
  }
)

layer(Relay.layer(), { excludeTestServices: true })(
  "first attempt at an endpoint",
  (it) => {
    for (const [what, answer, recorded] of answers) {
      it.effect(`an endpoint that ${what} is recorded as ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver({ script: [answer] })
          yield* assertRecorded(receiver.url, recorded)
        }))
    }

    for (const [what, answer, recorded] of bytes) {
      it.effect(`an answer that ${what} is recorded as ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const server = yield* makeRawServer(answer)
          yield* assertRecorded(server.url, recorded)
        }))
    }

    for (const [what, peer, recorded] of peers) {
      it.effect(`a peer that ${what} is recorded as ${recorded.status}: ${recorded.error ?? recorded.response_code}`, () =>
        Effect.gen(function*() {
          const server = yield* makeRawServer(peer)
          yield* assertRecorded(server.url, recorded)
        }))
    }

    for (const status of [300, 301, 302, 303, 307, 308]) {
      it.effect(`a redirect with status ${status} is not followed`, () =>
        Effect.gen(function*() {
          const elsewhere = yield* makeWebhookReceiver()
          const headers = { location: `${elsewhere.url}/next` }
          const receiver = yield* makeWebhookReceiver({ script: [{ status, headers, body: "moved" }] })
          yield* assertRecorded(receiver.url, refused(status, "moved"))
          assert.strictEqual(elsewhere.connections(), 0)
        }))
    }

    it.effect("a closed port is recorded as retrying: connection_refused", () =>
      Effect.gen(function*() {
        const { url } = yield* Effect.scoped(makeWebhookReceiver())
        yield* assertRecorded(url, broke("connection_refused"))
      }))

    it.effect("an untrusted certificate or a port without TLS is recorded as retrying: tls_error, and nothing is sent", () =>
      Effect.gen(function*() {
        const selfMade = yield* makeWebhookReceiver({ tls: selfSigned })
        yield* assertRecorded(selfMade.url, broke("tls_error"))
        const plain = yield* makeWebhookReceiver()
        yield* assertRecorded(plain.url.replace("http:", "https:"), broke("tls_error"))
        assert.deepStrictEqual([selfMade.requests.length, plain.requests.length], [0, 0])
      }))
  }
)

/** A node that trusts the tests' certificate, which is valid for localhost and 127.0.0.1 only. */
const Trusting = Layer.unwrap(Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "trust-"))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  )
  const file = NodePath.join(folder, "ca.pem")
  NodeFs.writeFileSync(file, selfSigned.cert)
  return Relay.layer({ env: { NODE_EXTRA_CA_CERTS: file } })
}))

layer(Trusting, { excludeTestServices: true })("first attempt over TLS", (it) => {
  it.effect("an event is delivered when the certificate matches the host, and not sent when it does not", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver({
        host: "::",
        tls: selfSigned,
        script: [{ status: 200, body: "ok" }]
      })
      yield* assertRecorded(receiver.url, accepted(200, "ok"))
      yield* assertRecorded(`https://[::1]:${receiver.port}/`, broke("tls_error"))
      assert.strictEqual(receiver.requests.length, 1)
    }))
})
