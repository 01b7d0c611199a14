import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Queue, Redacted, Scope } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../src/platform/crypto/ids.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { PublicUrl } from "../../../src/platform/http/PublicUrl.ts"
import {
  type PostRequest,
  type PostResponse,
  PublicHttp,
  PublicHttpFailure
} from "../../../src/platform/net/PublicHttp.ts"
import { DeliveryId, WebhookId } from "../../../src/values/Ids.ts"
import { DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { DeliveryBudget } from "../../../src/webhooks/delivery/InFlightDeliveries.ts"
import { LocalDispatch } from "../../../src/webhooks/delivery/LocalDispatch.ts"
import type { ClaimedDelivery } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { webhookActor } from "../../../src/webhooks/delivery/WebhookActor.ts"
import { WebhookEntity } from "../../../src/webhooks/delivery/WebhookEntity.ts"
import { UnhealthyNotifier } from "../../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import * as WebhookSecret from "../../../src/webhooks/endpoint/WebhookSecret.ts"
import { Targets } from "../../../src/webhooks/endpoint/WebhooksRepo.ts"
import { RecoveryRepo } from "../../../src/webhooks/recovery/RecoveryRepo.ts"
import { missedEvents } from "../../support/missedEvents.ts"
import { eventually, makeAccount } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { noEvents } from "../../support/testEvents.ts"
import { longer } from "../../support/waiting.ts"

/** How endpoints respond now, and the requests that they got. */
const world: {
  respond: (request: PostRequest) => Effect.Effect<PostResponse, PublicHttpFailure>
  readonly requests: Array<Omit<PostRequest, "headers"> & { readonly headers: Readonly<Record<string, string>> }>
} = { respond: () => Effect.never, requests: [] }

const answer = (status: number): Effect.Effect<PostResponse> =>
  Effect.succeed({
    status,
    kind: status < 300 ? "success" : "refusal",
    location: undefined,
    retryAfter: undefined,
    body: Buffer.from("ok"),
    truncated: false,
    durationMs: 1
  })

const Transport = Layer.succeed(
  PublicHttp,
  PublicHttp.of({
    post: (request) =>
      Effect.suspend(() => {
        world.requests.push({ ...request, headers: request.headers() })
        return world.respond(request)
      })
  })
)

const Subject = Layer.mergeAll(
  Vault.layer(Redacted.make(new Uint8Array(32))),
  Transport,
  ShardingConfig.layer(),
  LocalDispatch.layer,
  PublicUrl.layer(0),
  UnhealthyNotifier.layer.pipe(Layer.provide(noEvents))
).pipe(Layer.provideMerge(Layer.merge(TestDatabase.layer, AppConfig.layer)))

/** A webhook with this many due deliveries. */
const webhookOf = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const { accountId } = yield* makeAccount()
  world.requests.length = 0
  const [row] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_') returning id`
  const id = WebhookId.make(Number(row?.["id"]))
  const secret = vault.seal(WebhookSecret.purpose(id), Buffer.from(`whsec_${Buffer.alloc(32, 7).toString("base64")}`))
  yield* sql`update webhooks set secret = ${secret} where id = ${id}`
  for (let event = 0; event < count; event++) {
    const name = `evt_${yield* ulid}`
    yield* sql`insert into events (id, account_id, name, body)
      values (${name}, ${accountId}, 'email.sent', ${Buffer.from(`{"event":${event}}`)})`
    yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
      values (${id}, ${name}, 'email.sent', 'pending')`
  }
  const rows = Effect.map(
    sql`select id, status, attempt_count from webhook_queue where webhook_id = ${id}
      union all select id, status, attempt_count from webhook_deliveries where webhook_id = ${id} order by id`,
    (found) => found.map((delivery) => `${String(delivery["status"])} ${String(delivery["attempt_count"])}`)
  )
  const switchTo = (active: boolean) => sql`update webhooks set is_active = ${active} where id = ${id}`
  return { id, rows, switchTo }
})

/** DeliveryOutcomes that signal each outcome once its actor knows that it is written. */
const signallingOutcomes = (written: Queue.Queue<void>) =>
  Layer.effect(
    DeliveryOutcomes,
    Effect.map(DeliveryOutcomes, ({ record }) =>
      DeliveryOutcomes.of({
        record: (attempt, done) =>
          record(attempt, (exit) => {
            done(exit)
            Queue.offerUnsafe(written, undefined)
          })
      }))
  ).pipe(Layer.provide(DeliveryOutcomes.layer))

/** Targets that signal each read once its actor has the result. */
const signallingTargets = (read: Queue.Queue<void>) =>
  Layer.effect(
    Targets,
    Effect.map(Targets, (targets) =>
      Targets.of({ read: (id) => Effect.tap(targets.read(id), () => Queue.offer(read, undefined)) }))
  ).pipe(Layer.provide(Targets.layer))

/** A budget that calls this whenever an actor looks for room, which it does in each round. */
const countingBudget = (looked: () => void) =>
  Layer.effect(
    DeliveryBudget,
    Effect.map(DeliveryBudget, (budget) =>
      DeliveryBudget.of({
        ...budget,
        hasRoomFor: (count) => {
          looked()
          return budget.hasRoomFor(count)
        }
      }))
  ).pipe(Layer.provide(DeliveryBudget.layer))

/** The actor of a webhook in a separate scope; closing it is the shutdown of a node. */
const actorOf = Effect.fnUntraced(function*(id: WebhookId) {
  const written = yield* Queue.unbounded<void>()
  const read = yield* Queue.unbounded<void>()
  let looks = 0
  const { actors } = yield* LocalDispatch
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const client = yield* Entity.makeTestClient(
    WebhookEntity,
    webhookActor(Duration.zero).pipe(
      Layer.provide([signallingOutcomes(written), countingBudget(() => looks++), signallingTargets(read)])
    )
  ).pipe(Scope.provide(scope))
  const { Wake } = yield* client(String(id))
  const change = Wake({ reason: "changed" })
  return {
    wake: Wake({ reason: "work" }),
    change,
    expectRetry: Wake({ reason: "waiting" }),
    shutDown: Scope.close(scope, Exit.void),
    /** How often it has looked for room. */
    looks: () => looks,
    wakeLocally: () => actors.get(id)?.wake(),
    /** Dispatches as a commit on this node does. */
    dispatch: (deliveries: ReadonlyArray<ClaimedDelivery>) => {
      const actor = actors.get(id)
      return actor === undefined ? Wake({ reason: "work" }) : Effect.sync(() => actor.accept(deliveries))
    },
    /** Waits until one more outcome is written. */
    written: Queue.take(written),
    /** Waits for the read of the next round. The present round must have read the webhook. */
    newRound: Effect.andThen(Queue.clear(read), Effect.andThen(change, Queue.take(read))),
    /** Waits for a read of the webhook that begins after now: the second, as the first may be in flight. */
    refreshed: Effect.andThen(Queue.clear(read), Effect.andThen(Queue.take(read), Queue.take(read)))
  }
})

/** Endpoints that respond once the gate is open; `first` waits for this many requests. */
const gated = Effect.fnUntraced(function*(count: number) {
  const gate = yield* Deferred.make<void>()
  const started = yield* Deferred.make<void>()
  world.respond = () =>
    Effect.andThen(
      Effect.suspend(() => world.requests.length >= count ? Deferred.succeed(started, undefined) : Effect.void),
      Effect.andThen(Deferred.await(gate), answer(200))
    )
  return { gate, first: Deferred.await(started) }
})

/** Deliveries just committed, for local dispatch: their body differs from the one in the table. */
const commit = Effect.fnUntraced(function*(id: WebhookId, count: number) {
  const sql = yield* SqlClient.SqlClient
  const name = `evt_${yield* ulid}`
  yield* sql`insert into events (id, account_id, name, body)
    select ${name}, account_id, 'email.sent', 'in the table' from webhooks where id = ${id}`
  const rows = yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
    select ${id}, ${name}, 'email.sent', 'pending' from generate_series(1, ${count}) returning id`
  return rows.map((row): ClaimedDelivery => ({
    id: DeliveryId.make(Number(row["id"])),
    event_id: name,
    event: "email.sent",
    attempt_count: 0,
    claimed_at: null,
    is_test: false,
    all_gone: true,
    body: Buffer.from("in memory")
  }))
})

/** An actor with one delivery in flight until the gate is open, and an otherwise empty table. */
const caughtUp = Effect.gen(function*() {
  const { id, rows } = yield* webhookOf(1)
  const { first, gate } = yield* gated(1)
  const { dispatch, expectRetry, refreshed, wake } = yield* actorOf(id)
  const running = yield* Effect.forkChild(wake)
  yield* first
  yield* refreshed
  return { id, rows, gate, dispatch, expectRetry, running }
})

const times = (count: number, row: string) => Array.from({ length: count }, () => row)

layer(Subject, { excludeTestServices: true })("WebhookActor", (it) => {
  it.effect("sends each due delivery once, signed, and falls asleep", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(150)
      world.respond = () => answer(204)
      const { wake } = yield* actorOf(id)
      yield* wake
      assert.deepStrictEqual(yield* rows, times(150, "delivered 1"))
      assert.strictEqual(new Set(world.requests.map(({ body }) => Buffer.from(body).toString())).size, 150)
      assert.match(world.requests[0]?.headers["X-Service-Signature"] ?? "", /^[0-9a-f]{64}$/)
      yield* wake
      assert.strictEqual(world.requests.length, 150)
    }))

  it.effect("makes its attempts at 0, 5, 35 and 155 seconds without being woken", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(1)
      const at: Array<number> = []
      world.respond = () =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          at.push(now)
          return answer(500)
        })
      const { wake, written } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      for (const delay of [5_000, 30_000, 120_000]) {
        yield* written
        // The database has a separate clock. An early poll finds the row due, so this test only finds late attempts.
        yield* sql`update webhook_queue set due_at = due_at - ${delay}::float8 * interval '1 millisecond'
          where webhook_id = ${id} and status = 'retrying'`
        yield* TestClock.adjust(delay)
      }
      yield* Fiber.join(running)
      const due = [0, 5_000, 35_000, 155_000]
      assert.isTrue(at.every((time, attempt) => time <= (due[attempt] ?? 0)), at.join())
      assert.deepStrictEqual(yield* rows, ["failed 4"])
    }).pipe(Effect.provide(TestClock.layer())))

  it.effect("makes a retry on time after the clock of the machine was set back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* TestClock.adjust("2 hours")
      const { id, rows } = yield* webhookOf(1)
      world.respond = () => answer(world.requests.length === 1 ? 500 : 200)
      const { newRound, shutDown, wake, wakeLocally, written } = yield* actorOf(id)
      yield* Effect.forkChild(Effect.exit(wake))
      yield* written
      // The first round ends with a read of the next retry. After the new time, that would plan it correctly by any clock.
      yield* newRound
      yield* sql`update webhook_queue set due_at = now() where webhook_id = ${id}`
      yield* TestClock.setTime(0)
      wakeLocally()
      // The database needs real time. By the wall clock, the retry would be due in two hours.
      const after = yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), rows), {
        until: ([row]) => row === "delivered 2",
        times: 5_000
      })
      yield* shutDown
      assert.deepStrictEqual(after, ["delivered 2"])
    }).pipe(Effect.provide(TestClock.layer())))

  it.effect("falls asleep while its only retry is hours away, and sends that when it is woken later", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(1)
      yield* sql`update webhooks set retry_policy = 'extended' where id = ${id}`
      yield* sql`update webhook_queue set status = 'retrying', attempt_count = 4 where webhook_id = ${id}`
      world.respond = () => answer(500)
      const { wake } = yield* actorOf(id)
      yield* wake
      assert.deepStrictEqual(yield* rows, ["retrying 5"])
      yield* wake
      assert.deepStrictEqual(yield* rows, ["retrying 5"])
      world.respond = () => answer(200)
      yield* sql`update webhook_queue set due_at = now() where webhook_id = ${id}`
      yield* wake
      assert.deepStrictEqual(yield* rows, ["delivered 6"])
    }))

  it.effect("reclaims and resends deliveries that an earlier owner claimed and never settled", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(3)
      yield* sql`update webhook_queue set status = 'taken', attempt_count = 1 where webhook_id = ${id}`
      world.respond = () => answer(200)
      yield* (yield* actorOf(id)).wake
      assert.deepStrictEqual(yield* rows, times(3, "delivered 2"))
      assert.deepStrictEqual(world.requests.map(({ headers }) => headers["X-Service-Attempt"]), ["2", "2", "2"])
    }))

  it.effect("fails a waiting delivery without a request when its payload has expired, and sends the rest", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(3)
      const attempt = JSON.stringify([{ attempt: 1, response_code: 500, error: "http_status" }])
      yield* sql`delete from events
        where id in (select event_id from webhook_queue where webhook_id = ${id} order by id limit 2)`
      yield* sql`update webhook_queue set status = 'retrying', attempt_count = 1, attempts = ${attempt}::text::jsonb
        where id = (select max(id) - 1 from webhook_queue where webhook_id = ${id})`
      world.respond = () => answer(200)
      yield* (yield* actorOf(id)).wake
      assert.deepStrictEqual(yield* rows, ["failed 0", "failed 1", "delivered 1"])
      assert.lengthOf(world.requests, 1)
      assert.deepStrictEqual(
        yield* sql`select error from webhook_deliveries where webhook_id = ${id} and status = 'failed' order by id`,
        [{ error: null }, { error: "http_status" }]
      )
    }))

  it.effect("counts a request that dies as a failed attempt and continues with the others", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(3)
      world.respond = ({ body }) =>
        Buffer.from(body).includes("1") ? Effect.die("broken") : Buffer.from(body).includes("2")
          ? Effect.fail(new PublicHttpFailure({ reason: "connection_refused", detail: "no", durationMs: 1 }))
          : answer(200)
      const { shutDown, wake } = yield* actorOf(id)
      yield* Effect.forkChild(Effect.exit(wake))
      // A retry may have begun already.
      const statuses = Effect.map(rows, (now) => now.map((row) => row.replace(/^(?:retrying|taken) \d$/, "retrying")))
      const expected = ["delivered 1", "retrying", "retrying"]
      assert.deepStrictEqual(yield* eventually(statuses, (now) => now.join() === expected.join()), expected)
      yield* shutDown
    }))

  it.effect("finishes attempts in flight when the webhook is disabled, and sends the rest once it is active", () =>
    Effect.gen(function*() {
      const { id, rows, switchTo } = yield* webhookOf(30)
      const { first, gate } = yield* gated(8)
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* switchTo(false)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      const delivered = (yield* rows).filter((row) => row === "delivered 1").length
      assert.isAtLeast(delivered, 8)
      yield* wake
      yield* switchTo(true)
      yield* wake
      assert.deepStrictEqual(yield* rows, times(30, "delivered 1"))
      assert.strictEqual(world.requests.length, 30)
    }))

  it.effect("starts no further attempt after the webhook is deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* webhookOf(30)
      const { first, gate } = yield* gated(8)
      const { actors } = yield* LocalDispatch
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* sql`delete from webhooks where id = ${id}`
      actors.get(id)?.wake()
      const left = sql`select from webhook_queue where webhook_id = ${id} and status = 'taken'`
      yield* eventually(left, (rows) => rows.length === 8)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("sends deliveries that have not started to the new URL after it changes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(20)
      const { first, gate } = yield* gated(8)
      const { refreshed, change, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* sql`update webhooks set url = 'https://elsewhere.example/' where id = ${id}`
      yield* change
      yield* refreshed
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(20, "delivered 1"))
      const hosts = world.requests.map(({ url }) => new URL(url).host)
      assert.deepStrictEqual(hosts, [...times(8, "hooks.example"), ...times(12, "elsewhere.example")])
    }))

  it.effect("lowers concurrency to one while the endpoint fails and raises it again when it recovers", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(200)
      const open = new Set<PostRequest>()
      const inFlight: Array<number> = []
      world.respond = (request) =>
        Effect.gen(function*() {
          open.add(request)
          inFlight.push(open.size)
          yield* Effect.sleep("2 millis")
          open.delete(request)
          return yield* answer(world.requests.length > 60 ? 200 : 500)
        })
      const { shutDown, wake } = yield* actorOf(id)
      yield* Effect.forkChild(Effect.exit(wake))
      yield* eventually(rows, (now) => !now.some((row) => row === "pending 0" || row === "taken 0"), longer.load)
      assert.deepStrictEqual([Math.max(...inFlight.slice(0, 20)), Math.max(...inFlight.slice(40, 60))], [8, 1])
      assert.isAtLeast(Math.max(...inFlight.slice(150)), 6)
      yield* shutDown
    }))

  it.effect("writes attempts in flight and releases the rest when its node shuts down", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(30)
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      world.respond = () =>
        Effect.andThen(
          Effect.suspend(() => world.requests.length >= 8 ? Deferred.succeed(started, undefined) : Effect.void),
          Effect.andThen(Deferred.await(gate), Effect.delay(answer(200), "100 millis"))
        )
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* Deferred.await(started)
      const leaving = yield* Effect.forkChild(Fiber.interrupt(running))
      const { actors } = yield* LocalDispatch
      yield* eventually(Effect.sync(() => actors.has(id)), (isAwake) => !isAwake)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(leaving)
      const settled = eventually(rows, (now) => !now.some((row) => row.startsWith("taken")))
      assert.deepStrictEqual((yield* settled).toSorted(), [...times(8, "delivered 1"), ...times(22, "pending 0")])
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("skips claimed deliveries that have not started, and failed ones, when the webhook becomes unhealthy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(150)
      const gate = yield* Deferred.make<void>()
      world.respond = ({ body }) =>
        Effect.andThen(Deferred.await(gate), answer(Buffer.from(body).toString() === "{\"event\":0}" ? 500 : 200))
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      const seen = (row: string, count: number) =>
        eventually(rows, (now) => now.filter((one) => one === row).length >= count)
      yield* seen("taken 0", 100)
      yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${id}`
      yield* seen("skipped 0", 142)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      const ended = [...times(7, "delivered 1"), ...times(142, "skipped 0"), "skipped 1"]
      assert.deepStrictEqual((yield* rows).toSorted(), ended)
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("resumes a webhook that was suspended for a backlog that is now empty", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* webhookOf(0)
      yield* sql`update webhooks set unhealthy_reason = 'backlog_full' where id = ${id}`
      const { wake } = yield* actorOf(id)
      yield* wake
      assert.deepStrictEqual(yield* sql`select unhealthy_reason from webhooks where id = ${id}`, [
        { unhealthy_reason: null }
      ])
    }))

  it.effect("suspends a webhook whose backlog are retries alone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { expectRetry, gate, id, running } = yield* caughtUp
      yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, attempt_count, due_at)
        select ${id}::bigint, 'evt_1', 'email.sent', 'retrying', 4, now() + interval '1 hour' from generate_series(1, 100)`
      yield* expectRetry
      // The next count is five seconds after the first one. By then the actor has caught up with the table.
      yield* eventually(
        sql`select unhealthy_reason from webhooks where id = ${id}`,
        ([row]) => row?.["unhealthy_reason"] === "backlog_full"
      ).pipe(Effect.ensuring(Deferred.succeed(gate, undefined)))
      yield* Fiber.join(running)
    }).pipe(Effect.updateService(AppConfig, (config) => ({ ...config, webhookPendingLimit: 100 }))))

  it.effect("counts a recovery that was started while it sent the events of a canceled one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { cancel, countMore, insert } = yield* RecoveryRepo
      const { id } = yield* webhookOf(0)
      const [webhook] = yield* sql`select account_id from webhooks where id = ${id}`
      const missed = yield* missedEvents({ accountId: Number(webhook?.["account_id"]), webhookId: id, count: 1_600 })
      const started = Effect.map(
        insert({
          webhookId: id,
          since: "2020-01-01T00:00:00Z",
          until: null,
          statuses: ["failed", "skipped"],
          event: null,
          response_code: null,
          retentionDays: 7
        }),
        Option.getOrThrow
      )
      const [first, rest] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      world.respond = () => Effect.andThen(Deferred.await(world.requests.length <= 900 ? first : rest), answer(200))
      const canceled = yield* started
      yield* countMore(id)
      const { change, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* eventually(Effect.sync(() => world.requests.length), (count) => count === 8)
      yield* cancel({ webhookId: id, id: canceled.id })
      const next = yield* started
      // Its start has counted 500 events of 1,100, as it counts 50,000 of more.
      yield* sql`update webhook_recoveries set total = 500, counted_to = ${missed[999] ?? ""} where id = ${next.id}`
      yield* change
      yield* Deferred.succeed(first, undefined)
      const count = sql`select total, counted_to from webhook_recoveries where id = ${next.id}`
      yield* eventually(count, ([row]) => row?.["counted_to"] === null).pipe(
        Effect.tap(([row]) => Effect.sync(() => assert.strictEqual(Number(row?.["total"]), 1_100))),
        Effect.ensuring(Deferred.succeed(rest, undefined))
      )
      yield* Fiber.join(running)
    }).pipe(Effect.provide(RecoveryRepo.layer)))

  it.effect("sends locally dispatched deliveries from memory once it has caught up with the table", () =>
    Effect.gen(function*() {
      const { gate, dispatch, id, rows, running } = yield* caughtUp
      yield* dispatch(yield* commit(id, 20))
      assert.deepStrictEqual(yield* rows, ["taken 0", ...times(20, "pending 0")])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(21, "delivered 1"))
      const bodies = world.requests.map(({ body }) => Buffer.from(body).toString())
      assert.deepStrictEqual(bodies, ["{\"event\":0}", ...times(20, "in memory")])
    }))

  it.effect("sends a delivery once that is dispatched during a claim", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(1)
      world.respond = () => answer(200)
      const { dispatch, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      for (let count = 1; count <= 40; count++) yield* dispatch(yield* commit(id, 1))
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(41, "delivered 1"))
      assert.lengthOf(world.requests, 41)
    }))

  it.effect("does not resend a delivery that it claimed before its local dispatch", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(1)
      const gate = yield* Deferred.make<void>()
      world.respond = () =>
        world.requests.length === 1 ? Effect.andThen(Deferred.await(gate), answer(200)) : answer(200)
      const { dispatch, wakeLocally, refreshed, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* refreshed
      const committed = yield* commit(id, 3)
      wakeLocally()
      yield* eventually(rows, (now) => now.filter((row) => row === "delivered 1").length === 3)
      yield* dispatch([...committed, ...yield* commit(id, 2)])
      yield* eventually(rows, (now) => now.filter((row) => row === "delivered 1").length === 5)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(6, "delivered 1"))
      const bodies = world.requests.map(({ body }) => Buffer.from(body).toString())
      assert.deepStrictEqual(bodies, ["{\"event\":0}", ...times(3, "in the table"), ...times(2, "in memory")])
    }))

  it.effect("leaves deliveries without room in the table and sends them in order", () =>
    Effect.gen(function*() {
      const { gate, dispatch, id, rows, running } = yield* caughtUp
      for (let count = 0; count < 3; count++) yield* dispatch(yield* commit(id, 200))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(601, "delivered 1"))
      const inMemory = world.requests.filter(({ body }) => Buffer.from(body).toString() === "in memory")
      assert.deepStrictEqual([world.requests.length, inMemory.length], [601, 400])
    }))

  it.effect("sends a due retry although more first attempts wait than memory has room for", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(700)
      const { first, gate } = yield* gated(8)
      const { expectRetry, refreshed, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* sql`update webhook_queue set status = 'retrying', attempt_count = 1, due_at = now()
        where id = (select max(id) from webhook_queue where webhook_id = ${id})`
      yield* expectRetry
      yield* refreshed
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      const place = world.requests.findIndex(({ body }) => Buffer.from(body).toString() === "{\"event\":699}")
      assert.isTrue(place >= 0 && place < 100, `sent as number ${place}`)
      assert.deepStrictEqual(yield* rows, [...times(699, "delivered 1"), "delivered 2"])
    }))

  it.effect("does nothing while more retries are due than memory has room for", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(200)
      yield* sql`update webhook_queue set status = 'retrying', attempt_count = 1, due_at = now() where webhook_id = ${id}`
      const { first, gate } = yield* gated(8)
      const { looks, refreshed, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* refreshed
      const before = looks()
      yield* refreshed
      const rounds = looks() - before
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.isBelow(rounds, 20)
      assert.deepStrictEqual(yield* rows, times(200, "delivered 2"))
    }))

  it.effect("skips locally dispatched deliveries that have not started when the webhook becomes unhealthy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { gate, dispatch, id, rows, running } = yield* caughtUp
      yield* dispatch(yield* commit(id, 20))
      yield* eventually(Effect.sync(() => world.requests.length), (count) => count === 8)
      yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${id}`
      yield* eventually(rows, (now) => now.filter((row) => row === "skipped 0").length >= 13)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual((yield* rows).toSorted(), [...times(8, "delivered 1"), ...times(13, "skipped 0")])
      assert.lengthOf(world.requests, 8)
    }))

  it.effect("reclaims deliveries whose claim was committed without an answer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(2)
      world.respond = () => answer(200)
      const { wake } = yield* actorOf(id)
      // The claiming statement ends its session; afterwards its effect is restored by hand. A sequence survives the
      // rollback.
      yield* sql`create sequence cuts`
      yield* sql`create function cut() returns trigger language plpgsql as
        'begin perform nextval(''cuts''), pg_terminate_backend(pg_backend_pid()); return null; end'`
      yield* sql`create constraint trigger cut after update on webhook_queue deferrable initially deferred
        for each row when (new.status = 'taken') execute function cut()`
      const running = yield* Effect.forkChild(wake)
      yield* eventually(sql`select from cuts where is_called`, (rows) => rows.length === 1)
      yield* sql.withTransaction(Effect.andThen(
        sql`drop trigger cut on webhook_queue`,
        sql`update webhook_queue set status = 'taken' where webhook_id = ${id}`
      ))
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(2, "delivered 1"))
    }))
})
