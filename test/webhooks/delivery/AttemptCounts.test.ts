import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DeliveryId, type WebhookId } from "../../../src/values/Ids.ts"
import * as AttemptCounts from "../../../src/webhooks/delivery/AttemptCounts.ts"
import { transition } from "../../../src/webhooks/delivery/DeliveryState.ts"
import { eventually } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { storedWebhook } from "../../support/webhookHealth.ts"

/** An attempt that took this long, and got this answer. */
const attempt = (webhookId: WebhookId, durationMs: number, status = 200) => ({
  webhookId,
  deliveryId: DeliveryId.make(1),
  claimedAt: null,
  startedAt: 1_896_080_400_000,
  durationMs,
  responseBody: null,
  retryAfter: null,
  transition: transition(
    { status: "pending", attempt_count: 0, is_test: false, all_gone: false },
    { _tag: "Answered", status },
    "standard"
  )
})

const countsOf = (webhook: WebhookId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`select duration, sum(succeeded)::int as succeeded, sum(failed)::int as failed from webhook_attempt_counts
      where webhook_id = ${webhook} group by duration order by duration`
  )

/** Lets two seconds pass again and again until the rows are as expected. */
const passing = <A, E, R>(rows: Effect.Effect<A, E, R>, areExpected: (rows: A) => boolean) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const pass = Effect.provideService(TestClock.adjust("2 seconds"), Clock.Clock, clock)
    return eventually(Effect.andThen(pass, rows), areExpected)
  })

const stored = (webhook: WebhookId, rows: number) => passing(countsOf(webhook), ({ length }) => length === rows)

layer(TestDatabase.layer)("AttemptCounts", (it) => {
  it.effect("adds the attempts of two seconds to the figures, by outcome and duration", () =>
    Effect.gen(function*() {
      const count = yield* AttemptCounts.make
      const [one, other] = [(yield* storedWebhook).id, (yield* storedWebhook).id]
      const attempts = [
        attempt(one, 0),
        attempt(one, 1),
        attempt(one, 100),
        attempt(one, 101, 500),
        attempt(other, 1000, 410)
      ]
      for (const each of attempts) count(each)
      assert.deepStrictEqual(yield* countsOf(one), [])
      // Four times the binary logarithm of 100 and 101 is below 27, that of 1,000 below 40.
      assert.deepStrictEqual(yield* stored(one, 2), [
        { duration: 0, succeeded: 2, failed: 0 },
        { duration: 27, succeeded: 1, failed: 1 }
      ])
      assert.deepStrictEqual(yield* stored(other, 1), [{ duration: 40, succeeded: 0, failed: 1 }])
      count(attempt(one, 1))
      count(attempt(one, 300))
      assert.deepInclude((yield* stored(one, 3))[0], { duration: 0, succeeded: 3 })
    }))

  it.effect("keeps the attempts while the database refuses them, and adds each of them once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const count = yield* AttemptCounts.make
      const { id: webhook } = yield* storedWebhook
      // A refusal undoes all but the step of the sequence.
      yield* sql`create sequence refusals`
      yield* sql`create function refuse() returns trigger language plpgsql as
        'begin perform nextval(''refusals''); raise exception ''no''; end'`
      yield* sql`create trigger refusal before insert on webhook_attempt_counts execute function refuse()`
      count(attempt(webhook, 1))
      yield* passing(sql`select last_value::int as refused from refusals`, ([row]) => Number(row?.["refused"]) >= 2)
      count(attempt(webhook, 1))
      count(attempt(webhook, 2))
      yield* passing(sql`select last_value::int as refused from refusals`, ([row]) => Number(row?.["refused"]) >= 4)
      assert.deepStrictEqual(yield* countsOf(webhook), [])
      yield* sql`drop function refuse() cascade`
      assert.deepStrictEqual(yield* stored(webhook, 2), [
        { duration: 0, succeeded: 2, failed: 0 },
        { duration: 4, succeeded: 1, failed: 0 }
      ])
    }))

  it.effect("leaves out a webhook that was removed meanwhile, and adds the attempts of the others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const count = yield* AttemptCounts.make
      const [gone, other] = [(yield* storedWebhook).id, (yield* storedWebhook).id]
      count(attempt(gone, 1))
      count(attempt(other, 1))
      yield* sql`delete from webhooks where id = ${gone}`
      yield* stored(other, 1)
      assert.deepStrictEqual(yield* countsOf(gone), [])
    }))

  it.effect("adds what it has counted when its node stops", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const count = yield* AttemptCounts.make.pipe(Scope.provide(scope))
      const { id: webhook } = yield* storedWebhook
      count(attempt(webhook, 1))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* countsOf(webhook), [{ duration: 0, succeeded: 1, failed: 0 }])
    }))
})
