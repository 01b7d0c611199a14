import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { Smtp } from "../../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../../src/channels/email/smtp/SmtpLayer.ts"
import { SandboxDelivery } from "../../../src/sandbox/mail/SandboxDelivery.ts"
import { SandboxInbox } from "../../../src/sandbox/mail/SandboxInbox.ts"
import type { ReceivedMail } from "../../../src/sandbox/mail/SandboxInbox.ts"
import { SandboxMailServer } from "../../../src/sandbox/mail/SandboxMailServer.ts"
import { SandboxReports } from "../../../src/sandbox/mail/SandboxReports.ts"

const start = Effect.fnUntraced(function*(add: (mail: ReceivedMail) => Effect.Effect<void>) {
  const inbox = Layer.succeed(
    SandboxInbox,
    SandboxInbox.of({
      add,
      list: () => Effect.succeed({ rows: [], total: 0, unread: 0 }),
      get: () => Effect.succeedNone,
      removeAll: () => Effect.succeed(0),
      remove: () => Effect.succeed(false),
      markRead: () => Effect.void,
      markAllRead: Effect.void
    })
  )
  const server = yield* Layer.build(
    Layer.provide(SandboxMailServer.layer(), SandboxDelivery.layer.pipe(Layer.provide([inbox, SandboxReports.layer])))
  )
  const { port } = Context.get(server, SandboxMailServer)
  const relay = { host: "127.0.0.1", port, tls: "offered", verifyCertificate: true } as const
  return Context.get(yield* Layer.build(SmtpLayer.make({ relay })), Smtp)
})

const mail = (to: string, messageId = "<1@sender.example>") => ({
  envelope: { from: "news@sender.example", to },
  message: Buffer.from(`Message-ID: ${messageId}\r\nSubject: hi\r\n\r\nhello\r\n`),
  priority: "single" as const,
  account: null
})

const recording = () => {
  const mails: Array<ReceivedMail> = []
  return { mails, add: (received: ReceivedMail) => Effect.sync(() => void mails.push(received)) }
}

describe("sandbox SMTP server", () => {
  it.effect("a mail is handed over with its envelope and bytes, and EHLO announces 25 MiB", () =>
    Effect.gen(function*() {
      const { add, mails } = recording()
      const smtp = yield* start(add)
      yield* smtp.send(mail("ann@example.com"))
      assert.strictEqual(mails.length, 1)
      assert.strictEqual(mails[0]?.envelopeFrom, "news@sender.example")
      assert.deepStrictEqual(mails[0]?.recipients, ["ann@example.com"])
      assert.deepStrictEqual(Buffer.from(mails[0]?.raw ?? []), mail("ann@example.com").message)
      assert.strictEqual((yield* smtp.capabilities).maxSize, 25 * 1024 * 1024)
    }))

  for (
    const [to, stage, code, enhanced] of [
      ["bounce@example.com", "rcpt", 550, "5.1.1"],
      ["Bounced+1@example.com", "rcpt", 550, "5.1.1"],
      ["mailboxfull@example.com", "rcpt", 552, "5.2.2"],
      ["blocked@example.com", "message", 554, "5.7.1"]
    ] as const
  ) {
    it.effect(`a mail to ${to} is refused with ${code} ${enhanced} at ${stage}`, () =>
      Effect.gen(function*() {
        const { add, mails } = recording()
        const smtp = yield* start(add)
        const failure = yield* Effect.flip(smtp.send(mail(to)))
        assert.strictEqual(failure._tag, "RecipientRefused")
        if (failure._tag !== "RecipientRefused") return
        assert.deepStrictEqual([failure.stage, failure.code, failure.enhanced], [stage, code, enhanced])
        assert.strictEqual(mails.length, 0)
      }))
  }

  it.effect("each message to defer@ is deferred once", () =>
    Effect.gen(function*() {
      const { add, mails } = recording()
      const smtp = yield* start(add)
      for (const id of ["<1@x>", "<2@x>"]) {
        const failure = yield* Effect.flip(smtp.send(mail("defer@example.com", id)))
        assert.isTrue(failure._tag === "RecipientRefused" && failure.code === 451 && !failure.permanent)
        yield* smtp.send(mail("defer@example.com", id))
      }
      assert.strictEqual(mails.length, 2)
    }))

  it.effect("250 is sent only after the inbox has stored the message", () =>
    Effect.gen(function*() {
      const arrived = yield* Deferred.make<void>()
      const stored = yield* Deferred.make<void>()
      const smtp = yield* start(() => Effect.andThen(Deferred.succeed(arrived, undefined), Deferred.await(stored)))
      const sending = yield* Effect.forkChild(smtp.send(mail("ann@example.com")))
      yield* Deferred.await(arrived)
      assert.isUndefined(sending.pollUnsafe())
      yield* Deferred.succeed(stored, undefined)
      yield* Fiber.join(sending)
    }))

  it.effect("451 is sent when the inbox fails", () =>
    Effect.gen(function*() {
      const smtp = yield* start(() => Effect.die("the database is away"))
      const failure = yield* Effect.flip(smtp.send(mail("ann@example.com")))
      assert.isTrue(failure._tag === "RecipientRefused" && failure.code === 451 && failure.enhanced === "4.3.0")
    }))
})
