import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Smtp } from "../../../../src/channels/email/smtp/Smtp.ts"
import type { RelayAddress, SmtpLane, SmtpMail } from "../../../../src/channels/email/smtp/Smtp.ts"
import type { SendFailure } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { SmtpLayer } from "../../../../src/channels/email/smtp/SmtpLayer.ts"
import type { SmtpOptions } from "../../../../src/channels/email/smtp/SmtpLayer.ts"
import type { Lease } from "../../../../src/platform/work/WorkPolicy.ts"
import { AccountId } from "../../../../src/values/Ids.ts"
import * as ScriptedSmtp from "../../../support/ScriptedSmtp.ts"
import * as SmtpSink from "../../../support/SmtpSink.ts"

const relay = (port: number): RelayAddress => ({ host: "127.0.0.1", port, tls: "never", verifyCertificate: true })

/** For a server that falls silent at one step. Its other steps get the time that a loaded machine may need. */
const silentAt = (step: "greeting" | "command" | "finalReply"): Partial<SmtpOptions> => ({
  timeouts: { [step]: step === "command" ? Duration.seconds(2) : Duration.millis(100) }
})

const open = (port: number, options: Partial<SmtpOptions> = {}) =>
  Effect.map(
    Layer.build(SmtpLayer.make({ relay: relay(port), ...options })),
    (context) => Context.get(context, Smtp)
  )

const message = (text: string) =>
  Buffer.from(`Message-ID: <${text}@sender.example>\r\nSubject: test\r\n\r\n${text}\r\n`)

const account = AccountId.make(1)
const another = AccountId.make(2)

const mail = (to: string, priority: SmtpLane = "bulk", text = "hello"): SmtpMail => ({
  envelope: { from: "news@sender.example", to },
  message: message(text),
  priority,
  account
})

/** Larger than any socket buffer. */
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
/** A transaction that ended early, counted as an attempt while it happens to one recipient alone. */
const dismissed = { tag: "RecipientRefused", stage: "rcpt", code: 421, permanent: false, enhanced: "4.4.2" }
const on = (verb: string, answer: ScriptedSmtp.ScriptedAnswer): ScriptedSmtp.ScriptedSmtpOptions => ({
  command: (line) => line.toUpperCase().startsWith(verb) ? answer : undefined
})

/** A lease that is lost after its holder has asked for it this often. */
const lostAfter = (answers: number): Lease => {
  let left = answers
  const isHeld = () => left-- > 0
  return { begin: isHeld, isHeld }
}

const user: Partial<SmtpOptions> = {
  relay: { ...relay(0), credentials: { user: "ann", password: Redacted.make("se cret%") } }
}
/** It continues after the client has started TLS. */
const noise: ScriptedSmtp.ScriptedAnswer = { slowly: "220 2.0.0 go ahead\r\nnoise, and not TLS", millis: 1 }
const mustEncrypt: Partial<SmtpOptions> = { relay: { ...relay(0), tls: "required" } }

interface Case {
  readonly name: string
  readonly server: ScriptedSmtp.ScriptedSmtpOptions
  readonly expected: object
  readonly options?: Partial<SmtpOptions>
  /** Bodies the server must have seen in full. */
  readonly bodies?: number
}

const matrix: ReadonlyArray<Case> = [
  { name: "a 421 greeting", server: { greeting: "421 4.3.2 too busy" }, expected: unavailable("connect") },
  { name: "a 554 greeting", server: { greeting: "554 5.7.1 go away" }, expected: unavailable("connect") },
  {
    name: "no greeting",
    server: { greeting: "silence" },
    options: silentAt("greeting"),
    expected: unavailable("connect")
  },
  { name: "a disconnect instead of a greeting", server: { greeting: "close" }, expected: unavailable("connect") },
  { name: "EHLO and HELO refused", server: { command: () => "502 5.5.1 no" }, expected: unavailable("connect") },
  { name: "a disconnect at EHLO", server: on("EHLO", "close"), expected: unavailable("connect") },
  {
    name: "AUTH refused",
    server: { extensions: ["AUTH PLAIN LOGIN"], ...on("AUTH", "535 5.7.8 wrong password") },
    options: user,
    expected: unavailable("auth")
  },
  {
    name: "a disconnect at AUTH",
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
    name: "noise instead of TLS",
    server: { extensions: ["STARTTLS"], ...on("STARTTLS", noise) },
    options: mustEncrypt,
    expected: unavailable("connect")
  },
  {
    name: "noise instead of optional TLS",
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
  { name: "a disconnect at MAIL", server: on("MAIL", "close"), expected: dismissed },
  { name: "silence at MAIL", server: on("MAIL", "silence"), options: silentAt("command"), expected: dismissed },
  { name: "421 at RCPT", server: on("RCPT", "421 4.3.2 not this one"), expected: { ...dismissed, enhanced: "4.3.2" } },
  { name: "silence at RCPT", server: on("RCPT", "silence"), options: silentAt("command"), expected: dismissed },
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
  { name: "a disconnect at DATA", server: on("DATA", "close"), expected: dismissed },
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
    name: "a disconnect in the body after the final dot has left",
    server: { body: (text) => text.length >= 10 ? "close" : undefined },
    expected: unknown,
    bodies: 0
  },
  { name: "a disconnect after the dot", server: { message: () => "close" }, expected: unknown, bodies: 1 },
  {
    name: "silence after the dot",
    server: { message: () => "silence" },
    options: silentAt("finalReply"),
    expected: unknown,
    bodies: 1
  },
  { name: "noise after the dot", server: { message: () => "\u0007\u0000noise" }, expected: unknown, bodies: 1 },
  { name: "2-something after the dot", server: { message: () => "2\u001bnoise" }, expected: unknown, bodies: 1 },
  { name: "noise at RCPT", server: on("RCPT", "\u0007noise"), expected: dismissed }
]

describe("a failed send", () => {
  for (const { bodies = 0, expected, name, options, server } of matrix) {
    it.effect(`${name} fails with ${JSON.stringify(expected)}`, () =>
      Effect.gen(function*() {
        const peer = yield* ScriptedSmtp.make(server)
        const address = { ...relay(peer.port), ...options?.relay, port: peer.port }
        const smtp = yield* open(peer.port, { ...options, relay: address })
        const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
        assert.deepStrictEqual(summary(failure), expected)
        yield* peer.until(() => peer.bodies.length >= bodies)
        assert.strictEqual(peer.bodies.length, bodies)
      }))
  }

  it.effect("is no unknown outcome if the relay stalls or disconnects before the final dot has left", () =>
    Effect.gen(function*() {
      for (const fault of ["stall", "close", "end"] as const) {
        const peer = yield* ScriptedSmtp.make({ body: (text) => text.length >= 10 ? fault : undefined })
        const smtp = yield* open(peer.port, silentAt("command"))
        assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(huge))), dismissed)
      }
    }))

  it.effect("ends the connection after a reply in the middle of the message, and accepts only a refusal from it", () =>
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

  it.effect("does not take a reply that arrives with the one to DATA for the reply to the final dot", () =>
    Effect.gen(function*() {
      for (const early of ["250 2.0.0 taken", "550 5.7.1 no"]) {
        const peer = yield* ScriptedSmtp.make(on("DATA", `354 go on\r\n${early}`))
        const smtp = yield* open(peer.port)
        assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(mail("ann@example.com")))), unknown)
      }
    }))

  it.effect("keeps the text of a truncated reply but does not take it for a refusal", () =>
    Effect.gen(function*() {
      for (const cutOff of ["250 2.1.5 o", "2", "550 5.1.1 no such", "550-5.1.1 no\r\n550-such"]) {
        const peer = yield* ScriptedSmtp.make(on("RCPT", { cutOff }))
        const smtp = yield* open(peer.port)
        const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
        assert.deepStrictEqual(summary(failure), dismissed)
        const text = cutOff.replaceAll(/\s+/g, " ")
        const said = failure._tag === "RecipientRefused" ? failure.response : ""
        assert.strictEqual(said, `421 4.4.2 ${text} (connection closed)`)
      }
    }))

  it.effect("reports a refusal also if the relay disconnects before it has answered all commands", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({
        command: (line) => line.startsWith("RCPT") ? "550 5.1.1 no such user" : line === "DATA" ? "close" : undefined
      })
      const smtp = yield* open(peer.port)
      for (const to of ["ann@example.com", "bob@example.com"]) {
        const failure = yield* Effect.flip(smtp.send(mail(to)))
        assert.deepInclude(summary(failure), { tag: "RecipientRefused", stage: "rcpt", code: 550, permanent: true })
      }
      assert.strictEqual((yield* smtp.admission(account))._tag, "Pass")
    }))

  it.effect("closes the connection after a reply of more than 64 kB", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make(on("RCPT", "250-on and on\r\n".repeat(20_000)))
      const smtp = yield* open(peer.port)
      assert.deepStrictEqual(summary(yield* Effect.flip(smtp.send(mail("ann@example.com")))), dismissed)
      yield* peer.until(() => peer.connections.open === 0)
    }))

  it.effect("does not happen with a relay that answers byte by byte", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({ extensions: [], ...on("RCPT", { slowly: "250 2.0.0 ok", millis: 10 }) })
      const smtp = yield* open(peer.port)
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(peer.bodies.length, 1)
    }))

  it.effect("follows after twenty minutes of a reply that does not end", () =>
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

  it.effect("is RelayUnavailable after a refused connection", () =>
    Effect.gen(function*() {
      const port = yield* Effect.scoped(Effect.map(ScriptedSmtp.make(), (server) => server.port))
      const smtp = yield* open(port)
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.deepStrictEqual(summary(failure), unavailable("connect"))
    }))

  it.effect("carries the reply as one printable line of at most 500 characters", () =>
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
    it.effect(`precedes any command to the invalid address ${JSON.stringify(to)}`, () =>
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

  it.effect("precedes any command for a message above the relay's SIZE", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["SIZE 40"] })
      const smtp = yield* open(server.port)
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.strictEqual(failure._tag === "RecipientRefused" && failure.enhanced, "5.3.4")
    }))
})

describe("a message that the relay receives", () => {
  it.effect("has the same bytes, also with leading dots and a long body", () =>
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

  it.effect("has the null sender if `from` is empty", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const smtp = yield* open(sink.port)
      const { message, priority } = mail("ann@example.com")
      yield* smtp.send({ envelope: { from: "", to: "ann@example.com" }, message, priority, account })
      assert.strictEqual(sink.messages[0]?.from, "")
    }))

  it.effect("arrives over TLS after a login with the given password", () =>
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

  it.effect("does not arrive if the relay's certificate is untrusted", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ server: { secure: true } })
      const smtp = yield* open(sink.port, { relay: { ...relay(sink.port), tls: "implicit" } })
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.strictEqual(failure._tag, "RelayUnavailable")
      assert.strictEqual(sink.messages.length, 0)
    }))

  it.effect("arrives over STARTTLS if the relay offers it, also a large message", () =>
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

describe("a send whose lease is lost", () => {
  it.effect("begins no mail transaction, and leaves the connection to the next message", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make()
      const smtp = yield* open(peer.port)
      const exit = yield* Effect.exit(smtp.send({ ...mail("ann@example.com"), lease: lostAfter(0) }))
      assert.isTrue(Exit.hasInterrupts(exit))
      yield* smtp.send({ ...mail("bob@example.com"), lease: lostAfter(2) })
      assert.strictEqual(peer.commands.filter((line) => line.includes("MAIL")).length, 1)
      assert.deepStrictEqual([peer.connections.total, peer.bodies.length], [1, 1])
    }))

  it.effect("disconnects before the final dot, also of a large message, so that the relay keeps nothing", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make()
      const smtp = yield* open(peer.port)
      for (const text of ["hello", "x".repeat(500_000)]) {
        const exit = yield* Effect.exit(smtp.send({ ...mail("ann@example.com", "bulk", text), lease: lostAfter(1) }))
        assert.isTrue(Exit.hasInterrupts(exit))
        yield* peer.until(() => peer.connections.open === 0)
      }
      assert.strictEqual(peer.commands.filter((line) => line.includes("DATA")).length, 2)
      assert.deepStrictEqual(peer.bodies, [])
      assert.strictEqual((yield* smtp.admission(account))._tag, "Pass")
      yield* smtp.send(mail("ann@example.com"))
    }))
})

describe("the pool", () => {
  it.effect("never exceeds its connections, and reuses them", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 2 }) })
      const smtp = yield* open(sink.port, { maxConnections: 4 })
      const sends = Array.from({ length: 60 }, (_, n) => smtp.send(mail(`user${n}@example.com`)))
      yield* Effect.all(sends, { concurrency: "unbounded", discard: true })
      assert.strictEqual(sink.messages.length, 60)
      // Two for bulk mail; the others are kept for urgent mail and for singles.
      assert.strictEqual(sink.connections.total, 2)
    }))

  it.effect("serves waiting senders of a lane in their order", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const smtp = yield* open(sink.port, { maxConnections: 1 })
      const sends = Array.from({ length: 20 }, (_, n) => smtp.send(mail(`user${n}@example.com`)))
      yield* Effect.all(sends, { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(sink.messages.map(({ to }) => to[0]), sends.map((_, n) => `user${n}@example.com`))
    }))

  it.effect("sends a single while bulk mail uses all of its connections", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: (n) => n <= 2 ? "silence" : "250 ok" })
      const smtp = yield* open(server.port, { maxConnections: 4 })
      const bulk = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 10 }, () => smtp.send(mail("bulk@example.com"))), { concurrency: "unbounded" })
      )
      yield* server.until(() => server.bodies.length === 2)
      yield* smtp.send(mail("one@example.com", "single"))
      assert.strictEqual(server.bodies.length, 3)
      yield* Fiber.interrupt(bulk)
    }))

  it.effect("gives the next free connection to a single that arrived after bulk mail", () =>
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

  it.effect("sends an urgent mail while singles and bulk mail use all of their connections", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: (n) => n <= 3 ? "silence" : "250 ok" })
      const smtp = yield* open(server.port, { maxConnections: 4 })
      const others = (["single", "bulk"] as const).flatMap((priority) =>
        [account, another].map((owner) => smtp.send({ ...mail("other@example.com", priority), account: owner }))
      )
      const sending = yield* Effect.forkChild(Effect.all(others, { concurrency: "unbounded" }))
      yield* server.until(() => server.bodies.length === 3)
      yield* smtp.send(mail("code@example.com", "urgent"))
      assert.strictEqual(server.bodies.length, 4)
      yield* Fiber.interrupt(sending)
    }))

  it.effect("keeps a connection for the singles of other accounts while the relay is slow with those of one", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ message: (n) => n <= 3 ? "silence" : "250 ok" })
      const smtp = yield* open(server.port, { maxConnections: 5 })
      const slow = Array.from({ length: 20 }, () => smtp.send(mail("slow@example.com", "single")))
      const sending = yield* Effect.forkChild(Effect.all(slow, { concurrency: "unbounded" }))
      yield* server.until(() => server.bodies.length === 3)
      yield* smtp.send({ ...mail("one@example.com", "single"), account: another })
      assert.strictEqual(server.bodies.length, 4)
      yield* Fiber.interrupt(sending)
    }))

  it.effect("gives the next free connection to another account, and a fourth one to bulk mail", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 5 }) })
      const smtp = yield* open(sink.port, { maxConnections: 1 })
      const send = (name: string, priority: SmtpLane, owner: AccountId) =>
        smtp.send({ ...mail(`${name}@example.com`, priority), account: owner })
      const flood = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 12 }, () => send("flood", "single", account)), { concurrency: "unbounded" })
      )
      yield* sink.until(({ attempts }) => attempts.size === 1)
      yield* Effect.all([send("bulk", "bulk", another), send("other", "single", another)], { concurrency: 2 })
      const order = sink.messages.map(({ to }) => to[0])
      assert.isAtMost(order.indexOf("other@example.com"), 2)
      assert.isAtMost(order.indexOf("bulk@example.com"), 4)
      yield* Fiber.join(flood)
    }))

  it.effect("resets and reuses a connection after a refusal", () =>
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

  it.effect("closes a connection whose RSET is refused or never answered", () =>
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

  it.effect("awaits the reply to QUIT for two seconds", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make(on("QUIT", { slowly: "\r\n".repeat(10_000), millis: 20 }))
      const smtp = yield* open(server.port, { messagesPerConnection: 1 })
      const sent = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      yield* server.until(() => server.commands.includes("1 QUIT"))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(sent)
      yield* server.until(() => server.connections.open === 0)
    }))

  it.effect("quits a connection after its number of messages and opens a new one", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const smtp = yield* open(server.port, { messagesPerConnection: 3 })
      for (let n = 0; n < 7; n++) yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(server.connections.total, 3)
      assert.deepStrictEqual(server.commands.filter((line) => line.endsWith("QUIT")), ["1 QUIT", "2 QUIT"])
    }))

  it.effect("quits a connection that was idle for three minutes", () =>
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

  it.effect("closes idle connections also after the relay has closed some itself", () =>
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

  it.effect.each(["close", "421 4.7.0 too many messages", "530 5.7.0 authenticate first"])(
    "does not count it as a failure that the relay ends a connection after some messages: %s",
    (answer) =>
      Effect.gen(function*() {
        const server = yield* ScriptedSmtp.make({
          command: (line, connection) => connection === 1 && line.startsWith("MAIL FROM:<second") ? answer : undefined
        })
        const smtp = yield* open(server.port)
        yield* smtp.send(mail("ann@example.com"))
        const { message, priority } = mail("ann@example.com")
        yield* smtp.send({
          envelope: { from: "second@sender.example", to: "ann@example.com" },
          message,
          priority,
          account
        })
        assert.strictEqual((yield* smtp.admission())._tag, "Pass")
        assert.strictEqual(server.connections.total, 2)
        assert.strictEqual(server.bodies.length, 2)
      })
  )

  it.effect("does not reuse a connection on which the relay sent an extra reply", () =>
    Effect.gen(function*() {
      const more = ["250 taken\r\n250 and again", "250 taken\r\n250-and"]
      const server = yield* ScriptedSmtp.make({ message: (n) => more[n - 1] })
      const smtp = yield* open(server.port)
      for (const to of ["ann", "bob", "eve", "dan"]) yield* smtp.send(mail(`${to}@example.com`))
      assert.strictEqual(server.bodies.length, 4)
      assert.strictEqual(server.connections.total, 3)
    }))

  it.effect("closes the connection of an interrupted send", () =>
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

  it.effect("loses no permit when waiting senders are interrupted", () =>
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

  it.effect("adapts to the number of connections that the relay allows", () =>
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

describe("the circuit breaker", () => {
  it.effect("backs off for 1, 2, 4 ... 30 seconds and admits one probe at a time", () =>
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

  it.effect("admits all sends after one success", () =>
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

  it.effect("a pause does not grow when the clock of the machine is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("2 hours")
      let up = false
      const server = yield* ScriptedSmtp.make({ greeting: () => up ? "220 back" : "close" })
      const smtp = yield* open(server.port)
      yield* Effect.flip(smtp.send(mail("ann@example.com")))
      up = true
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("1 second")
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(server.bodies.length, 1)
    }))

  it.effect("admits another probe after the probe was interrupted", () =>
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

  it.effect("stays closed while the relay ends the transactions of one recipient alone", () =>
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
        // No other mail comes between, and each time it still counts as this recipient's attempt.
        for (let attempt = 0; attempt < 3; attempt++) {
          const failure = yield* Effect.flip(smtp.send(mail("poison@example.com")))
          assert.deepInclude(summary(failure), { tag: "RecipientRefused", code: 421, permanent: false })
          assert.strictEqual((yield* smtp.admission(account))._tag, "Pass")
        }
      }
    }))

  it.effect("opens when the relay ends all transactions, and only the first recipient loses an attempt", () =>
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
      assert.deepInclude(yield* smtp.admission(account), { _tag: "Refused", retryInMillis: 1_000 })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* smtp.admission(account))._tag, "Probe")
      assert.strictEqual(yield* failing("new@example.com"), "RelayUnavailable")
      assert.deepInclude(yield* smtp.admission(account), { _tag: "Refused", retryInMillis: 2_000 })
      yield* TestClock.adjust("2 seconds")
      isWell = true
      yield* smtp.send(mail("user0@example.com"))
      assert.strictEqual((yield* smtp.admission(account))._tag, "Pass")
    }))

  it.effect("stays closed for other accounts while the relay hangs up on all mail of one", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({
        command: (line) => line.startsWith("RCPT TO:<poison") ? "close" : undefined
      })
      const smtp = yield* open(server.port)
      for (let n = 0; n < 6; n++) yield* Effect.flip(smtp.send(mail(`poison${n}@example.com`)))
      assert.deepInclude(yield* smtp.admission(account), { _tag: "Refused", retryInMillis: 1_000 })
      assert.deepStrictEqual(yield* smtp.paused, new Set([account]))
      assert.strictEqual((yield* smtp.admission(another))._tag, "Pass")
      assert.strictEqual((yield* smtp.admission())._tag, "Pass")
      yield* smtp.send({ ...mail("ann@example.com"), account: another })
      // The reply about another account's mail shows that the relay works.
      assert.strictEqual((yield* smtp.admission(account))._tag, "Pass")
      yield* smtp.send(mail("ann@example.com"))
    }))

  it.effect("counts a second early end as an attempt of the same recipient", () =>
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

  it.effect("stays closed after a refused recipient", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
      const smtp = yield* open(sink.port)
      yield* Effect.flip(smtp.send(mail("bounce@example.com")))
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(sink.messages.length, 1)
    }))
})

describe("a closing pool", () => {
  const closable = (port: number, options: Partial<SmtpOptions> = {}) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const smtp = yield* Effect.provideService(open(port, options), Scope.Scope, scope)
      return { smtp, close: Scope.close(scope, Exit.void) }
    })

  it.effect("finishes the message in flight, quits and refuses waiting senders", () =>
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

  it.effect("does not wait for an idle connection that the relay has closed", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make()
      const { close, smtp } = yield* closable(server.port)
      yield* smtp.send(mail("ann@example.com"))
      yield* server.hangUp
      yield* close
      assert.strictEqual(server.connections.total, 1)
    }))

  it.effect("drops a message that does not finish within ten seconds", () =>
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
  it.effect("carries the configured name", () =>
    Effect.gen(function*() {
      const peer = yield* ScriptedSmtp.make({})
      const smtp = yield* open(peer.port, { name: "node.sender.example" })
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(peer.commands[0], "1 EHLO node.sender.example")
    }))
})

describe("verify", () => {
  it.effect("returns what the relay offers, and quits", () =>
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

  it.effect("fails with the relay's reply", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["AUTH PLAIN"], ...on("AUTH", "535 5.7.8 bad password") })
      const smtp = yield* open(server.port, { relay: { ...relay(0), ...user.relay, port: server.port } })
      const failure = yield* Effect.flip(smtp.verify)
      assert.strictEqual(failure.fault, "auth")
      assert.match(failure.reason, /535 5\.7\.8 bad password/)
    }))

  it.effect("is followed by DSN parameters if the relay offers DSN", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: ["DSN"] })
      const smtp = yield* open(server.port)
      const { message, priority } = mail("ann@example.com")
      const dsn = { envid: "m+1", notify: ["SUCCESS", "FAILURE"], ret: "HDRS", orcpt: "ann+x@example.com" } as const
      yield* smtp.send({ envelope: { from: "a@b.example", to: "ann@example.com", dsn }, message, priority, account })
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

  it.effect("is followed by no DSN parameters if the relay does not offer DSN", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedSmtp.make({ extensions: [] })
      const smtp = yield* open(server.port)
      const { message, priority } = mail("ann@example.com")
      const dsn = { envid: "m+1", notify: ["SUCCESS"], ret: "HDRS", orcpt: "ann@example.com" } as const
      yield* smtp.send({ envelope: { from: "a@b.example", to: "ann@example.com", dsn }, message, priority, account })
      assert.includeMembers(server.commands.map((command) => command.trim()), [
        "1 MAIL FROM:<a@b.example>",
        "1 RCPT TO:<ann@example.com>"
      ])
    }))
})
