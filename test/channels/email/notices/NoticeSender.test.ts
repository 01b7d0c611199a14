import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../../../../src/accounts/notices/Notices.ts"
import { SealedNotices } from "../../../../src/accounts/notices/SealedNotices.ts"
import { sendNotices } from "../../../../src/channels/email/notices/NoticeSender.ts"
import { maxAttempts } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { DefaultSender, NoticeAddress } from "../../../../src/channels/email/request/DefaultSender.ts"
import { Smtp } from "../../../../src/channels/email/smtp/Smtp.ts"
import { OutcomeUnknown } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { SmtpLayer } from "../../../../src/channels/email/smtp/SmtpLayer.ts"
import { EmailDomains } from "../../../../src/email-domains/EmailDomains.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { PublicUrl } from "../../../../src/platform/http/PublicUrl.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { dkimKey, dkimVerdict, insertDomain, mainKey, readMail } from "../../../support/bulkMail.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import * as SmtpSink from "../../../support/SmtpSink.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

/** The relay of all tests. Each test uses a different address. */
class Sink extends Context.Service<Sink, SmtpSink.SmtpSink>()(
  "messaging-service/test/channels/email/notices/NoticeSender.test/Sink"
) {}

const Relay = Layer.unwrap(
  Effect.map(
    Sink,
    ({ port }) => SmtpLayer.make({ relay: { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } })
  )
).pipe(Layer.provideMerge(Layer.effect(Sink, SmtpSink.make({ script: SmtpSink.localPartScript }))))

const Subject = Layer.mergeAll(
  Relay,
  Notices.layer,
  Layer.merge(EmailDomains.layer, SealedNotices.layer).pipe(Layer.provide(Vault.layer(mainKey))),
  Layer.succeed(DefaultSender, DefaultSender.of({ address: EmailAddress.make("tenants@messages.example") })),
  Layer.succeed(
    NoticeAddress,
    NoticeAddress.of({ name: "Messages", address: EmailAddress.make("us@messages.example") })
  ),
  Layer.succeed(PublicUrl, PublicUrl.of({ base: "https://messages.example", local: "" }))
).pipe(Layer.provideMerge(TestDatabase.layer))

let accounts = 0

/** Writes a notice to an account whose address begins with `word`, and returns ways to observe it. */
const noticeTo = Effect.fnUntraced(function*(word: string) {
  const sql = yield* SqlClient.SqlClient
  const sink = yield* Sink
  const { enqueue } = yield* Notices
  const { accountId, email } = yield* makeAccount({ email: `${word}.${++accounts}@people.example` })
  yield* enqueue({ accountId, kind: "webhook_unhealthy", subject: "Unhealthy", body: "It fails.\n\nRepair it." })
  const row = Effect.map(
    sql`select status, attempt_count, error, message_id, due_at > now() + interval '10 seconds'
        and due_at <= now() + interval '30 seconds' as is_put_off, completed_at is not null as is_over
      from notices where account_id = ${accountId}`,
    ([found]) => found
  )
  return {
    email,
    row,
    /** Waits until `attempts` attempts are recorded. An attempt in flight has left no error yet. */
    until: (status: string, attempts: number) =>
      eventually(row, (seen) =>
        seen?.["status"] === status && seen["attempt_count"] === attempts
        && (status !== "queued" || seen["error"] !== null)),
    makeDue: sql`update notices set due_at = now() where account_id = ${accountId}`,
    mails: Effect.suspend(() =>
      Effect.forEach(sink.messages.filter(({ to }) => to[0] === email), ({ raw }) => readMail(raw))
    )
  }
})

/** Runs a sender until the effect ends, as on a node that then shuts down. */
const whileSending = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(sendNotices)
    return yield* Effect.ensuring(effect, Fiber.interrupt(fiber))
  })

layer(Subject, { excludeTestServices: true })("NoticeSender", (it) => {
  it.effect("mails a notice once, framed, from NOTICE_FROM to the account's address", () =>
    Effect.gen(function*() {
      const { email, mails, row, until } = yield* noticeTo("ann")
      yield* whileSending(until("sent", 1))
      // The next sender has polled for due notices, because it has sent this one.
      const { until: untilNext } = yield* noticeTo("next")
      yield* whileSending(untilNext("sent", 1))
      const [first, ...others] = yield* mails
      assert.deepStrictEqual(others, [])
      if (first === undefined) return assert.fail("there is no mail")
      assert.deepStrictEqual(first?.mail.from, { address: "us@messages.example", name: "Messages" })
      assert.deepStrictEqual(first.mail.to, [{ address: email, name: "" }])
      assert.strictEqual(first.mail.subject, "Unhealthy")
      assert.match(
        first.mail.text ?? "",
        /^Hello Test,\n\nIt fails\.\n\nRepair it\.\n\n-- \n.*https:\/\/messages\.example\n/
      )
      assert.include(first.mail.html ?? "", "<p>Repair it.</p>")
      assert.deepStrictEqual(first.field("auto-submitted"), ["auto-generated"])
      const { is_over, message_id } = (yield* row) ?? {}
      assert.deepStrictEqual(first.field("message-id"), [`<${String(message_id)}>`])
      assert.match(String(message_id), /^[0-9a-f-]{36}@messages\.example$/)
      assert.isTrue(is_over)
    }))

  it.effect("signs with the key of the sender's verified domain, and sends nothing if the key is unusable", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* insertDomain(accountId, "messages.example", { key: dkimKey.pem })
      const signed = yield* noticeTo("signed")
      yield* whileSending(signed.until("sent", 1))
      const sink = yield* Sink
      const raw = sink.messages.find(({ to }) => to[0] === signed.email)?.raw ?? Buffer.alloc(0)
      assert.deepStrictEqual(yield* dkimVerdict(raw), { result: "pass", domain: "messages.example" })

      yield* sql`update email_domains set dkim_private_key = 'torn'::bytea where account_id = ${accountId}`
      const torn = yield* noticeTo("torn")
      yield* whileSending(torn.until("failed", 1))
      assert.match(String((yield* torn.row)?.["error"]), /cannot be decrypted/)
      assert.deepStrictEqual(yield* torn.mails, [])
      yield* sql`delete from email_domains where account_id = ${accountId}`
    }))

  it.effect("a sealed notice is readable in its mail only, not in the database before, and its text is gone after it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { enqueue } = yield* SealedNotices
      const sink = yield* Sink
      const text = "Token t0ken."
      const enqueueTo = (recipient: string) =>
        Effect.andThen(makeAccount({ email: `owner.of.${recipient}` }), ({ accountId }) =>
          Effect.as(
            enqueue({ accountId, recipient, kind: "password_reset", subject: "Sealed", body: text }),
            sql`select status, sealed_body, error from notices where account_id = ${accountId}`
          ))
      const row = yield* enqueueTo("sealed@people.example")
      const moved = yield* enqueueTo("moved@people.example")
      const shown = sql`select from notices n where n::text like '%t0ken%'
        or n::text like ${`%${Buffer.from("t0ken").toString("hex")}%`}`
      assert.deepStrictEqual(yield* shown, [])
      yield* sql`update notices set sealed_body = (select sealed_body from notices where recipient = 'sealed@people.example')
        where recipient = 'moved@people.example'`
      yield* whileSending(Effect.gen(function*() {
        const [sent] = yield* eventually(row, ([seen]) => seen?.["status"] === "sent")
        assert.deepStrictEqual({ ...sent }, { status: "sent", sealed_body: null, error: null })
        const [broken] = yield* eventually(moved, ([seen]) => seen?.["status"] === "failed")
        assert.match(String(broken?.["error"]), /was altered, or moved here from another row/)
      }))
      const raw = sink.messages.find(({ to }) => to[0] === "sealed@people.example")?.raw ?? Buffer.alloc(0)
      const { mail } = yield* readMail(raw)
      assert.match(mail.text ?? "", /^Hello,\n\nToken t0ken\.\n/)
    }))

  it.effect("retries a deferred notice after the policy's delay with the same Message-ID", () =>
    Effect.gen(function*() {
      const { email, mails, makeDue, until } = yield* noticeTo("defer1")
      const sink = yield* Sink
      yield* whileSending(Effect.gen(function*() {
        const before = yield* until("queued", 1)
        assert.deepInclude(before, { is_put_off: true, error: "450 4.2.1 try again later" })
        yield* makeDue
        const after = yield* until("sent", 2)
        assert.strictEqual(after?.["message_id"], before?.["message_id"])
      }))
      assert.strictEqual(sink.attempts.get(email), 2)
      assert.lengthOf(yield* mails, 1)
    }))

  it.effect("fails a notice that the relay refuses permanently, and keeps the reason", () =>
    Effect.gen(function*() {
      const { email, until } = yield* noticeTo("bounce")
      const sink = yield* Sink
      const row = yield* whileSending(until("failed", 1))
      assert.deepInclude(row, { error: "550 5.1.1 no such user", is_over: true, is_put_off: null })
      assert.strictEqual(sink.attempts.get(email), 1)
    }))

  it.effect("has at most four notices in flight, so that a crash leaves no more of them in doubt", () =>
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const sql = yield* SqlClient.SqlClient
      const gate = yield* Deferred.make<void>()
      const notices = yield* Effect.forEach(Array.from({ length: 8 }), () => noticeTo("many"))
      yield* sql`update notices set lane = id % 2 where status = 'queued'`
      const inFlight = new Set<unknown>()
      let most = 0
      const holding = Smtp.of({
        ...smtp,
        send: (mail) =>
          Effect.gen(function*() {
            most = Math.max(most, inFlight.add(mail).size)
            yield* Deferred.await(gate)
            return yield* smtp.send(mail)
          }).pipe(Effect.ensuring(Effect.sync(() => inFlight.delete(mail))))
      })
      yield* whileSending(Effect.gen(function*() {
        yield* eventually(Effect.sync(() => inFlight.size), (size) => size === 4)
        yield* Deferred.succeed(gate, undefined)
        for (const { until } of notices) yield* until("sent", 1)
      })).pipe(Effect.provideService(Smtp, holding))
      assert.strictEqual(most, 4)
    }))

  it.effect("fails a notice to an invalid address and continues with the others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broken = yield* noticeTo("broken")
      yield* sql`update accounts set email = 'no address' where email = ${broken.email}`
      const { until } = yield* noticeTo("fine")
      yield* whileSending(Effect.gen(function*() {
        yield* until("sent", 1)
        assert.deepInclude(yield* broken.until("failed", 1), { error: "the account has no valid email address" })
      }))
    }))

  it.effect("sends the same mail again if it stopped before recording the relay's acceptance", () =>
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const sql = yield* SqlClient.SqlClient
      const { email, mails, row, until } = yield* noticeTo("crash")
      const sink = yield* Sink
      const thaw = yield* Deferred.make<void>()
      // The former owner froze after the relay's acceptance.
      const frozen = Smtp.of({ ...smtp, send: (mail) => Effect.tap(smtp.send(mail), () => Deferred.await(thaw)) })
      const before = yield* Effect.forkChild(Effect.provideService(sendNotices, Smtp, frozen))
      yield* sink.until(({ deliveries }) => deliveries.get(email) === 1)
      yield* whileSending(until("sent", 2))
      const [first, second, ...others] = (yield* mails).map(({ field }) => field("message-id"))
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(first, second)
      const [one, two] = sink.messages.filter(({ to }) => to[0] === email)
      assert.isTrue(one?.raw.equals(two?.raw ?? Buffer.alloc(0)))
      // Its outcome comes too late.
      yield* sql`update notices set error = 'untouched' where message_id = ${String((yield* row)?.["message_id"])}`
      yield* Deferred.succeed(thaw, undefined)
      yield* Fiber.interrupt(before)
      assert.deepInclude(yield* row, { status: "sent", attempt_count: 2, error: "untouched" })
    }))

  it.effect("fails a notice after two unconfirmed attempts", () =>
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const { makeDue, until } = yield* noticeTo("silent")
      const silent = Smtp.of({ ...smtp, send: () => Effect.fail(new OutcomeUnknown({ reason: "silence" })) })
      const first = yield* Effect.forkChild(Effect.provideService(sendNotices, Smtp, silent))
      assert.deepInclude(yield* until("queued", 1), { is_put_off: true, error: "silence" })
      // The next sender reads the count from the row.
      yield* Fiber.interrupt(first)
      const next = yield* Effect.forkChild(Effect.provideService(sendNotices, Smtp, silent))
      yield* makeDue
      const row = yield* until("failed", 2)
      assert.match(String(row?.["error"]), /^the relay may have accepted it, but did not confirm: silence$/)
      yield* Fiber.interrupt(next)
    }))

  it.effect("finishes and records a mail transaction in flight before it shuts down", () =>
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const { row } = yield* noticeTo("leaving")
      const [begun, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const slow = Smtp.of({
        ...smtp,
        send: (mail) =>
          Deferred.succeed(begun, undefined).pipe(Effect.andThen(Deferred.await(go)), Effect.andThen(smtp.send(mail)))
      })
      const fiber = yield* Effect.forkChild(Effect.provideService(sendNotices, Smtp, slow))
      yield* Deferred.await(begun)
      const leaving = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(leaving)
      assert.deepInclude(yield* row, { status: "sent", attempt_count: 1 })
    }))

  it.effect("fails a notice whose attempts all started but were never recorded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { email, until } = yield* noticeTo("poison")
      const sink = yield* Sink
      yield* sql`update notices n set attempt_count = ${maxAttempts} from accounts a
        where a.id = n.account_id and a.email = ${email}`
      assert.deepInclude(yield* whileSending(until("failed", maxAttempts)), {
        error: "interrupted before the relay had confirmed it"
      })
      assert.isUndefined(sink.attempts.get(email))
    }))
})
