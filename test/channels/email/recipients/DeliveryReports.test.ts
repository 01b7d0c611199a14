import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { BatchesRepo } from "../../../../src/channels/email/bulk/BatchesRepo.ts"
import { type DeliveryReport, DeliveryReports } from "../../../../src/channels/email/recipients/DeliveryReports.ts"
import { MessageProgress } from "../../../../src/channels/email/recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { type SendOutcome, transition } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { OutcomeUnknown, RecipientRefused } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../../../src/channels/email/suppressions/Suppressions.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../../src/platform/crypto/ids.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { type AccountId, EmailBatchId, EmailMessageId } from "../../../../src/values/Ids.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { eventsWith } from "../../../support/testEvents.ts"

const published: Array<DomainEvent> = []

const RecordedEvents = Layer.succeed(
  Events,
  eventsWith((events) => Effect.sync(() => void published.push(...events)))
)

const Subject = Layer.mergeAll(RecipientOutcomes.layer, DeliveryReports.layer).pipe(
  Layer.provideMerge(MessageProgress.layer),
  Layer.provide([AppConfig.layer, RecordedEvents, Suppressions.layer]),
  Layer.provide(Usage.layer),
  Layer.provideMerge(BatchesRepo.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const at = Timestamp.make("2030-01-31T09:00:00.000000Z")
const delivered: DeliveryReport = { status: "delivered" }
const complained: DeliveryReport = { status: "complained" }
const bounced = (suppress: "never" | "repeated" | "now" = "now"): DeliveryReport => ({
  status: "bounced",
  bounceType: "hard",
  error: "550 no",
  suppress
})
const accepted: SendOutcome = { _tag: "Accepted" }
const refusedWithoutReason = new RecipientRefused({ stage: "rcpt", permanent: true, code: 550, response: "550 no" })

/** Makes a batch with claimed recipients, and the functions to settle and report on them. */
const batchOf = Effect.fnUntraced(function*(recipients: ReadonlyArray<string>, account?: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* BatchesRepo
  const outcomes = yield* RecipientOutcomes
  const reports = yield* DeliveryReports
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
    template_id: null,
    headers: null,
    sending: { ...noLabels, sendAt: null, acceptedBy: null }
  }
  const addressed = recipients.map((to) => ({ to: EmailAddress.make(to), variables: { name: "Ann" } }))
  const batch = { id, account_id: accountId, shard: 1, is_small: false, ...content, recipients: addressed }
  yield* repo.insert({ ...batch, isClaimed: false })
  const claimed = (yield* repo.claim({ ids: [id], limit: 100 })).toSorted((a, b) => a.id - b.id)
  const [first] = claimed
  if (first === undefined) return yield* Effect.die("no recipient was claimed")
  const settle = (outcome: SendOutcome, index = 0) => {
    const { attempt_count, claim_number, id: message, recipient } = claimed[index] ?? first
    return outcomes.record({
      id: message,
      emailId: message,
      accountId,
      batchId: id,
      to: recipient,
      subject: "For Ann",
      at,
      labels: noLabels,
      claimNumber: claim_number,
      attemptsBefore: attempt_count,
      transition: transition(attempt_count, outcome, 0)
    })
  }
  return {
    accountId,
    first,
    repo,
    id,
    settle,
    report: (report: DeliveryReport | undefined, index = 0) =>
      reports.apply(claimed[index]?.id ?? first.id, () => report),
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
    events: () => published.filter((event) => event.accountId === accountId).map(({ event }) => event)
  }
})

layer(Subject, { excludeTestServices: true })("DeliveryReports", (it) => {
  it.effect("advances a message, publishes each event once, and keeps the batch's counts", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["ann@people.example"])
      yield* batch.settle(accepted)
      assert.strictEqual(yield* batch.report(delivered), "changed")
      assert.strictEqual(yield* batch.report(delivered), "known")
      assert.deepInclude(yield* batch.row, { status: "delivered", was_delivered: true, was_sent: true })
      assert.strictEqual(yield* batch.report(bounced()), "changed")
      assert.strictEqual(yield* batch.report(bounced()), "known")
      assert.strictEqual(yield* batch.report(delivered), "known")
      assert.deepInclude(yield* batch.row, { status: "bounced", bounce_type: "hard", error: "550 no" })
      assert.strictEqual(yield* batch.report(complained), "changed")
      assert.deepStrictEqual(batch.events(), [
        "email.sent",
        "email.bulk_completed",
        "email.delivered",
        "email.bounced",
        "email.complained"
      ])
      assert.deepStrictEqual(yield* batch.counts, { total: 1, sent: 1, failed: 0, suppressed: 0, canceled: 0 })
      assert.deepStrictEqual(yield* batch.suppressions, ["ann@people.example complaint"])
      const ofMessage = published.filter(({ accountId, data }) => accountId === batch.accountId && "id" in data)
      assert.strictEqual(ofMessage.length, 4)
      for (const { data } of ofMessage) {
        assert.deepInclude(data, {
          id: batch.first.id,
          batch_id: batch.id,
          to: "ann@people.example",
          subject: "For Ann"
        })
      }
    }))

  it.effect("publishes and dates a delivery that is reported after an open or a click, and leaves the status", () =>
    Effect.gen(function*() {
      const progress = yield* MessageProgress
      for (const status of ["opened", "clicked"] as const) {
        const batch = yield* batchOf([`${status}@people.example`])
        yield* batch.settle(accepted)
        const message = Option.getOrThrow(yield* progress.lock(batch.first.id))
        yield* progress.advance(message, { status })
        assert.deepInclude(yield* batch.row, { status, was_delivered: false })
        assert.strictEqual(yield* batch.report(delivered), "changed")
        assert.strictEqual(yield* batch.report(delivered), "known")
        assert.deepInclude(yield* batch.row, { status, was_delivered: true })
        assert.deepStrictEqual(batch.events(), ["email.sent", "email.bulk_completed", "email.delivered"])
      }
    }))

  it.effect("dates a bounce and a complaint at their report; a delivery leaves the end at the hand-over", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(["late@people.example"])
      yield* batch.settle(accepted)
      for (const [report, minutes] of [[delivered, 0], [bounced(), 60], [complained, 60]] as const) {
        yield* sql`update email_messages set sent_at = now() - interval '1 hour', completed_at = now() - interval '1 hour'
          where id = ${batch.first.id}`
        assert.strictEqual(yield* batch.report(report), "changed")
        const [row] = yield* sql`select round(extract(epoch from completed_at - sent_at) / 60)::int as minutes
          from email_messages where id = ${batch.first.id}`
        assert.strictEqual(row?.["minutes"], minutes, report.status)
      }
    }))

  it.effect("applies a report that arrives before the relay's acceptance is recorded", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["early@people.example", "other@people.example"])
      assert.strictEqual(yield* batch.report(bounced()), "changed")
      assert.deepStrictEqual(batch.events(), ["email.sent", "email.bounced"])
      yield* batch.settle(accepted)
      assert.deepInclude(yield* batch.row, { status: "bounced", attempt_count: 1, due_at: null, was_sent: true })
      assert.deepInclude(yield* batch.counts, { total: 2, sent: 1, failed: 0 })
      yield* batch.settle(accepted, 1)
      assert.deepStrictEqual(
        batch.events(),
        ["email.sent", "email.bounced", "email.sent", "email.bulk_completed"],
        "all recipients are counted"
      )
    }))

  it.effect("removes a message that waits for a retry from the queue", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["again@people.example"])
      yield* batch.settle(new OutcomeUnknown({ reason: "lost" }))
      assert.deepInclude(yield* batch.row, { status: "queued" })
      yield* batch.report(delivered)
      assert.deepInclude(yield* batch.row, { status: "delivered", due_at: null })
      assert.deepInclude(yield* batch.counts, { total: 1, sent: 1 })
      assert.deepStrictEqual(yield* batch.repo.claim({ ids: [batch.id], limit: 10 }), [])
    }))

  it.effect("publishes concurrent reports of all kinds once each and ends with the furthest status", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["crowd@people.example"])
      const all = [delivered, bounced(), complained, delivered, bounced(), complained]
      yield* Effect.all([...all.map((report) => batch.report(report)), batch.settle(accepted)], {
        concurrency: "unbounded"
      })
      assert.deepInclude(yield* batch.row, { status: "complained" })
      const events = batch.events()
      assert.strictEqual(new Set(events).size, events.length)
      assert.includeMembers(events, ["email.sent", "email.complained"])
      assert.deepInclude(yield* batch.counts, { total: 1, sent: 1, failed: 0 })
    }))

  it.effect("publishes a delay once for each reason", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["slow@people.example"])
      yield* batch.settle(accepted)
      const delay = (error: string) => batch.report({ status: "delayed", error })
      const outcomes = yield* Effect.forEach(["full", "full", "busy"], delay)
      assert.deepStrictEqual(outcomes, ["changed", "known", "changed"])
      assert.deepInclude(yield* batch.row, { status: "sent", error: "busy" })
      assert.lengthOf(batch.events().filter((event) => event === "email.delivery_delayed"), 2)
    }))

  it.effect("changes nothing for an inconclusive report or a deleted message", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["nothing@people.example"])
      const reports = yield* DeliveryReports
      assert.strictEqual(yield* batch.report(undefined), "known")
      assert.strictEqual(
        yield* reports.apply(EmailMessageId.make(9_007_199_254_740_991), () => bounced()),
        "unknown_message"
      )
      assert.deepStrictEqual(batch.events(), [])
    }))
})

layer(Subject, { excludeTestServices: true })("suppression by reports", (it) => {
  it.effect("suppresses a missing mailbox and a complaining reader for the sending account only", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(["Gone@people.example", "angry@people.example", "full@people.example"])
      yield* batch.report(bounced())
      yield* batch.report(complained, 1)
      yield* batch.report(bounced("never"), 2)
      assert.deepStrictEqual(yield* batch.suppressions, [
        "angry@people.example complaint",
        "gone@people.example bounce"
      ])
      const next = yield* Effect.exit(batchOf(["gone@people.example"], batch.accountId))
      assert.strictEqual(next._tag, "Failure", "no recipient is claimed")
      yield* batchOf(["gone@people.example"])
    }))

  it.effect("keeps the first reason of a suppression, but lets a complaint replace every other reason", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const names = ["a", "b", "c", "d"].map((name) => `${name}@people.example`)
      const batch = yield* batchOf(names)
      yield* sql`insert into suppressions (account_id, email, reason)
        select ${batch.accountId}::bigint, email, reason from (values
          ('a@people.example', 'manual'), ('b@people.example', 'unsubscribe'), ('c@people.example', 'bounce')
        ) t (email, reason)`
      yield* batch.report(bounced(), 0)
      yield* batch.report(complained, 3)
      assert.deepStrictEqual((yield* batch.suppressions).slice(0, 2), [`${names[0]} manual`, `${names[1]} unsubscribe`])
      for (const index of [0, 1, 2]) yield* batch.report(complained, index)
      const again = yield* batchOf(["e@people.example"], batch.accountId)
      yield* sql`update email_messages set recipient = 'D@people.example' where recipient = 'e@people.example'`
      yield* again.report(bounced())
      assert.deepStrictEqual(yield* batch.suppressions, names.map((name) => `${name} complaint`))
    }))

  it.effect("suppresses an address after two refusals without a reason within 30 days, by SMTP or by report", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const one = yield* batchOf(["Bob@people.example"])
      yield* one.settle(refusedWithoutReason)
      yield* one.settle(refusedWithoutReason)
      assert.deepStrictEqual(yield* one.suppressions, [])
      yield* sql`update plain_refusals set refused_at = now() - interval '31 days' where account_id = ${one.accountId}`
      const two = yield* batchOf(["bob@people.example"], one.accountId)
      yield* two.report(bounced("repeated"))
      assert.deepStrictEqual(yield* one.suppressions, [], "the first refusal is older than 30 days")
      const three = yield* batchOf(["bob@people.example"], one.accountId)
      yield* three.settle(refusedWithoutReason)
      assert.deepStrictEqual(yield* one.suppressions, ["bob@people.example bounce"])
    }))

  it.effect("records no suppression for a removed account", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(["late@people.example"])
      yield* batch.settle(accepted)
      yield* sql`delete from accounts where id = ${batch.accountId}`
      assert.strictEqual(yield* batch.report(bounced()), "changed")
      assert.strictEqual(yield* batch.report(complained), "changed")
      assert.deepStrictEqual(yield* batch.suppressions, [])
    }))
})
