import { assert, expect, layer } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { BatchesRepo, type Claimed } from "../../../../src/channels/email/bulk/BatchesRepo.ts"
import { MessageProgress } from "../../../../src/channels/email/recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { interrupted, type SendOutcome, transition } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { maxAttempts } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../../../src/channels/email/suppressions/Suppressions.ts"
import { type DomainEvent, Events, Subscriber } from "../../../../src/events/Events.ts"
import { obstacles } from "../../../../src/messages/scheduledRows.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../../src/platform/crypto/ids.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { type AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { fromDateTime } from "../../../../src/values/Timestamp.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const published: Array<DomainEvent> = []

/** No account has a webhook. */
const NoListeners = Layer.succeed(
  Subscriber,
  Subscriber.of({
    subscriptions: () => Effect.succeed([]),
    isSubscribed: () => Statement.fragment([Statement.literal("false")]),
    enqueue: () => Effect.succeed([])
  })
)

const RecordedEvents = Layer.effect(
  Events,
  Effect.map(Events, (events) =>
    Events.of({
      ...events,
      publish: (all) => Effect.andThen(Effect.sync(() => published.push(...all)), events.publish(all))
    }))
).pipe(Layer.provide(Events.layer), Layer.provide(NoListeners))

const Subject = Layer.merge(RecipientOutcomes.layer, MessageProgress.layer).pipe(
  Layer.provide([AppConfig.layer, RecordedEvents, Suppressions.layer, Usage.layer]),
  Layer.provideMerge(BatchesRepo.layer),
  Layer.provideMerge(TestDatabase.layer)
)

const accepted: SendOutcome = { _tag: "Accepted" }
const gone = new RecipientRefused({
  stage: "rcpt",
  permanent: true,
  code: 550,
  enhanced: "5.1.1",
  response: "550 5.1.1 no such user"
})
const down = new RelayUnavailable({ fault: "connect", reason: "down", retryInMillis: 60_000 })

interface Options {
  readonly account?: AccountId
  readonly shard?: number
  readonly isClaimed?: boolean
  readonly isSmall?: boolean
}

/** Makes a batch of `count` recipients, by default in a new account, and the operations of its owner. */
const batchOf = Effect.fnUntraced(
  function*(count: number, { account, isClaimed = false, isSmall = false, shard = 1 }: Options = {}) {
    const sql = yield* SqlClient.SqlClient
    const repo = yield* BatchesRepo
    const outcomes = yield* RecipientOutcomes
    const accountId = account ?? (yield* makeAccount()).accountId
    const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
    const recipients = Array.from({ length: count }, (_, index) => ({
      to: EmailAddress.make(`user${index}@example.com`),
      variables: {}
    }))
    const inserted = yield* repo.insert({
      id,
      account_id: accountId,
      shard,
      is_small: isSmall,
      from_address: "us@example.com",
      from_name: null,
      subject: "s",
      html: "h",
      text: null,
      track_opens: false,
      links: null,
      template_id: null,
      headers: null,
      sending: { ...noLabels, sendAt: null, acceptedBy: null },
      recipients,
      isClaimed
    })
    const record = Effect.fnUntraced(function*(claimed: Claimed, outcome: SendOutcome) {
      yield* outcomes.record({
        id: claimed.id,
        emailId: claimed.id,
        accountId,
        batchId: id,
        to: claimed.recipient,
        subject: "s",
        at: fromDateTime(yield* DateTime.now),
        labels: noLabels,
        claimNumber: claimed.claim_number,
        attemptsBefore: claimed.attempt_count,
        transition: transition(claimed.attempt_count, outcome, claimed.unconfirmed_attempts)
      })
    })
    return {
      id,
      accountId,
      repo,
      inserted,
      record,
      claim: (limit = count) =>
        Effect.map(repo.claim({ ids: [id], limit }), (rows) => rows.toSorted((a, b) => a.id - b.id)),
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
      statistics: Effect.map(
        sql`select concat_ws(' ', outcome, nullif(reason, ''), sum(count)) as line from message_stat_entries
          where account_id = ${accountId} group by outcome, reason order by outcome, reason`,
        (rows) => rows.map(({ line }) => String(line))
      ),
      events: () => published.filter(({ accountId: owner }) => owner === accountId).map(({ event }) => event)
    }
  }
)

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

  it.effect("lets one owner claim each recipient, oldest first, and marks an address that its account suppressed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(10)
      const { accountId: other } = yield* makeAccount()
      yield* sql`insert into suppressions (account_id, email, reason)
        values (${batch.accountId}, 'user3@example.com', 'manual'), (${other}, 'user5@example.com', 'manual')`
      const claims = yield* Effect.all([batch.claim(4), batch.claim(4), batch.claim(4)], { concurrency: 3 })
      const names = claims.flat().map(({ recipient }) => recipient)
      assert.strictEqual(new Set(names).size, names.length)
      assert.strictEqual(names.length, 10)
      const suppressed = claims.flat().filter(({ is_suppressed }) => is_suppressed)
      assert.deepStrictEqual(suppressed.map(({ recipient }) => String(recipient)), ["user3@example.com"])
      for (const claimed of suppressed) yield* batch.record(claimed, { _tag: "Suppressed" })
      assert.deepInclude(yield* batch.counts, { total: 10, suppressed: 1, failed: 0, waiting: 9 })
      assert.deepStrictEqual(batch.events(), ["email.suppressed"])
      assert.deepStrictEqual(yield* batch.statistics, ["suppressed 1"])
    }))

  it.effect("ignores outcomes and releases by an owner whose claims were reclaimed", () =>
    Effect.gen(function*() {
      const batch = yield* batchOf(2)
      const before = yield* batch.claim()
      yield* batch.reclaim()
      assert.deepStrictEqual(yield* batch.rows, ["queued 1", "queued 1"])
      const after = yield* batch.claim()
      for (const claimed of before) yield* batch.record(claimed, accepted)
      yield* batch.repo.releaseClaims(before)
      assert.deepStrictEqual(yield* batch.rows, ["sending 1", "sending 1"])
      assert.deepInclude(yield* batch.counts, { sent: 0, ambiguous: 2, waiting: 2 })
      for (const claimed of after) yield* batch.record(claimed, accepted)
      for (const claimed of after) yield* batch.record(claimed, accepted)
      assert.deepStrictEqual(yield* batch.rows, ["sent 2", "sent 2"])
      assert.deepInclude(yield* batch.counts, { sent: 2, waiting: 0 })
      assert.deepStrictEqual(batch.events(), ["email.sent", "email.sent", "email.bulk_completed"])
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
      assert.deepStrictEqual(yield* batch.statistics, ["failed outcome_unknown 1"])
    }))

  it.effect("counts failures by their reason, those that end without an attempt too", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { publishFailed } = yield* MessageProgress
      const batch = yield* batchOf(3)
      const [first, ...others] = yield* batch.claim()
      assert.isDefined(first)
      yield* batch.record(first, { _tag: "Unsendable", reason: "The text is damaged." })
      const errors = [interrupted, obstacles.subscription_expired]
      for (const [index, { id }] of others.entries()) {
        yield* sql`update email_messages set status = 'failed', error = ${
          errors[index]
        }, completed_at = now() where id = ${id}`
      }
      yield* publishFailed(others.map(({ id }) => id))
      assert.deepStrictEqual(yield* batch.statistics, [
        "failed outcome_unknown 1",
        "failed subscription_expired 1",
        "failed unsendable 1"
      ])
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
      if (first === undefined || second === undefined) return assert.fail("two recipients were not claimed")
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
      const batches = yield* Effect.replicateEffect(batchOf(300, { account: accountId }), 3)
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

  it.effect("a batch ends later than a recipient whose outcome is committed while the last one waits for the batch", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const batch = yield* batchOf(2)
      const [first, last] = yield* batch.claim()
      assert.isDefined(first)
      assert.isDefined(last)
      yield* batch.record(first, accepted)
      const locked = yield* Deferred.make<void>()
      const recording = yield* Effect.forkChild(
        Effect.andThen(Deferred.await(locked), batch.record(last, accepted))
      )
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`select from email_batches where id = ${batch.id} for update`
        yield* Deferred.succeed(locked, undefined)
        yield* eventually(
          sql`select from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`,
          (waiting) => waiting.length === 1
        )
        yield* sql`update email_messages set completed_at = clock_timestamp() where id = ${first.id}`
      }))
      yield* Fiber.join(recording)
      const ends = sql`select b.completed_at > max(m.completed_at) as is_later
        from email_batches b join email_messages m on m.batch_id = b.id where b.id = ${batch.id} group by b.id`
      assert.deepStrictEqual(yield* ends, [{ is_later: true }])
    }))

  it.effect("completes a batch with the outcome of its last recipient, once, and counts suppressed ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const completed = Effect.fnUntraced(function*(outcomes: ReadonlyArray<SendOutcome>, isCanceled = false) {
        const { accountId } = yield* makeAccount()
        yield* sql`insert into suppressions (account_id, email, reason) values (${accountId}, 'user0@example.com', 'manual')`
        const batch = yield* batchOf(outcomes.length + 1, { account: accountId })
        const claimed = yield* batch.claim()
        if (isCanceled) yield* batch.repo.cancel(batch.id)
        yield* Effect.forEach(claimed, (one, index) => batch.record(one, outcomes[index] ?? accepted))
        const ends = published.filter((event) =>
          event.accountId === accountId && event.event === "email.bulk_completed"
        )
        const [row] = yield* sql`select status, completed_at from email_batches where id = ${batch.id}`
        assert.isTrue(Option.isNone(yield* batch.repo.complete(batch.id)), "it has ended already")
        const { completed_at, status } = row ?? {}
        return {
          status,
          data: ends.map(({ data }) => ({
            ...data,
            completed_at: "completed_at" in data && data.completed_at === completed_at
          }))
        }
      })
      const counts = {
        batch_id: expect.any(String),
        tags: [],
        metadata: {},
        failed: 0,
        suppressed: 1,
        canceled: 0,
        completed_at: true
      }
      const all = { ...counts, total: 3, sent: 2 }
      expect(yield* completed([accepted, accepted])).toEqual({ status: "completed", data: [all] })
      expect(yield* completed([accepted], true)).toEqual({ status: "canceled", data: [{ ...all, total: 2, sent: 1 }] })
      expect(yield* completed([gone])).toEqual({ status: "failed", data: [{ ...all, total: 2, sent: 0, failed: 1 }] })
    }))

  it.effect("inserts recipients as claimed by this node, apart from suppressed ones, in the order of the request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* sql`insert into suppressions (account_id, email, reason) values (${accountId}, 'user1@example.com', 'manual')`
      const batch = yield* batchOf(3, { account: accountId, isClaimed: true })
      assert.strictEqual(batch.inserted.queued, 2)
      const names = batch.inserted.claimed.map(({ recipient }) => recipient).toSorted()
      assert.deepStrictEqual(names, ["user0@example.com", "user2@example.com"])
      assert.deepStrictEqual(yield* batch.rows, ["sending 0", "suppressed 0", "sending 0"])
      assert.deepStrictEqual(yield* batch.claim(), [])
      yield* batch.reclaim(Duration.seconds(60))
      assert.deepStrictEqual(yield* batch.rows, ["sending 0", "suppressed 0", "sending 0"])
      for (const claimed of batch.inserted.claimed) yield* batch.record(claimed, accepted)
      assert.deepInclude(yield* batch.counts, { total: 3, sent: 2, suppressed: 1, waiting: 0 })
      assert.include(batch.events(), "email.bulk_completed")
    }))

  it.effect("finds batches of its shards with work and no worker, in turns of the accounts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId: account } = yield* makeAccount()
      const [fresh, waiting, claimed, orphaned, done, canceled, elsewhere, other] = yield* Effect.all([
        batchOf(1, { account, shard: 7, isSmall: true }),
        batchOf(1, { account, shard: 7 }),
        batchOf(1, { account, shard: 7, isClaimed: true }),
        batchOf(1, { account, shard: 7, isClaimed: true }),
        batchOf(1, { account, shard: 7, isClaimed: true, isSmall: true }),
        batchOf(1, { account, shard: 7, isSmall: true }),
        batchOf(1, { account, shard: 8 }),
        batchOf(1, { shard: 7, isSmall: true })
      ])
      yield* sql`update email_messages set due_at = now() + interval '1 minute' where batch_id in (${waiting.id}, ${canceled.id})`
      yield* sql`update email_messages set due_at = now() - interval '61 seconds' where batch_id = ${orphaned.id}`
      yield* sql`update email_messages set status = 'sent' where batch_id = ${done.id}`
      yield* canceled.repo.cancel(canceled.id)
      const batches = { fresh, waiting, claimed, orphaned, done, canceled, elsewhere, other }
      const found = (except: ReadonlyArray<EmailBatchId>, limit = 50) =>
        Effect.map(
          fresh.repo.findWaiting({ shards: [7], except, claimedFor: Duration.seconds(60), limit }),
          (rows) => rows.map(({ id }) => Object.entries(batches).find(([, batch]) => batch.id === id)?.[0])
        )
      assert.sameMembers(yield* found([]), ["fresh", "orphaned", "done", "canceled", "other"])
      assert.sameMembers(yield* found([fresh.id, done.id]), ["orphaned", "canceled", "other"])
      assert.sameMembers(yield* found([], 2), ["fresh", "other"])
      const request = { shards: [7], except: [], claimedFor: Duration.seconds(60), limit: 50 }
      const rows = yield* fresh.repo.findWaiting(request)
      const small = rows.filter(({ is_small }) => is_small).map(({ id }) => id)
      assert.sameMembers(small, [fresh.id, other.id], "an actor ends the others")
    }))
})
