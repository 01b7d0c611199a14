import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Queue, Redacted, Scope } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../src/platform/crypto/ulid.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import {
  type PostRequest,
  type PostResponse,
  PublicHttp,
  PublicHttpFailure
} from "../../../src/platform/net/PublicHttp.ts"
import { DeliveryId, WebhookId } from "../../../src/values/Ids.ts"
import { DeliveryBudget } from "../../../src/webhooks/delivery/DeliveryBudget.ts"
import { DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { LocalDispatch } from "../../../src/webhooks/delivery/LocalDispatch.ts"
import type { Taken } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { webhookActor } from "../../../src/webhooks/delivery/WebhookActor.ts"
import { WebhookEntity } from "../../../src/webhooks/delivery/WebhookEntity.ts"
import { sealedSecret } from "../../../src/webhooks/endpoint/sealedSecret.ts"
import { Targets } from "../../../src/webhooks/endpoint/Targets.ts"
import { UnhealthyNotifier } from "../../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import { eventually, makeAccount } from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** What endpoints answer now, and what they were asked. */
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
  UnhealthyNotifier.layer
).pipe(Layer.provideMerge(Layer.merge(TestDatabase.layer, AppConfig.layer)))

/** A webhook with so many deliveries that are due. */
const webhookOf = Effect.fnUntraced(function*(count: number) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const { accountId } = yield* makeAccount()
  world.requests.length = 0
  const [row] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    values (${accountId}, 'https://hooks.example/', array['*'], '', 'whsec_') returning id`
  const id = WebhookId.make(Number(row?.["id"]))
  const secret = vault.seal(sealedSecret(id), Buffer.from(`whsec_${Buffer.alloc(32, 7).toString("base64")}`))
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

/** DeliveryOutcomes that tell of each when its actor knows that it is written. */
const heardOutcomes = (written: Queue.Queue<void>) =>
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

/** Webhooks as they are read, each told of when its actor has it. */
const heardTargets = (read: Queue.Queue<void>) =>
  Layer.effect(
    Targets,
    Effect.map(Targets, (targets) =>
      Targets.of({ read: (id) => Effect.tap(targets.read(id), () => Queue.offer(read, undefined)) }))
  ).pipe(Layer.provide(Targets.layer))

/** The actor of a webhook in a scope of its own, whose end is a node's leaving. */
const actorOf = Effect.fnUntraced(function*(id: WebhookId) {
  const written = yield* Queue.unbounded<void>()
  const read = yield* Queue.unbounded<void>()
  const { recipients } = yield* LocalDispatch
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const client = yield* Entity.makeTestClient(
    WebhookEntity,
    webhookActor(Duration.zero).pipe(Layer.provide([heardOutcomes(written), DeliveryBudget.layer, heardTargets(read)]))
  ).pipe(Scope.provide(scope))
  const { Wake } = yield* client(String(id))
  return {
    wake: Wake({ reason: "work" }),
    tell: Wake({ reason: "changed" }),
    leave: Scope.close(scope, Exit.void),
    nudge: () => recipients.get(id)?.nudge(),
    /** What a commit on this node does. */
    handOver: (deliveries: ReadonlyArray<Taken>) => {
      const recipient = recipients.get(id)
      return recipient === undefined ? Wake({ reason: "work" }) : Effect.sync(() => recipient.accept(deliveries))
    },
    /** The outcome of one more attempt is written. */
    written: Queue.take(written),
    /** The webhook was read by a look that began after now: the second, as the first may be under way. */
    readAnew: Effect.andThen(Queue.clear(read), Effect.andThen(Queue.take(read), Queue.take(read)))
  }
})

/** Endpoints that answer when the gate is opened; `first` returns when so many have been asked. */
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

/** Deliveries that were just committed, as they are handed over: with another body than the table has. */
const commit = Effect.fnUntraced(function*(id: WebhookId, count: number) {
  const sql = yield* SqlClient.SqlClient
  const name = `evt_${yield* ulid}`
  yield* sql`insert into events (id, account_id, name, body)
    select ${name}, account_id, 'email.sent', 'in the table' from webhooks where id = ${id}`
  const rows = yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
    select ${id}, ${name}, 'email.sent', 'pending' from generate_series(1, ${count}) returning id`
  return rows.map((row): Taken => ({
    id: DeliveryId.make(Number(row["id"])),
    event_id: name,
    event: "email.sent",
    attempt_count: 0,
    is_test: false,
    all_gone: true,
    body: Buffer.from("by hand")
  }))
})

/** The actor of a webhook that has one delivery under way, until the gate is opened, and nothing else in its table. */
const caughtUp = Effect.gen(function*() {
  const { id, rows } = yield* webhookOf(1)
  const { first, gate } = yield* gated(1)
  const { handOver, readAnew, wake } = yield* actorOf(id)
  const running = yield* Effect.forkChild(wake)
  yield* first
  yield* readAnew
  return { id, rows, gate, handOver, running }
})

const times = (count: number, row: string) => Array.from({ length: count }, () => row)

layer(Subject, { excludeTestServices: true })("the actor of a webhook", (it) => {
  it.effect("sends what is due, each once and signed, and falls asleep", () =>
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

  it.effect("is not a moment late with its attempts at 0, 5, 35 and 155 seconds, and nobody has to wake it", () =>
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
        // The database has a clock of its own. Who looks there too early finds it due, so this tells only of late ones.
        yield* sql`update webhook_queue set due_at = due_at - ${delay}::float8 * interval '1 millisecond'
          where webhook_id = ${id} and status = 'retrying'`
        yield* TestClock.adjust(delay)
      }
      yield* Fiber.join(running)
      const due = [0, 5_000, 35_000, 155_000]
      assert.isTrue(at.every((time, attempt) => time <= (due[attempt] ?? 0)), at.join())
      assert.deepStrictEqual(yield* rows, ["failed 4"])
    }).pipe(Effect.provide(TestClock.layer())))

  it.effect("sends again what an owner before it had taken and never settled", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(3)
      yield* sql`update webhook_queue set status = 'taken', attempt_count = 1 where webhook_id = ${id}`
      world.respond = () => answer(200)
      yield* (yield* actorOf(id)).wake
      assert.deepStrictEqual(yield* rows, times(3, "delivered 2"))
      assert.deepStrictEqual(world.requests.map(({ headers }) => headers["X-Service-Attempt"]), ["2", "2", "2"])
    }))

  it.effect("ends as failed, without a request, what has lost its payload while it waited, and sends the rest", () =>
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

  it.effect("counts a request that breaks the program as a failed attempt, and goes on with the others", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(3)
      world.respond = ({ body }) =>
        Buffer.from(body).includes("1") ? Effect.die("broken") : Buffer.from(body).includes("2")
          ? Effect.fail(new PublicHttpFailure({ reason: "connection_refused", detail: "no", durationMs: 1 }))
          : answer(200)
      const { leave, wake } = yield* actorOf(id)
      yield* Effect.forkChild(Effect.exit(wake))
      const expected = ["delivered 1", "retrying 1", "retrying 1"]
      assert.deepStrictEqual(yield* Effect.repeat(rows, { until: (now) => now.join() === expected.join() }), expected)
      yield* leave
    }))

  it.effect("ends what is under way when it is switched off, and sends the rest when it is on again", () =>
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

  it.effect("sends nothing more of a webhook that is deleted, but what is under way", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* webhookOf(30)
      const { first, gate } = yield* gated(8)
      const { recipients } = yield* LocalDispatch
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* sql`delete from webhooks where id = ${id}`
      recipients.get(id)?.nudge()
      const left = sql`select from webhook_queue where webhook_id = ${id} and status = 'taken'`
      yield* Effect.repeat(left, { until: (rows) => rows.length === 8 })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("sends all that has not begun to the new URL when that was changed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(20)
      const { first, gate } = yield* gated(8)
      const { readAnew, tell, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* first
      yield* sql`update webhooks set url = 'https://elsewhere.example/' where id = ${id}`
      yield* tell
      yield* readAnew
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(20, "delivered 1"))
      const hosts = world.requests.map(({ url }) => new URL(url).host)
      assert.deepStrictEqual(hosts, [...times(8, "hooks.example"), ...times(12, "elsewhere.example")])
    }))

  it.effect("asks an endpoint that fails one at a time, and one that is well again up to eight", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(200)
      const open = new Set<PostRequest>()
      const widths: Array<number> = []
      world.respond = (request) =>
        Effect.gen(function*() {
          open.add(request)
          widths.push(open.size)
          yield* Effect.sleep("2 millis")
          open.delete(request)
          return yield* answer(world.requests.length > 60 ? 200 : 500)
        })
      const { leave, wake } = yield* actorOf(id)
      yield* Effect.forkChild(Effect.exit(wake))
      yield* Effect.repeat(rows, { until: (now) => !now.some((row) => row === "pending 0" || row === "taken 0") })
      assert.deepStrictEqual([Math.max(...widths.slice(0, 20)), Math.max(...widths.slice(40, 60))], [8, 1])
      assert.isAtLeast(Math.max(...widths.slice(150)), 6)
      yield* leave
    }))

  it.effect("when its node leaves, writes down what was under way and gives back the rest", () =>
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
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(leaving)
      const settled = Effect.repeat(rows, { until: (now) => !now.some((row) => row.startsWith("taken")) })
      assert.deepStrictEqual((yield* settled).toSorted(), [...times(8, "delivered 1"), ...times(22, "pending 0")])
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("ends as skipped what it had taken and not begun when the webhook turns unhealthy, and what fails then", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(150)
      const gate = yield* Deferred.make<void>()
      world.respond = ({ body }) =>
        Effect.andThen(Deferred.await(gate), answer(Buffer.from(body).toString() === "{\"event\":0}" ? 500 : 200))
      const { wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      const seen = (row: string, count: number) =>
        Effect.repeat(rows, { until: (now) => now.filter((one) => one === row).length >= count })
      yield* seen("taken 0", 100)
      yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${id}`
      yield* seen("skipped 0", 142)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      const ended = [...times(7, "delivered 1"), ...times(142, "skipped 0"), "skipped 1"]
      assert.deepStrictEqual((yield* rows).toSorted(), ended)
      assert.strictEqual(world.requests.length, 8)
    }))

  it.effect("opens a webhook again that was closed for a backlog of which nothing is left", () =>
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

  it.effect("takes what is handed over past the table, once it has caught up with that", () =>
    Effect.gen(function*() {
      const { gate, handOver, id, rows, running } = yield* caughtUp
      yield* handOver(yield* commit(id, 20))
      assert.deepStrictEqual(yield* rows, ["taken 0", ...times(20, "pending 0")])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(21, "delivered 1"))
      const bodies = world.requests.map(({ body }) => Buffer.from(body).toString())
      assert.deepStrictEqual(bodies, ["{\"event\":0}", ...times(20, "by hand")])
    }))

  it.effect("sends once what it is told of while it looks into the table, wherever it comes from", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(1)
      world.respond = () => answer(200)
      const { handOver, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      for (let count = 1; count <= 40; count++) yield* handOver(yield* commit(id, 1))
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(41, "delivered 1"))
      assert.lengthOf(world.requests, 41)
    }))

  it.effect("does not send again what it had found in the table before it was told of it", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(1)
      const gate = yield* Deferred.make<void>()
      world.respond = () =>
        world.requests.length === 1 ? Effect.andThen(Deferred.await(gate), answer(200)) : answer(200)
      const { handOver, nudge, readAnew, wake } = yield* actorOf(id)
      const running = yield* Effect.forkChild(wake)
      yield* readAnew
      const committed = yield* commit(id, 3)
      nudge()
      yield* eventually(rows, (now) => now.filter((row) => row === "delivered 1").length === 3)
      yield* handOver([...committed, ...yield* commit(id, 2)])
      yield* eventually(rows, (now) => now.filter((row) => row === "delivered 1").length === 5)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(6, "delivered 1"))
      const bodies = world.requests.map(({ body }) => Buffer.from(body).toString())
      assert.deepStrictEqual(bodies, ["{\"event\":0}", ...times(3, "in the table"), ...times(2, "by hand")])
    }))

  it.effect("leaves in the table what it has no room for, and sends it in its turn", () =>
    Effect.gen(function*() {
      const { gate, handOver, id, rows, running } = yield* caughtUp
      for (let count = 0; count < 3; count++) yield* handOver(yield* commit(id, 200))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(601, "delivered 1"))
      const byHand = world.requests.filter(({ body }) => Buffer.from(body).toString() === "by hand")
      assert.deepStrictEqual([world.requests.length, byHand.length], [601, 400])
    }))

  it.effect("ends as skipped what was handed over to a webhook that turns unhealthy, but what is under way", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { gate, handOver, id, rows, running } = yield* caughtUp
      yield* handOver(yield* commit(id, 20))
      yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${id}`
      yield* Effect.repeat(rows, { until: (now) => now.filter((row) => row === "skipped 0").length >= 13 })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      assert.deepStrictEqual((yield* rows).toSorted(), [...times(8, "delivered 1"), ...times(13, "skipped 0")])
      assert.lengthOf(world.requests, 8)
    }))

  it.effect("finds again what it had taken when the answer to that got lost", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(2)
      world.respond = () => answer(200)
      const { wake } = yield* actorOf(id)
      // The statement that takes them ends its session; then it has had its effect nevertheless. A sequence counts what is
      // rolled back as well.
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
