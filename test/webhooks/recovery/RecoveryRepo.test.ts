import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookId } from "../../../src/values/Ids.ts"
import { countSize, RecoveryRepo } from "../../../src/webhooks/recovery/RecoveryRepo.ts"
import { missedEvents } from "../../support/missedEvents.ts"
import { plansOf, rowsRead } from "../../support/plans.ts"
import { makeAccount } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Subject = RecoveryRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer))

const unfiltered = { event: null, response_code: null }

/** A webhook that has missed this many events, with a running recovery. */
const recovering = Effect.fnUntraced(function*(
  count: number,
  statuses: ReadonlyArray<"failed" | "skipped">,
  filter: { readonly event: string | null; readonly response_code: string | null } = unfiltered
) {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_') returning id`
  const webhookId = WebhookId.make(Number(row?.["id"]))
  const missed = yield* missedEvents({ accountId, webhookId, count })
  const repo = yield* RecoveryRepo
  const span = { webhookId, since: "2020-01-01T00:00:00Z", until: null, statuses, ...filter, retentionDays: 8 }
  const started = yield* repo.insert(span)
  assert.isTrue(Option.isSome(started))
  const queue = Effect.map(
    sql`select event_id from webhook_queue where webhook_id = ${webhookId} order by id`,
    (rows) => rows.map(({ event_id }) => String(event_id))
  )
  return { webhookId, missed, queue, span }
})

layer(Subject, { excludeTestServices: true })("RecoveryRepo", (it) => {
  it.effect("two owners that advance a recovery at the same time queue each event once, in order", () =>
    Effect.gen(function*() {
      const { missed, queue, webhookId } = yield* recovering(1_000, ["failed", "skipped"])
      const repo = yield* RecoveryRepo
      const drain = Effect.gen(function*() {
        for (let portion = 0; portion < 100; portion++) {
          if ((yield* repo.advance({ webhookId, size: 30 })).is_queued !== false) break
        }
      })
      yield* Effect.all([drain, drain, drain], { concurrency: 3 })
      assert.deepStrictEqual(yield* queue, missed)
    }))

  it.effect("skips thousands of events of another status a portion at a time", () =>
    Effect.gen(function*() {
      const { missed, queue, webhookId } = yield* recovering(12_000, ["skipped"])
      const sql = yield* SqlClient.SqlClient
      // One skipped event remains, at the end.
      yield* sql`update webhook_deliveries set status = 'failed'
        where webhook_id = ${webhookId} and event_id <> ${missed.at(-1) ?? ""}`
      const repo = yield* RecoveryRepo
      const portions: Array<unknown> = []
      for (let isQueued: boolean | null = false; isQueued === false;) {
        const { is_queued, queued } = yield* repo.advance({ webhookId, size: 100 })
        portions.push(queued)
        isQueued = is_queued
      }
      assert.deepStrictEqual(portions, [0, 1])
      assert.deepStrictEqual(yield* queue, missed.slice(-1))
    }))

  it.effect("keeps its filter in its row, so any node counts and queues the deliveries of its event and answer alone", () =>
    Effect.gen(function*() {
      const filter = { event: "email.sent", response_code: "5xx" }
      const { missed, queue, span, webhookId } = yield* recovering(12_000, ["failed", "skipped"], filter)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_deliveries set event = 'email.sent', response_code = 404 where webhook_id = ${webhookId}`
      // Near the end are two of the event and the answer, one of another event, and one without an answer.
      const near: ReadonlyArray<readonly [event: string, code: number | null]> = [
        ["email.sent", 503],
        ["email.sent", 500],
        ["email.bounced", 503],
        ["email.sent", null]
      ]
      yield* Effect.forEach(
        near,
        ([event, code], place) =>
          sql`update webhook_deliveries set event = ${event}, response_code = ${code}
          where webhook_id = ${webhookId} and event_id = ${missed.at(place - near.length) ?? ""}`
      )
      const repo = yield* RecoveryRepo
      assert.deepInclude(yield* repo.preview(span), { total: 2, is_total_exact: true })
      yield* repo.countMore(webhookId)
      assert.deepInclude(Option.getOrThrow(yield* repo.findRunning(webhookId)), { total: 2, ...filter })
      const portions: Array<unknown> = []
      for (let isQueued: boolean | null = false; isQueued === false;) {
        const { is_queued, queued } = yield* repo.advance({ webhookId, size: 100 })
        portions.push(queued)
        isQueued = is_queued
      }
      assert.deepStrictEqual(portions, [0, 2])
      assert.deepStrictEqual(yield* queue, missed.slice(-4, -2))
    }))

  it.effect("finds what is left by an index, whatever its filter, among thousands of delivered ones", () =>
    Effect.gen(function*() {
      const filter = { event: "email.bulk_completed", response_code: "503" }
      const { span, webhookId } = yield* recovering(20, ["failed"], filter)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_deliveries set response_code = 503 where webhook_id = ${webhookId}`
      yield* sql`insert into webhook_deliveries
          (webhook_id, id, event_id, event, status, attempt_count, response_code, created_at)
        select webhook_id, nextval('webhook_delivery_ids'), event_id || n, event, 'delivered', 1, 200, created_at
        from webhook_deliveries, generate_series(1, 1000) n where webhook_id = ${webhookId}`
      yield* sql`analyze webhook_deliveries`
      const repo = yield* RecoveryRepo
      const plans = [
        ...(yield* plansOf(repo.preview(span))),
        ...(yield* plansOf(repo.countMore(webhookId))),
        ...(yield* plansOf(repo.advance({ webhookId, size: 5 })))
      ]
      assert.strictEqual(plans.length, 3)
      for (const plan of plans) {
        assert.match(plan, /_webhook_id_event_id_status_idx/, plan)
        // The pace is an estimate from a thousand recent deliveries, which count twice.
        assert.isBelow(rowsRead(plan), 2_500, plan)
      }
    }))

  it.effect("counts more events than one statement reads, and completes a recovery without events", () =>
    Effect.gen(function*() {
      const { webhookId } = yield* recovering(countSize + 10, ["failed", "skipped"])
      const repo = yield* RecoveryRepo
      assert.deepStrictEqual(yield* repo.countMore(webhookId), Option.some({ is_counted: false }))
      const half = yield* repo.findRunning(webhookId)
      assert.deepInclude(Option.getOrThrow(half), { total: countSize, is_total_exact: false })
      assert.deepStrictEqual(yield* repo.countMore(webhookId), Option.some({ is_counted: true }))
      assert.deepInclude(Option.getOrThrow(yield* repo.findRunning(webhookId)), {
        total: countSize + 10,
        is_total_exact: true
      })
      const empty = yield* recovering(0, ["failed"])
      assert.deepStrictEqual(yield* repo.advance({ webhookId: empty.webhookId, size: 10 }), {
        queued: 0,
        is_queued: true,
        is_counted: false
      })
      assert.isTrue(Option.isNone(yield* repo.findRunning(empty.webhookId)))
    }))

  it.effect("a webhook without a recovery has nothing to queue", () =>
    Effect.gen(function*() {
      const repo = yield* RecoveryRepo
      const nothing = { queued: 0, is_queued: null, is_counted: false }
      assert.deepStrictEqual(yield* repo.advance({ webhookId: WebhookId.make(1e9), size: 10 }), nothing)
      assert.isTrue(Option.isNone(yield* repo.countMore(WebhookId.make(1e9))))
    }))
})
