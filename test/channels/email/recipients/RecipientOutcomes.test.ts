import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BatchesRepo, type Claimed } from "../../../../src/channels/email/bulk/BatchesRepo.ts"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { type SendOutcome, transition } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { maxAttempts } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../../../src/channels/email/suppressions/Suppressions.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { ulid } from "../../../../src/platform/crypto/ids.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { type AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const published: Array<DomainEvent> = []

const RecordedEvents = Layer.succeed(
  Events,
  Events.of({ publish: (events) => Effect.sync(() => void published.push(...events)) })
)

const Subject = RecipientOutcomes.layer.pipe(
  Layer.provide([RecordedEvents, Suppressions.layer, Usage.layer]),
  Layer.provideMerge(BatchesRepo.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const at = Timestamp.make("2030-01-31T09:00:00.000000Z")
const accepted: SendOutcome = { _tag: "Accepted" }
const gone = new RecipientRefused({
  stage: "rcpt",
  permanent: true,
  code: 550,
  enhanced: "5.1.1",
  response: "550 5.1.1 no such user"
})
const down = new RelayUnavailable({ fault: "connect", reason: "down", retryInMillis: 0 })

/** Makes a batch of `count` recipients, by default in a new account, and the operations of its owner. */
const batchOf = Effect.fnUntraced(function*(count: number, account?: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* BatchesRepo
  const outcomes = yield* RecipientOutcomes
  const accountId = account ?? (yield* makeAccount()).accountId
  const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
  yield* repo.insertBatch({
    id,
    account_id: accountId,
    from_address: "us@example.com",
    from_name: null,
    subject: "s",
    html: "h",
    text: null,
    track_opens: false,
    links: null,
    template_id: null,
    total: count
  })
  const recipients = Array.from({ length: count }, (_, index) => ({ to: `user${index}@example.com`, variables: {} }))
  yield* repo.insertRecipients({ id, account_id: accountId, recipients })
  const record = (claimed: Claimed, outcome: SendOutcome) =>
    outcomes.record({
      id: claimed.id,
      emailId: claimed.id,
      accountId,
      batchId: id,
      to: claimed.recipient,
      subject: "s",
      at,
      attemptsBefore: claimed.attempt_count,
      transition: transition(claimed.attempt_count, outcome, claimed.unconfirmed_attempts)
    })
  return {
    id,
    accountId,
    repo,
    record,
    claim: (limit = count) => Effect.map(repo.claim({ id, limit }), (rows) => rows.toSorted((a, b) => a.id - b.id)),
    reclaim: (after = Duration.zero) => repo.reclaimExpired({ id, maxAttempts, claimed: [], after }),
    counts: Effect.map(
      sql`select total, sent, failed, suppressed, canceled, ambiguous, (select count(*) from email_messages
        where batch_id = ${id} and status in ('queued', 'sending')) as waiting from email_batches where id = ${id}`,
      ([row]) => row
    ),
    rows: Effect.map(
      sql`select status, attempt_count from email_messages where batch_id = ${id} order by position`,
      (rows) => rows.map((row) => `${String(row["status"])} ${String(row["attempt_count"])}`)
    ),
    events: () => published.filter(({ accountId: owner }) => owner === accountId).map(({ event }) => event)
  }
})

layer(Subject, { excludeTestServices: true })("RecipientOutcomes and BatchesRepo", (it) => {
  it.effect("commits outcomes, counts, suppressions and events in one transaction", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(3)
      const claimed = yield* batch.claim()
      const outcomes = [accepted, gone, down]
      yield* Effect.forEach(claimed, (one, index) => batch.record(one, outcomes[index] ?? accepted), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* batch.rows, ["sent 1", "bounced 1", "queued 0"])
      assert.deepInclude(yield* batch.counts, { total: 3, sent: 1, failed: 1, waiting: 1, ambiguous: 0 })
      assert.sameMembers(batch.events(), ["email.sent", "email.bounced"])
      assert.deepStrictEqual(yield* sql`select email from suppressions where account_id = ${batch.accountId}`, [
        { email: "user1@example.com" }
      ])
      assert.deepStrictEqual(yield* batch.claim(), [], "no recipient is due before the relay's back-off ends")
    }))

  it.effect("lets one owner claim each recipient, oldest first, and never a suppressed address", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(10)
      yield* sql`insert into suppressions (account_id, email, reason) values (${batch.accountId}, 'user3@example.com', 'manual')`
      const claims = yield* Effect.all([batch.claim(4), batch.claim(4), batch.claim(4)], { concurrency: 3 })
      const names = claims.flat().map(({ recipient }) => recipient)
      assert.strictEqual(new Set(names).size, names.length)
      assert.sameMembers(names, [0, 1, 2, 4, 5, 6, 7, 8, 9].map((index) => `user${index}@example.com`))
      assert.deepInclude(yield* batch.counts, { total: 10, suppressed: 1, waiting: 9 })
    }))

  it.effect("ignores outcomes and releases by an owner whose claims were reclaimed", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(2)
      const before = yield* batch.claim()
      yield* batch.reclaim()
      assert.deepStrictEqual(yield* batch.rows, ["queued 1", "queued 1"])
      const after = yield* batch.claim()
      for (const claimed of before) yield* batch.record(claimed, accepted)
      yield* batch.repo.releaseClaims(batch.id, before)
      assert.deepStrictEqual(yield* batch.rows, ["sending 1", "sending 1"])
      assert.deepInclude(yield* batch.counts, { sent: 0, ambiguous: 2, waiting: 2 })
      for (const claimed of after) yield* batch.record(claimed, accepted)
      for (const claimed of after) yield* batch.record(claimed, accepted)
      assert.deepStrictEqual(yield* batch.rows, ["sent 2", "sent 2"])
      assert.deepInclude(yield* batch.counts, { sent: 2, waiting: 0 })
      assert.deepStrictEqual(batch.events(), ["email.sent", "email.sent"])
    }))

  it.effect("fails a recipient after two unconfirmed attempts and keeps their count", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(1)
      const silent = new OutcomeUnknown({ reason: "silence" })
      for (const unconfirmed of [0, 1]) {
        yield* sql`update email_messages set due_at = null where batch_id = ${batch.id}`
        const [claimed] = yield* batch.claim()
        assert.strictEqual(claimed?.unconfirmed_attempts, unconfirmed)
        if (claimed !== undefined) yield* batch.record(claimed, silent)
      }
      assert.deepStrictEqual(yield* batch.rows, ["failed 2"])
      assert.deepInclude(yield* batch.counts, { failed: 1, ambiguous: 2, waiting: 0 })
    }))

  it.effect("fails a recipient whose claim was reclaimed after every attempt", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(1)
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        yield* batch.claim()
        yield* batch.reclaim()
      }
      assert.deepStrictEqual(yield* batch.rows, [`failed ${maxAttempts}`])
      assert.deepInclude(yield* batch.counts, { failed: 1, ambiguous: maxAttempts, waiting: 0 })
      assert.deepStrictEqual(yield* batch.claim(), [])
    }))

  it.effect("reclaims only claims that are older than the lease", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(2)
      const [first] = yield* batch.claim()
      yield* batch.reclaim(Duration.seconds(30))
      assert.deepStrictEqual(yield* batch.rows, ["sending 0", "sending 0"])
      yield* sql`update email_messages set due_at = now() - interval '31 seconds' where id = ${first?.id ?? 0}`
      yield* batch.reclaim(Duration.seconds(30))
      assert.deepStrictEqual(yield* batch.rows, ["queued 1", "sending 0"])
      assert.deepInclude(yield* batch.repo.progress(batch.id), { is_open: true, sending: 1 })
    }))

  it.effect("cancels recipients of a canceled batch, including those that return to the queue", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(4)
      const [first, second] = yield* batch.claim(2)
      yield* batch.repo.cancel(batch.id)
      assert.deepStrictEqual(yield* batch.claim(), [])
      yield* batch.repo.cancelQueued(batch.id)
      if (first === undefined || second === undefined) return
      yield* batch.record(first, accepted)
      yield* batch.record(second, down)
      yield* batch.repo.cancelQueued(batch.id)
      yield* batch.repo.cancelQueued(batch.id)
      assert.deepStrictEqual(yield* batch.rows, ["sent 1", "canceled 0", "canceled 0", "canceled 0"])
      assert.deepInclude(yield* batch.counts, { total: 4, sent: 1, canceled: 3, waiting: 0 })
      const ended = yield* Effect.all([batch.repo.complete(batch.id), batch.repo.complete(batch.id)], {
        concurrency: 2
      })
      assert.strictEqual(ended.filter(({ _tag }) => _tag === "Some").length, 1)
    }))

  it.effect("counts exactly when outcomes of several batches interleave", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const batches = yield* Effect.all([batchOf(300, accountId), batchOf(300, accountId), batchOf(300, accountId)])
      const pending = yield* Effect.forEach(batches, (batch) =>
        Effect.map(batch.claim(), (rows) =>
          rows.map((row, index) => ({ order: index, record: batch.record(row, index % 3 === 0 ? gone : accepted) }))))
      const crossed = pending.flat().toSorted((a, b) =>
        a.order - b.order
      )
      yield* Effect.forEach(crossed, ({ record }) => record, { concurrency: "unbounded", discard: true })
      for (const batch of batches) {
        assert.deepInclude(yield* batch.counts, { total: 300, sent: 200, failed: 100, waiting: 0 })
      }
    }))

  it.effect("finds batches that stalled: not started, due but not sent, or without recipients left", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [fresh, waiting, busy, still, done] = yield* Effect.all([
        batchOf(1),
        batchOf(1),
        batchOf(1),
        batchOf(1),
        batchOf(1)
      ])
      for (const batch of [waiting, busy, still, done]) yield* batch.repo.begin(batch.id)
      for (const batch of [busy, done]) yield* batch.claim()
      yield* sql`update email_messages set due_at = now() + interval '1 minute' where batch_id = ${waiting.id}`
      yield* sql`update email_messages set status = 'sent' where batch_id = ${done.id}`
      const found = Effect.map(fresh.repo.findStalled(), (rows) =>
        rows.flatMap(({ has_begun, id }) => {
          const name = Object.entries({ fresh, waiting, busy, still, done }).find(([, batch]) => batch.id === id)?.[0]
          return name === undefined ? [] : [`${name} ${has_begun}`]
        }))
      assert.deepStrictEqual(yield* found, [], "two seconds have not passed")
      yield* sql`update email_batches set created_at = now() - interval '5 seconds', started_at = started_at - interval '5 seconds'`
      assert.sameMembers(yield* found, ["fresh false", "still true", "done true"])
      yield* sql`update email_messages set due_at = now() - interval '5 minutes' where batch_id = ${busy.id}`
      assert.include(yield* found, "busy true")
    }))
})
