import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { NodemailerSmtp } from "../../../../src/channels/email/smtp/NodemailerConnector.ts"
import type { NodemailerSmtpOptions } from "../../../../src/channels/email/smtp/NodemailerConnector.ts"
import { Smtp } from "../../../../src/channels/email/smtp/Smtp.ts"
import type { SmtpLane, SmtpMail } from "../../../../src/channels/email/smtp/Smtp.ts"
import type { SendFailure } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import type { RelayAddress } from "../../../../src/channels/email/smtp/SmtpUrl.ts"
import * as ScriptedSmtp from "../../../support/ScriptedSmtp.ts"
import * as SmtpSink from "../../../support/SmtpSink.ts"

const relay = (port: number): RelayAddress => ({ host: "127.0.0.1", port, tls: "never", verifyCertificate: true })

/** For servers that never answer; the others are given the time a loaded machine may need. */
const impatient: Partial<NodemailerSmtpOptions> = {
  timeouts: { greeting: Duration.millis(100), command: Duration.millis(100), finalReply: Duration.millis(100) }
}

const open = (port: number, options: Partial<NodemailerSmtpOptions> = {}) =>
  Effect.map(
    Layer.build(NodemailerSmtp.layer({ relay: relay(port), ...options })),
    (context) => Context.get(context, Smtp)
  )

const message = (text: string) =>
  Buffer.from(`Message-ID: <${text}@sender.example>\r\nSubject: test\r\n\r\n${text}\r\n`)

const mail = (to: string, priority: SmtpLane = "bulk", text = "hello"): SmtpMail => ({
  envelope: { from: "news@sender.example", to },
  message: message(text),
  priority
})

/** More than any socket takes at once. */
const huge: SmtpMail = { ...mail("ann@example.com"), message: message("x".repeat(32 * 1024 * 1024)) }

const summary = (failure: SendFailure): object => {
  switch (failure._tag) {
    case "RecipientRefused": {
      const { code, enhanced, permanent, stage } = failure
      return { tag: failure._tag, stage, code, permanent, ...(enhanced === undefined ? {} : { enhanced }) }
    }
    case "RelayUnavailable":
      return { tag: failure._tag, fault: failure.fault }
    case "OutcomeUnknown":
      return { tag: failure._tag }
  }
}

const unavailable = (fault: string) => ({ tag: "RelayUnavailable", fault })
const unknown = { tag: "OutcomeUnknown" }
/** The end of a conversation that is counted as an attempt of its recipient, while it happens to nobody else. */
const dismissed = { tag: "RecipientRefused", stage: "rcpt", code: 421, permanent: false, enhanced: "4.4.2" }
const on = (verb: string, answer: ScriptedSmtp.ScriptedAnswer): ScriptedSmtp.ScriptedSmtpOptions => ({
  command: (line) => line.toUpperCase().startsWith(verb) ? answer : undefined
})

const user: Partial<NodemailerSmtpOptions> = {
  relay: { ...relay(0), credentials: { user: "ann", password: Redacted.make("se cret%") } }
}
/** It goes on after the client has begun with TLS. */
const noise: ScriptedSmtp.ScriptedAnswer = { slowly: "220 2.0.0 go ahead\r\nnoise, and not TLS", millis: 1 }
const mustEncrypt: Partial<NodemailerSmtpOptions> = { relay: { ...relay(0), tls: "required" } }

interface Case {
  readonly name: string
  readonly server: ScriptedSmtp.ScriptedSmtpOptions
  readonly expected: object
  readonly options?: Partial<NodemailerSmtpOptions>
  /** Bodies the server must have seen in full. */
  readonly bodies?: number
}

const matrix: ReadonlyArray<Case> = [
  { name: "a 421 greeting", server: { greeting: "421 4.3.2 too busy" }, expected: unavailable("connect") },
  { name: "a 554 greeting", server: { greeting: "554 5.7.1 go away" }, expected: unavailable("connect") },
  { name: "no greeting", server: { greeting: "silence" }, options: impatient, expected: unavailable("connect") },
  { name: "hanging up instead of a greeting", server: { greeting: "close" }, expected: unavailable("connect") },
  { name: "EHLO and HELO refused", server: { command: () => "502 5.5.1 no" }, expected: unavailable("connect") },
  { name: "hanging up at EHLO", server: on("EHLO", "close"), expected: unavailable("connect") },
  {
    name: "AUTH refused",
    server: { extensions: ["AUTH PLAIN LOGIN"], ...on("AUTH", "535 5.7.8 wrong password") },
    options: user,
    expected: unavailable("auth")
  },
  {
    name: "hanging up at AUTH",
    server: { extensions: ["AUTH PLAIN"], ...on("AUTH", "close") },
    options: user,
    expected: unavailable("connect")
  },
  { name: "no AUTH although a user is configured", server: {}, options: user, expected: unavailable("auth") },
  {
    name: "STARTTLS refused although required",
    server: on("STARTTLS", "502 5.5.1 no"),
    options: mustEncrypt,
    expected: unavailable("tls")
  },
  {
    name: "noise in the place of TLS",
    server: { extensions: ["STARTTLS"], ...on("STARTTLS", noise) },
    options: mustEncrypt,
    expected: unavailable("connect")
  },
  {
    name: "noise in the place of TLS that was merely offered",
    server: { extensions: ["STARTTLS"], ...on("STARTTLS", noise) },
    options: { relay: { ...relay(0), tls: "offered" } },
    expected: unavailable("connect")
  },
  {
    name: "450 at MAIL",
    server: on("MAIL", "450 4.3.2 later"),
    expected: { tag: "RecipientRefused", stage: "mail", code: 450, permanent: false, enhanced: "4.3.2" }
  },
  {
    name: "550 at MAIL",
    server: on("MAIL", "550 5.7.1 sender refused"),
    expected: { tag: "RecipientRefused", stage: "mail", code: 550, permanent: true, enhanced: "5.7.1" }
  },
  { name: "530 at MAIL", server: on("MAIL", "530 5.7.0 log in first"), expected: unavailable("reply") },
  { name: "421 at MAIL", server: on("MAIL", "421 4.3.2 shutting down"), expected: unavailable("reply") },
  { name: "hanging up at MAIL", server: on("MAIL", "close"), expected: dismissed },
  { name: "silence at MAIL", server: on("MAIL", "silence"), options: impatient, expected: dismissed },
  { name: "421 at RCPT", server: on("RCPT", "421 4.3.2 not this one"), expected: { ...dismissed, enhanced: "4.3.2" } },
  { name: "silence at RCPT", server: on("RCPT", "silence"), options: impatient, expected: dismissed },
  {
    name: "450 at RCPT",
    server: on("RCPT", "450 4.2.1 mailbox busy"),
    expected: { tag: "RecipientRefused", stage: "rcpt", code: 450, permanent: false, enhanced: "4.2.1" }
  },
  {
    name: "550 at RCPT",
    server: on("RCPT", "550 5.1.1 no such user"),
    expected: { tag: "RecipientRefused", stage: "rcpt", code: 550, permanent: true, enhanced: "5.1.1" }
  },
  {
    name: "550 at RCPT without PIPELINING and without a status",
    server: { extensions: [], ...on("RCPT", "550 no") },
    expected: { tag: "RecipientRefused", stage: "rcpt", code: 550, permanent: true }
  },
  {
    name: "503 at RCPT",
    server: on("RCPT", "503 5.5.1 out of order"),
    expected: { tag: "RecipientRefused", stage: "rcpt", code: 503, permanent: false, enhanced: "5.5.1" }
  },
  {
    name: "554 at DATA",
    server: on("DATA", "554 5.5.1 no valid recipients"),
    expected: { tag: "RecipientRefused", stage: "data", code: 554, permanent: true, enhanced: "5.5.1" }
  },
  { name: "hanging up at DATA", server: on("DATA", "close"), expected: dismissed },
  {
    name: "451 after the dot",
    server: { message: () => "451 4.7.1 greylisted" },
    expected: { tag: "RecipientRefused", stage: "message", code: 451, permanent: false, enhanced: "4.7.1" },
    bodies: 1
  },
  {
    name: "552 after the dot",
    server: { message: () => "552 5.2.2 full" },
    expected: { tag: "RecipientRefused", stage: "message", code: 552, permanent: true, enhanced: "5.2.2" },
    bodies: 1
  },
  {
    name: "554 after the dot",
    server: { message: () => "554 spam" },
    expected: { tag: "RecipientRefused", stage: "message", code: 554, permanent: true },
    bodies: 1
  },
  {
    name: "421 after the dot",
    server: { message: () => "421 4.3.2 bye" },
    expected: { ...dismissed, enhanced: "4.3.2" },
    bodies: 1
  },
  {
    name: "hanging up in the body, whose final dot has left",
    server: { body: (text) => text.length >= 10 ? "close" : undefined },
    expected: unknown,
    bodies: 0
  },
  { name: "hanging up after the dot", server: { message: () => "close" }, expected: unknown, bodies: 1 },
  {
    name: "silence after the dot",
    server: { message: () => "silence" },
    options: impatient,
    expected: unknown,
    bodies: 1
  },
  { name: "noise after the dot", server: { message: () => "\u0007\u0000noise" }, expected: unknown, bodies: 1 },
  { name: "2-something after the dot", server: { message: () => "2\u001bnoise" }, expected: unknown, bodies: 1 },
  { name: "noise at RCPT", server: on("RCPT", "\u0007noise"), expected: dismissed }
]

describe("what a failed send means", () => {
  for (const { bodies = 0, expected, name, options, server } of matrix) {
    it.effect(`${name} is ${JSON.stringify(expected)}`, () =>
      Effect.gen(function*() {
        const peer = yield* ScriptedSmtp.make(server)
        const address = { ...relay(peer.port), ...options?.relay, port: peer.port }
        const smtp = yield* open(peer.port, { ...options, relay: address })
        const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
        assert.deepStrictEqual(summary(failure), expected)
        assert.strictEqual(peer.bodies.length, bodies)
      }))
  }

  it.effect("a relay that reads no further, or hangs up, before the final dot has left does not have the message", () =>
    Effect.gen(function*() {
      for (const fault of ["stall", "close", "end"] as const) {
        const peer = yield* ScriptedSmtp.make({ body: (text) => text.length >= 10 ? fault : undefined })
        const smtp = yield* open(peer.port, impatient)
        assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(huge))), dismissed)
      }
    }))

  it.effect("an answer in the middle of the message ends the connection, and is believed when it refuses", () =>
    Effect.gen(function*() {
      const refused = { tag: "RecipientRefused", stage: "message", code: 552, permanent: true, enhanced: "5.3.4" }
      for (const [say, expected] of [["552 5.3.4 too large", refused], ["250 2.0.0 taken", unknown]] as const) {
        const peer = yield* ScriptedSmtp.make({ body: (text) => text.length >= 10 ? { say } : undefined })
        const smtp = yield* open(peer.port)
        assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(huge))), expected)
        yield* peer.until(() => peer.connections.open === 0)
        assert.isFalse(peer.commands.includes("1 RSET"))
      }
    }))

  it.effect("an answer that came along with the one to DATA is not one to its final dot, a refusal neither", () =>
    Effect.gen(function*() {
      for (const early of ["250 2.0.0 taken", "550 5.7.1 no"]) {
        const peer = yield* ScriptedSmtp.make(on("DATA", `354 go on\r\n${early}`))
        const smtp = yield* open(peer.port)
        assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(mail("ann@example.com")))), unknown)
      }
    }))

  it.effect("an answer that is cut off refuses nobody, and its words are kept", () =>
    Effect.gen(function*() {
      for (const cutOff of ["250 2.1.5 o", "2", "550 5.1.1 no such", "550-5.1.1 no\r\n550-such"]) {
        const peer = yield* ScriptedSmtp.make(on("RCPT", { cutOff }))
        const smtp = yield* open(peer.port)
        const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
        assert.deepStrictEqual(summary(failure), dismissed)
        const words = cutOff.replaceAll(/\s+/g, " ")
        const said = failure._tag === "RecipientRefused" ? failure.response : ""
        assert.strictEqual(said, `421 4.4.2 ${words} (connection closed)`)
      }
    }))

  it.effect("a refusal is one even when the relay hangs up before it has answered all that it was told", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({
        command: (line) => line.startsWith("RCPT") ? "550 5.1.1 no such user" : line === "DATA" ? "close" : undefined
      })
      const smtp = yield* open(peer.port)
      for (const to of ["ann@example.com", "bob@example.com"]) {
        const failure = yield* Effect.flip(smtp.send(mail(to)))
        assert.deepInclude(summary(failure), { tag: "RecipientRefused", stage: "rcpt", code: 550, permanent: true })
      }
      assert.strictEqual((yield* smtp.admission)._tag, "Pass")
    }))

  it.effect("a reply of more than 64 kB is none", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make(on("RCPT", "250-on and on\r\n".repeat(20_000)))
      const smtp = yield* open(peer.port)
      assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(mail("ann@example.com")))), dismissed)
      yield* peer.until(() => peer.connections.open === 0)
    }))

  it.effect("a relay that answers byte by byte is waited for", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({ extensions: [], ...on("RCPT", { slowly: "250 2.0.0 ok", millis: 10 }) })
      const smtp = yield* open(peer.port)
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(peer.bodies.length, 1)
    }))

  it.effect("a relay that never comes to the end of an answer is given up after twenty minutes", () =>
    Effect.gen(function*() {
      for (const [verb, expected] of [["RCPT", dismissed], ["EHLO", unavailable("connect")]] as const) {
        const peer = yield* ScriptedSmtp.make(on(verb, { slowly: "x".repeat(10_000), millis: 20 }))
        const smtp = yield* open(peer.port)
        const fiber = yield* Effect.forkChild(Effect.flip(smtp.send(mail("ann@example.com"))))
        yield* peer.until(() => peer.commands.some((line) => line.includes(verb)))
        yield* TestClock.adjust("20 minutes")
        assert.deepStrictEqual(summary(yield* Fiber.join(fiber)), expected)
        yield* peer.until(() => peer.connections.open === 0)
      }
    }))

  it.effect("a refused connection is RelayUnavailable", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(ScriptedSmtp.make(), (server) => server.port))
      const smtp = yield* open(port)
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.deepStrictEqual(summary(failure), unavailable("connect"))
    }))

  it.effect("keeps foreign text to one printable line of 500 characters", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: () => `554 5.7.1 \u001b[31m\u0000${"x".repeat(900)}` })
      const smtp = yield* open(server.port)
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.strictEqual(failure._tag, "RecipientRefused")
      const { response } = failure._tag === "RecipientRefused" ? failure : { response: "" }
      assert.isTrue(response.startsWith("554 5.7.1 \ufffd[31m\ufffdxxx"))
      assert.strictEqual(response.length, 500)
    }))

  for (
    const [to, enhanced] of [
      ["a@b>\r\nRCPT TO:<evil@example.com", "5.1.3"],
      ["a b@example.com", "5.1.3"],
      ["", "5.1.3"],
      ["\u00fcser@example.com", "5.6.7"]
    ] as const
  ) {
    it.effect(`does not say ${JSON.stringify(to)} to the relay`, () =>
      Effect.gen(function*() {
        const server = yield* ScriptedSmtp.make()
        const smtp = yield* open(server.port)
        const failure = yield* Effect.flip(smtp.send(mail(to)))
        assert.deepStrictEqual(summary(failure), {
          tag: "RecipientRefused",
          stage: "client",
          code: 553,
          permanent: true,
          enhanced
        })
        assert.isFalse(server.commands.some((line) => line.includes("MAIL")))
      }))
  }

  it.effect("does not start a message above the relay's announced SIZE", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["SIZE 40"] })
      const smtp = yield* open(server.port)
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.strictEqual(failure._tag === "RecipientRefused" && failure.enhanced, "5.3.4")
    }))
})

describe("what arrives", () => {
  it.effect("is the message byte for byte, leading dots and long bodies included", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const smtp = yield* open(sink.port)
      const body = Buffer.concat([message("x"), Buffer.from(`.\r\n..\r\n${"0123456789\r\n.".repeat(40_000)}\r\n`)])
      const { response } = yield* smtp.send({ ...mail("ann@example.com"), message: body })
      assert.strictEqual(response, "250 2.0.0 queued as 1")
      assert.deepStrictEqual(sink.messages[0]?.to, ["ann@example.com"])
      assert.strictEqual(sink.messages[0]?.from, "news@sender.example")
      assert.isTrue(sink.messages[0]?.raw.equals(body))
    }))

  it.effect("has the null sender when from is empty", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const smtp = yield* open(sink.port)
      const { message, priority } = mail("ann@example.com")
      yield* smtp.send({ envelope: { from: "", to: "ann@example.com" }, message, priority })
      assert.strictEqual(sink.messages[0]?.from, "")
    }))

  it.effect("comes over TLS after a login with the password as it was given", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const sink = yield* SmtpSink.make({
        server: {
          secure: true,
          disabledCommands: [],
          onAuth: ({ password, username }, session, done) => {
            seen.push(`${username} ${password} ${session.secure}`)
            done(null, { user: username })
          }
        }
      })
      const smtp = yield* open(sink.port, {
        relay: { ...relay(sink.port), ...user.relay, port: sink.port, tls: "implicit", verifyCertificate: false }
      })
      yield* smtp.send(mail("ann@example.com"))
      assert.deepStrictEqual(seen, ["ann se cret% true"])
    }))

  it.effect("does not come at all when the certificate cannot be trusted", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ server: { secure: true } })
      const smtp = yield* open(sink.port, { relay: { ...relay(sink.port), tls: "implicit" } })
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.strictEqual(failure._tag, "RelayUnavailable")
      assert.strictEqual(sink.messages.length, 0)
    }))

  it.effect("comes over STARTTLS when the relay offers it, the large one whole too", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ server: { disabledCommands: ["AUTH"] } })
      const address: RelayAddress = { ...relay(sink.port), tls: "required", verifyCertificate: false }
      const smtp = yield* open(sink.port, { relay: address })
      const large = message(".line\r\n".repeat(200_000))
      for (const body of [message("hello"), large]) yield* smtp.send({ ...mail("ann@example.com"), message: body })
      assert.isTrue((yield* smtp.capabilities).tls)
      assert.isTrue(sink.messages[1]?.raw.equals(large))
      assert.strictEqual(sink.connections.total, 1)
    }))
})

describe("the pool", () => {
  it.effect("never has more connections than allowed, and reuses them", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 2 }) })
      const smtp = yield* open(sink.port, { maxConnections: 4 })
      const sends = Array.from({ length: 60 }, (_, n) => smtp.send(mail(`user${n}@example.com`)))
      yield* Effect.all(sends, { concurrency: "unbounded", discard: true })
      assert.strictEqual(sink.messages.length, 60)
      // Three for bulk; the fourth is kept for singles.
      assert.strictEqual(sink.connections.total, 3)
    }))

  it.effect("serves waiting senders of a lane in their order", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const smtp = yield* open(sink.port, { maxConnections: 1 })
      const sends = Array.from({ length: 20 }, (_, n) => smtp.send(mail(`user${n}@example.com`)))
      yield* Effect.all(sends, { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(sink.messages.map(({ to }) => to[0]), sends.map((_, n) => `user${n}@example.com`))
    }))

  it.effect("sends a single while bulk holds every connection it may have", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: (n) => n <= 2 ? "silence" : "250 ok" })
      const smtp = yield* open(server.port, { maxConnections: 3 })
      const bulk = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 10 }, () => smtp.send(mail("bulk@example.com"))), { concurrency: "unbounded" })
      )
      yield* server.until(() => server.bodies.length === 2)
      yield* smtp.send(mail("one@example.com", "single"))
      assert.strictEqual(server.bodies.length, 3)
      yield* Fiber.interrupt(bulk)
    }))

  it.effect("gives the next free connection to a single that came after bulk", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 5 }) })
      const smtp = yield* open(sink.port, { maxConnections: 1 })
      const bulk = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 5 }, () => smtp.send(mail("bulk@example.com"))), { concurrency: "unbounded" })
      )
      yield* sink.until(({ attempts }) => attempts.size === 1)
      yield* smtp.send(mail("one@example.com", "single"))
      assert.deepStrictEqual(sink.messages.map(({ to }) => to[0]), ["bulk@example.com", "one@example.com"])
      yield* Fiber.join(bulk)
    }))

  it.effect("goes on with the same connection after a refusal, by RSET", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({
        script: (to) =>
          to.startsWith("no")
            ? { at: "rcpt", reply: "550 5.1.1 unknown" }
            : to.startsWith("full")
            ? { at: "message", reply: "552 5.2.2 full" }
            : undefined
      })
      const smtp = yield* open(sink.port)
      for (const to of ["no@example.com", "full@example.com", "no@example.com"]) yield* Effect.flip(smtp.send(mail(to)))
      yield* smtp.send(mail("yes@example.com"))
      assert.strictEqual(sink.connections.total, 1)
      assert.strictEqual(sink.messages.length, 1)
    }))

  it.effect("does not go on with a connection whose RSET is refused, or answered without end", () =>
    Effect.gen(function*() {
      for (const answer of ["502 5.5.1 no", "silence", { slowly: "\r\n".repeat(10_000), millis: 20 }] as const) {
        const server = yield* ScriptedSmtp.make({
          command: (line) => line.startsWith("RCPT TO:<no") ? "550 5.1.1 no" : line === "RSET" ? answer : undefined
        })
        const smtp = yield* open(server.port)
        const refused = yield* Effect.forkChild(Effect.flip(smtp.send(mail("no@example.com"))))
        yield* server.until(() => server.commands.includes("1 RSET"))
        yield* TestClock.adjust("2 seconds")
        assert.deepInclude(summary(yield* Fiber.join(refused)), { stage: "rcpt", code: 550 })
        yield* server.until(() => server.connections.open === 0)
        yield* smtp.send(mail("ann@example.com"))
        assert.strictEqual(server.connections.total, 2)
      }
    }))

  it.effect("waits two seconds for the answer to QUIT", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make(on("QUIT", { slowly: "\r\n".repeat(10_000), millis: 20 }))
      const smtp = yield* open(server.port, { messagesPerConnection: 1 })
      const sent = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      yield* server.until(() => server.commands.includes("1 QUIT"))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(sent)
      yield* server.until(() => server.connections.open === 0)
    }))

  it.effect("says QUIT after the allowed number of messages and goes on with a new connection", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const smtp = yield* open(server.port, { messagesPerConnection: 3 })
      for (let n = 0; n < 7; n++) yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(server.connections.total, 3)
      assert.deepStrictEqual(server.commands.filter((line) => line.endsWith("QUIT")), ["1 QUIT", "2 QUIT"])
    }))

  it.effect("says QUIT on a connection that was idle for three minutes", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const smtp = yield* open(server.port)
      yield* smtp.send(mail("ann@example.com"))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(server.connections.open, 1)
      yield* TestClock.adjust("2 minutes")
      yield* server.until(() => server.connections.open === 0)
      assert.isTrue(server.commands.includes("1 QUIT"))
    }))

  it.effect("goes on to close idle connections after the relay has ended some of them itself", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const smtp = yield* open(server.port)
      yield* smtp.send(mail("ann@example.com"))
      yield* server.hangUp
      yield* TestClock.adjust("4 minutes")
      yield* smtp.send(mail("bob@example.com"))
      assert.strictEqual(server.connections.open, 1)
      yield* TestClock.adjust("4 minutes")
      yield* server.until(() => server.connections.open === 0)
      assert.isTrue(server.commands.includes("2 QUIT"))
    }))

  it.effect("does not take the relay's hanging up on an idle connection for a failure", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({
        command: (line, connection) => connection === 1 && line.startsWith("MAIL FROM:<second") ? "close" : undefined
      })
      const smtp = yield* open(server.port)
      yield* smtp.send(mail("ann@example.com"))
      const { message, priority } = mail("ann@example.com")
      yield* smtp.send({ envelope: { from: "second@sender.example", to: "ann@example.com" }, message, priority })
      assert.strictEqual(server.connections.total, 2)
      assert.strictEqual(server.bodies.length, 2)
    }))

  it.effect("does not use a connection again on which the relay said more than it was asked for", () =>
    Effect.gen(function*() {
      const more = ["250 taken\r\n250 and again", "250 taken\r\n250-and"]
      const server = yield* ScriptedSmtp.make({ message: (n) => more[n - 1] })
      const smtp = yield* open(server.port)
      for (const to of ["ann", "bob", "eve", "dan"]) yield* smtp.send(mail(`${to}@example.com`))
      assert.strictEqual(server.bodies.length, 4)
      assert.strictEqual(server.connections.total, 3)
    }))

  it.effect("closes the connection of an interrupted send and never uses it again", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: (n) => n === 1 ? "silence" : "250 ok" })
      const smtp = yield* open(server.port, { maxConnections: 1 })
      const first = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      yield* server.until(() => server.bodies.length === 1)
      yield* Fiber.interrupt(first)
      yield* server.until(() => server.connections.open === 0)
      yield* smtp.send(mail("bob@example.com"))
      assert.strictEqual(server.connections.total, 2)
    }))

  it.effect("keeps its permits when senders in the queue are interrupted", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 3 }) })
      const smtp = yield* open(sink.port, { maxConnections: 2 })
      const fibers = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => Effect.forkChild(Effect.exit(smtp.send(mail(`user${n}@example.com`, n % 3 === 0 ? "single" : "bulk"))))
      )
      yield* sink.until(({ messages }) => messages.length >= 3)
      yield* Effect.forEach(fibers.filter((_, n) => n % 2 === 0), Fiber.interrupt, { concurrency: "unbounded" })
      yield* Effect.forEach(fibers, Fiber.await)
      yield* Effect.all(Array.from({ length: 6 }, () => smtp.send(mail("end@example.com", "single"))), {
        concurrency: "unbounded"
      })
      assert.strictEqual(sink.deliveries.get("end@example.com"), 6)
    }))

  it.effect("makes do with the connections a relay allows", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({
        greeting: (connection) => connection > 2 ? "421 4.7.0 too many connections" : "220 welcome"
      })
      const smtp = yield* open(server.port, { maxConnections: 6 })
      const sends = Array.from({ length: 50 }, () => smtp.send(mail("ann@example.com")))
      yield* Effect.all(sends, { concurrency: "unbounded", discard: true })
      assert.strictEqual(server.bodies.length, 50)
      assert.isAtMost(server.connections.total, 7)
    }))
})

describe("a relay that fails", () => {
  it.effect("is left alone for 1, 2, 4 ... 30 seconds, with one probe at a time", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ greeting: "421 4.3.2 not now" })
      const smtp = yield* open(server.port)
      const burst = Effect.all(
        Array.from({ length: 8 }, () => Effect.flip(smtp.send(mail("ann@example.com")))),
        { concurrency: "unbounded" }
      )
      yield* Effect.flip(smtp.send(mail("ann@example.com")))
      for (const [probes, pause] of [1, 2, 4, 8, 16, 30, 30].entries()) {
        assert.strictEqual(server.connections.total, probes + 1)
        const failures = yield* burst
        assert.isTrue(failures.every((failure) => failure._tag === "RelayUnavailable" && failure.fault === "paused"))
        assert.isTrue(failures.every((failure) => "retryInMillis" in failure && failure.retryInMillis === pause * 1000))
        yield* TestClock.adjust(Duration.seconds(pause))
        const faults = (yield* burst).map((failure) => "fault" in failure ? failure.fault : "")
        assert.deepStrictEqual([...faults].sort(), ["connect", ...Array.from({ length: 7 }, () => "paused")])
      }
    }))

  it.effect("is used at full speed again after one success", () =>
    Effect.gen(function*() {
      let up = false
      const server = yield* ScriptedSmtp.make({ greeting: () => up ? "220 back" : "close" })
      const smtp = yield* open(server.port)
      yield* Effect.flip(smtp.send(mail("ann@example.com")))
      up = true
      yield* TestClock.adjust("1 second")
      yield* smtp.send(mail("ann@example.com"))
      yield* Effect.all([smtp.send(mail("bob@example.com")), smtp.send(mail("eve@example.com"))], {
        concurrency: "unbounded"
      })
      assert.strictEqual(server.bodies.length, 3)
    }))

  it.effect("may be probed by the next when the probe was interrupted or proved nothing", () =>
    Effect.gen(function*() {
      let greeting: ScriptedSmtp.ScriptedAnswer = "close"
      const server = yield* ScriptedSmtp.make({ greeting: () => greeting })
      const smtp = yield* open(server.port)
      yield* Effect.flip(smtp.send(mail("ann@example.com")))
      yield* TestClock.adjust("1 second")
      greeting = "silence"
      const probe = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      yield* server.until(() => server.connections.total === 2)
      yield* Fiber.interrupt(probe)
      greeting = "220 back"
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(server.bodies.length, 1)
    }))

  it.effect("fails thousands of waiting sends without delay", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ greeting: "close" })
      const smtp = yield* open(server.port)
      const sends = Array.from({ length: 5_000 }, () => Effect.flip(smtp.send(mail("ann@example.com"))))
      const failures = yield* Effect.all(sends, { concurrency: "unbounded" })
      assert.isTrue(failures.every((failure) => failure._tag === "RelayUnavailable"))
      assert.isAtMost(server.connections.total, 5)
    }))

  it.effect("is not one that ends the conversation about one recipient and takes the others", () =>
    Effect.gen(function*() {
      for (const answer of ["421 4.3.0 filter crashed", "close"] as const) {
        const server = yield* ScriptedSmtp.make({
          command: (line) => line.startsWith("RCPT TO:<poison") ? answer : undefined
        })
        const smtp = yield* open(server.port)
        const all = [...Array.from({ length: 19 }, (_, n) => `user${n}@example.com`), "late@example.com"]
        const sends = ["poison@example.com", ...all].map((to) => Effect.exit(smtp.send(mail(to))))
        const [poison, ...others] = yield* Effect.all(sends, { concurrency: "unbounded" })
        assert.deepInclude(poison === undefined ? {} : summary(yield* Effect.flip(poison)), {
          code: 421,
          permanent: false
        })
        assert.isTrue(others.every(Exit.isSuccess))
        // Nobody else's mail comes between, and it is still this recipient's attempt each time.
        for (let attempt = 0; attempt < 3; attempt++) {
          const failure = yield* Effect.flip(smtp.send(mail("poison@example.com")))
          assert.deepInclude(summary(failure), { tag: "RecipientRefused", code: 421, permanent: false })
          assert.strictEqual((yield* smtp.admission)._tag, "Pass")
        }
      }
    }))

  it.effect("is one that ends the conversations about all: it is left alone, and no others lose an attempt", () =>
    Effect.gen(function*() {
      let isWell = false
      const server = yield* ScriptedSmtp.make({
        command: (line) => line.startsWith("RCPT") && !isWell ? "421 4.3.2 shutting down" : undefined
      })
      const smtp = yield* open(server.port)
      const failing = (to: string) => Effect.map(Effect.flip(smtp.send(mail(to))), ({ _tag }) => _tag)
      assert.strictEqual(yield* failing("first@example.com"), "RecipientRefused")
      const names = Array.from({ length: 20 }, (_, n) => `user${n}@example.com`)
      const tags = yield* Effect.forEach(names, failing, { concurrency: "unbounded" })
      assert.isTrue(tags.every((tag) => tag === "RelayUnavailable"))
      assert.deepInclude(yield* smtp.admission, { _tag: "Refused", retryInMillis: 1_000 })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* smtp.admission)._tag, "Probe")
      assert.strictEqual(yield* failing("new@example.com"), "RelayUnavailable")
      assert.deepInclude(yield* smtp.admission, { _tag: "Refused", retryInMillis: 2_000 })
      yield* TestClock.adjust("2 seconds")
      isWell = true
      yield* smtp.send(mail("user0@example.com"))
      assert.strictEqual((yield* smtp.admission)._tag, "Pass")
    }))

  it.effect("counts a second time of the same recipient, so that several of them come to an end", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make(on("RCPT", "421 4.3.0 filter crashed"))
      const smtp = yield* open(server.port)
      const tags: Array<string> = []
      for (const to of ["a@example.com", "b@example.com", "c@example.com", "b@example.com", "c@example.com"]) {
        tags.push((yield* Effect.flip(smtp.send(mail(to))))._tag)
        yield* TestClock.adjust("1 minute")
      }
      const [ours, theirs] = ["RecipientRefused", "RelayUnavailable"]
      assert.deepStrictEqual(tags, [ours, theirs, theirs, ours, ours])
    }))

  it.effect("is not one that refuses a recipient", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
      const smtp = yield* open(sink.port)
      yield* Effect.flip(smtp.send(mail("bounce@example.com")))
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(sink.messages.length, 1)
    }))
})

describe("closing", () => {
  const closable = (port: number, options: Partial<NodemailerSmtpOptions> = {}) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const smtp = yield* Effect.provideService(open(port, options), Scope.Scope, scope)
      return { smtp, close: Scope.close(scope, Exit.void) }
    })

  it.effect("lets the message in flight finish, says QUIT and refuses who still waits", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 30 }) })
      const { close, smtp } = yield* closable(sink.port, { maxConnections: 1 })
      const first = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      const second = yield* Effect.forkChild(Effect.flip(smtp.send(mail("bob@example.com"))))
      yield* sink.until(({ attempts }) => attempts.size === 1)
      yield* close
      yield* Fiber.join(first)
      assert.deepStrictEqual(summary(yield* Fiber.join(second)), unavailable("closing"))
      assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(mail("eve@example.com")))), unavailable("closing"))
      yield* sink.until(({ connections }) => connections.open === 0)
      assert.strictEqual(sink.messages.length, 1)
    }))

  it.effect("waits for no connection that the relay has ended while it was idle", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const { close, smtp } = yield* closable(server.port)
      yield* smtp.send(mail("ann@example.com"))
      yield* server.hangUp
      yield* close
      assert.strictEqual(server.connections.total, 1)
    }))

  it.effect("gives up on a message that does not finish within ten seconds", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: () => "silence" })
      const { close, smtp } = yield* closable(server.port)
      const stuck = yield* Effect.forkChild(Effect.flip(smtp.send(mail("ann@example.com"))))
      yield* server.until(() => server.bodies.length === 1)
      const closing = yield* Effect.forkChild(close)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(summary(yield* Fiber.join(stuck)), unknown)
    }))
})

describe("EHLO", () => {
  it.effect("gives the name that was set", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({})
      const smtp = yield* open(peer.port, { name: "node.sender.example" })
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(peer.commands[0], "1 EHLO node.sender.example")
    }))
})

describe("verify", () => {
  it.effect("tells what the relay offers, and leaves by QUIT", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["PIPELINING", "SIZE 1000", "DSN", "AUTH PLAIN LOGIN"] })
      const smtp = yield* open(server.port)
      assert.deepStrictEqual(yield* smtp.verify, {
        extensions: ["PIPELINING", "SIZE", "DSN", "AUTH"],
        authMethods: ["PLAIN", "LOGIN"],
        maxSize: 1000,
        tls: false
      })
      assert.strictEqual(server.commands.at(-1), "1 QUIT")
    }))

  it.effect("fails with the relay's own words", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["AUTH PLAIN"], ...on("AUTH", "535 5.7.8 bad password") })
      const smtp = yield* open(server.port, { relay: { ...relay(0), ...user.relay, port: server.port } })
      const failure = yield* Effect.flip(smtp.verify)
      assert.strictEqual(failure.fault, "auth")
      assert.match(failure.reason, /535 5\.7\.8 bad password/)
    }))

  it.effect("passes DSN wishes on when the relay offers DSN", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["DSN"] })
      const smtp = yield* open(server.port)
      const { message, priority } = mail("ann@example.com")
      const dsn = { envid: "m+1", notify: ["SUCCESS", "FAILURE"], ret: "HDRS", orcpt: "ann+x@example.com" } as const
      yield* smtp.send({ envelope: { from: "a@b.example", to: "ann@example.com", dsn }, message, priority })
      assert.isTrue(server.commands.includes("1 MAIL FROM:<a@b.example> RET=HDRS ENVID=m+2B1"))
      assert.isTrue(server.commands.includes(
        "1 RCPT TO:<ann@example.com> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ann+2Bx@example.com"
      ))
    }))

  it.effect("logs once whether the relay reports deliveries", () =>
    Effect.gen(function*() {
      for (
        const [extensions, line] of [[["DSN"], "reports deliveries (DSN)"], [
          [],
          "offers no delivery reports (DSN)"
        ]] as const
      ) {
        const said: Array<unknown> = []
        const collecting = Logger.layer([Logger.make(({ message }) => void said.push(message))])
        const server = yield* ScriptedSmtp.make({ extensions })
        const smtp = yield* open(server.port, { messagesPerConnection: 1 })
        const sends = Effect.all([smtp.send(mail("ann@example.com")), smtp.send(mail("bob@example.com"))])
        yield* Effect.provide(sends, collecting)
        assert.strictEqual(server.connections.total, 2)
        assert.deepStrictEqual(said.flat(), [`SMTP relay ${line}`])
      }
    }))

  it.effect("leaves DSN wishes out when the relay offers no DSN", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: [] })
      const smtp = yield* open(server.port)
      const { message, priority } = mail("ann@example.com")
      const dsn = { envid: "m+1", notify: ["SUCCESS"], ret: "HDRS", orcpt: "ann@example.com" } as const
      yield* smtp.send({ envelope: { from: "a@b.example", to: "ann@example.com", dsn }, message, priority })
      assert.includeMembers(server.commands.map((command) => command.trim()), [
        "1 MAIL FROM:<a@b.example>",
        "1 RCPT TO:<ann@example.com>"
      ])
    }))
})
