import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeBatchesRepo } from "../../../../src/channels/email/bulk/BatchesRepo.ts"
import { DeliveryReports, type Told } from "../../../../src/channels/email/recipients/DeliveryReports.ts"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { type SendOutcome, settle } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { OutcomeUnknown, RecipientRefused } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { ulid } from "../../../../src/platform/crypto/ulid.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { type AccountId, EmailBatchId, EmailMessageId } from "../../../../src/values/Ids.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const happenings: Array<DomainEvent> = []

const Journal = Layer.succeed(
  Events,
  Events.of({ publish: (news) => Effect.sync(() => void happenings.push(...news)) })
)

const Subject = Layer.mergeAll(RecipientOutcomes.layer, DeliveryReports.layer).pipe(
  Layer.provide(Journal),
  Layer.provide(Usage.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const at = Timestamp.make("2030-01-31T09:00:00.000000Z")
const delivered: Told = { news: "delivered" }
const complained: Told = { news: "complained" }
const bounced = (suppress: "never" | "repeated" | "now" = "now"): Told => ({
  news: "bounced",
  bounceType: "hard",
  error: "550 no",
  suppress
})
const accepted: SendOutcome = { _tag: "Accepted" }
const plainly = new RecipientRefused({ stage: "rcpt", permanent: true, code: 550, response: "550 no" })

/** A batch with claimed recipients, and what its owner and the world can tell of them. */
const batchOf = Effect.fnUntraced(function*(recipients: ReadonlyArray<string>, account?: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* makeBatchesRepo
  const outcomes = yield* RecipientOutcomes
  const news = yield* DeliveryReports
  const accountId = account ?? (yield* makeAccount()).accountId
  const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
  const content = {
    from_address: "us@example.com",
    from_name: null,
    subject: "For {{name}}",
    html: "h",
    text: null,
    track_opens: false,
    links: null,
    template_id: null
  }
  yield* repo.insertBatch({ id, account_id: accountId, ...content, total: recipients.length })
  const addressed = recipients.map((to) => ({ to, variables: { name: "Ann" } }))
  yield* repo.insertRecipients({ id, account_id: accountId, recipients: addressed })
  const claimed = (yield* repo.claim({ id, limit: 100 })).toSorted((a, b) => a.id - b.id)
  const [first] = claimed
  if (first === undefined) return yield* Effect.die("nobody was claimed")
  const settled = (outcome: SendOutcome, index = 0) => {
    const { attempt_count, id: message, recipient } = claimed[index] ?? first
    return outcomes.record({
      id: message,
      emailId: message,
      accountId,
      batchId: id,
      to: recipient,
      subject: "For Ann",
      at,
      attemptsBefore: attempt_count,
      settled: settle(attempt_count, outcome, 0)
    })
  }
  return {
    accountId,
    first,
    repo,
    id,
    settled,
    note: (told: Told | undefined, index = 0) => news.note(claimed[index]?.id ?? first.id, () => told),
    row: Effect.map(
      sql`select status, bounce_type, attempt_count, error, due_at, delivered_at is not null as was_delivered,
        sent_at is not null as was_sent from email_messages where id = ${first.id}`,
      ([row]) => row
    ),
    counts: Effect.map(
      sql`select total, sent, failed, suppressed, canceled from email_batches where id = ${id}`,
      ([row]) => row
    ),
    suppressions: Effect.map(
      sql`select email, reason from suppressions where account_id = ${accountId} order by email`,
      (rows) => rows.map(({ email, reason }) => `${String(email)} ${String(reason)}`)
    ),
    told: () => happenings.filter((news) => news.accountId === accountId).map(({ event }) => event)
  }
})

layer(Subject, { excludeTestServices: true })("news of a message", (it) => {
  it.effect("move it, tell of it once, and leave the batch's counts as they were told", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["ann@people.example"])
      yield* batch.settled(accepted)
      assert.strictEqual(yield* batch.note(delivered), "changed")
      assert.strictEqual(yield* batch.note(delivered), "known")
      assert.deepInclude(yield* batch.row, { status: "delivered", was_delivered: true, was_sent: true })
      assert.strictEqual(yield* batch.note(bounced()), "changed")
      assert.strictEqual(yield* batch.note(bounced()), "known")
      assert.strictEqual(yield* batch.note(delivered), "known")
      assert.deepInclude(yield* batch.row, { status: "bounced", bounce_type: "hard", error: "550 no" })
      assert.strictEqual(yield* batch.note(complained), "changed")
      assert.deepStrictEqual(batch.told(), ["email.sent", "email.delivered", "email.bounced", "email.complained"])
      assert.deepStrictEqual(yield* batch.counts, { total: 1, sent: 1, failed: 0, suppressed: 0, canceled: 0 })
      assert.deepStrictEqual(yield* batch.suppressions, ["ann@people.example complaint"])
      const data = happenings.filter(({ accountId }) => accountId === batch.accountId).map((news) => news.data)
      for (const one of data) {
        assert.deepInclude(one, {
          id: batch.first.id,
          batch_id: batch.id,
          to: "ann@people.example",
          subject: "For Ann"
        })
      }
    }))

  it.effect("may come before our own record that the relay has it, which then changes nothing", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["early@people.example", "other@people.example"])
      assert.strictEqual(yield* batch.note(bounced()), "changed")
      assert.deepStrictEqual(batch.told(), ["email.sent", "email.bounced"])
      yield* batch.settled(accepted)
      assert.deepInclude(yield* batch.row, { status: "bounced", attempt_count: 1, due_at: null, was_sent: true })
      assert.deepInclude(yield* batch.counts, { total: 2, sent: 1, failed: 0 })
      yield* batch.settled(accepted, 1)
      assert.deepStrictEqual(batch.told(), ["email.sent", "email.bounced", "email.sent"])
      const ended = yield* batch.repo.complete(batch.id)
      assert.strictEqual(ended._tag, "Some", "everybody is counted")
    }))

  it.effect("take a message that is to be sent again out of the queue", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["again@people.example"])
      yield* batch.settled(new OutcomeUnknown({ reason: "lost" }))
      assert.deepInclude(yield* batch.row, { status: "queued" })
      yield* batch.note(delivered)
      assert.deepInclude(yield* batch.row, { status: "delivered", due_at: null })
      assert.deepInclude(yield* batch.counts, { total: 1, sent: 1 })
      assert.deepStrictEqual(yield* batch.repo.claim({ id: batch.id, limit: 10 }), [])
    }))

  it.effect("of all kinds at once are told once each, and end with the furthest", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["crowd@people.example"])
      const all = [delivered, bounced(), complained, delivered, bounced(), complained]
      yield* Effect.all([...all.map((told) => batch.note(told)), batch.settled(accepted)], { concurrency: "unbounded" })
      assert.deepInclude(yield* batch.row, { status: "complained" })
      const told = batch.told()
      assert.strictEqual(new Set(told).size, told.length)
      assert.includeMembers(told, ["email.sent", "email.complained"])
      assert.deepInclude(yield* batch.counts, { total: 1, sent: 1, failed: 0 })
    }))

  it.effect("that say nothing, or of a message that is gone, change nothing", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["nothing@people.example"])
      const news = yield* DeliveryReports
      assert.strictEqual(yield* batch.note(undefined), "known")
      assert.strictEqual(
        yield* news.note(EmailMessageId.make(9_007_199_254_740_991), () => bounced()),
        "unknown_message"
      )
      assert.deepStrictEqual(batch.told(), [])
    }))
})

layer(Subject, { excludeTestServices: true })("an address", (it) => {
  it.effect("is suppressed by a mailbox that does not exist, and by a complaint, for this account", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["Gone@people.example", "angry@people.example", "full@people.example"])
      yield* batch.note(bounced())
      yield* batch.note(complained, 1)
      yield* batch.note(bounced("never"), 2)
      assert.deepStrictEqual(yield* batch.suppressions, [
        "angry@people.example complaint",
        "gone@people.example bounce"
      ])
      const next = yield* Effect.exit(batchOf(["gone@people.example"], batch.accountId))
      assert.strictEqual(next._tag, "Failure", "nobody is claimed")
      yield* batchOf(["gone@people.example"])
    }))

  it.effect("keeps the first reason, but a complaint takes the place of every other one, and stays", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const names = ["a", "b", "c", "d"].map((name) => `${name}@people.example`)
      const batch = yield* batchOf(names)
      yield* sql`insert into suppressions (account_id, email, reason)
        select ${batch.accountId}::bigint, email, reason from (values
          ('a@people.example', 'manual'), ('b@people.example', 'unsubscribe'), ('c@people.example', 'bounce')
        ) t (email, reason)`
      yield* batch.note(bounced(), 0)
      yield* batch.note(complained, 3)
      assert.deepStrictEqual((yield* batch.suppressions).slice(0, 2), [`${names[0]} manual`, `${names[1]} unsubscribe`])
      for (const index of [0, 1, 2]) yield* batch.note(complained, index)
      const again = yield* batchOf(["e@people.example"], batch.accountId)
      yield* sql`update email_messages set recipient = 'D@people.example' where recipient = 'e@people.example'`
      yield* again.note(bounced())
      assert.deepStrictEqual(yield* batch.suppressions, names.map((name) => `${name} complaint`))
    }))

  it.effect("is suppressed by the second refusal without a reason within 30 days, by SMTP or by report", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const one = yield* batchOf(["Bob@people.example"])
      yield* one.settled(plainly)
      yield* one.settled(plainly)
      assert.deepStrictEqual(yield* one.suppressions, [])
      yield* sql`update plain_refusals set refused_at = now() - interval '31 days' where account_id = ${one.accountId}`
      const two = yield* batchOf(["bob@people.example"], one.accountId)
      yield* two.note(bounced("repeated"))
      assert.deepStrictEqual(yield* one.suppressions, [], "the first one is too long ago")
      const three = yield* batchOf(["bob@people.example"], one.accountId)
      yield* three.settled(plainly)
      assert.deepStrictEqual(yield* one.suppressions, ["bob@people.example bounce"])
    }))

  it.effect("of an account that was removed is not written down", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(["late@people.example"])
      yield* batch.settled(accepted)
      yield* sql`delete from accounts where id = ${batch.accountId}`
      assert.strictEqual(yield* batch.note(bounced()), "changed")
      assert.strictEqual(yield* batch.note(complained), "changed")
      assert.deepStrictEqual(yield* batch.suppressions, [])
    }))
})
