import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import {
  type PostRequest,
  type PostResponse,
  PublicHttp,
  PublicHttpFailure
} from "../../src/platform/net/PublicHttp.ts"
import { WebhookId } from "../../src/values/Ids.ts"
import { Outcomes } from "../../src/webhooks/Outcomes.ts"
import { sealedSecret } from "../../src/webhooks/sealedSecret.ts"
import { WebhookActor } from "../../src/webhooks/WebhookActor.ts"
import { WebhookEntity } from "../../src/webhooks/WebhookEntity.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** What endpoints answer now, and what they were asked. */
const world: {
  respond: (request: PostRequest) => Effect.Effect<PostResponse, PublicHttpFailure>
  readonly requests: Array<PostRequest>
} = { respond: () => Effect.never, requests: [] }

const answer = (status: number): Effect.Effect<PostResponse> =>
  Effect.succeed({
    status,
    kind: status < 300 ? "success" : "refusal",
    location: undefined,
    body: Buffer.from("ok"),
    truncated: false,
    durationMs: 1
  })

const Transport = Layer.succeed(
  PublicHttp,
  PublicHttp.of({
    post: (request) =>
      Effect.suspend(() => {
        world.requests.push(request)
        return world.respond(request)
      })
  })
)

const Subject = Layer.mergeAll(
  TestDatabase.layer,
  Vault.layer(Redacted.make(new Uint8Array(32))),
  Transport,
  ShardingConfig.layer()
)

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
    const name = `evt_${id}_${event}`
    yield* sql`insert into events (id, account_id, name, body)
      values (${name}, ${accountId}, 'email.sent', ${Buffer.from(`{"event":${event}}`)})`
    yield* sql`insert into webhook_deliveries (webhook_id, account_id, event_id, event)
      values (${id}, ${accountId}, ${name}, 'email.sent')`
  }
  const rows = Effect.map(
    sql`select status, attempt_count from webhook_deliveries where webhook_id = ${id} order by id`,
    (found) => found.map((delivery) => `${String(delivery["status"])} ${String(delivery["attempt_count"])}`)
  )
  const switchTo = (active: boolean) => sql`update webhooks set is_active = ${active} where id = ${id}`
  return { id, rows, switchTo }
})

/** The actor of a webhook in a scope of its own, whose end is a node's leaving. */
const actorOf = Effect.fnUntraced(function*(id: WebhookId) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
  const client = yield* Entity.makeTestClient(WebhookEntity, WebhookActor.pipe(Layer.provide(Outcomes.layer))).pipe(
    Scope.provide(scope)
  )
  const { Wake } = yield* client(String(id))
  return { wake: Wake(), leave: Scope.close(scope, Exit.void) }
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

  it.effect("sends again what an owner before it had taken and never settled", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(3)
      yield* sql`update webhook_deliveries set status = 'taken', attempt_count = 1 where webhook_id = ${id}`
      world.respond = () => answer(200)
      yield* (yield* actorOf(id)).wake
      assert.deepStrictEqual(yield* rows, times(3, "delivered 2"))
      assert.deepStrictEqual(world.requests.map(({ headers }) => headers["X-Service-Attempt"]), ["2", "2", "2"])
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
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      world.respond = () =>
        Effect.andThen(
          Effect.suspend(() => world.requests.length >= 8 ? Deferred.succeed(started, undefined) : Effect.void),
          Effect.andThen(Deferred.await(gate), answer(200))
        )
      const { wake } = yield* actorOf(id)
      const first = yield* Effect.forkChild(wake)
      yield* Deferred.await(started)
      yield* switchTo(false)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      const delivered = (yield* rows).filter((row) => row === "delivered 1").length
      assert.isAtLeast(delivered, 8)
      yield* wake
      yield* switchTo(true)
      yield* wake
      assert.deepStrictEqual(yield* rows, times(30, "delivered 1"))
      assert.strictEqual(world.requests.length, 30)
    }))

  it.effect("when its node leaves, writes down what was under way and gives back the rest", () =>
    Effect.gen(function*() {
      const { id, rows } = yield* webhookOf(30)
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      world.respond = () =>
        Effect.andThen(
          Effect.suspend(() => world.requests.length >= 8 ? Deferred.succeed(started, undefined) : Effect.void),
          Effect.andThen(Deferred.await(gate), answer(200))
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

  it.effect("finds again what it had taken when the answer to that got lost", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, rows } = yield* webhookOf(2)
      world.respond = () => answer(200)
      const { wake } = yield* actorOf(id)
      // The statement that takes them ends its session; then it has had its effect nevertheless.
      yield* sql`create function cut() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`
      yield* sql`create constraint trigger cut after update on webhook_deliveries deferrable initially deferred
        for each row when (new.status = 'taken') execute function cut()`
      const running = yield* Effect.forkChild(wake)
      yield* Effect.sleep("700 millis")
      yield* sql.withTransaction(Effect.andThen(
        sql`drop trigger cut on webhook_deliveries`,
        sql`update webhook_deliveries set status = 'taken' where webhook_id = ${id}`
      ))
      yield* Fiber.join(running)
      assert.deepStrictEqual(yield* rows, times(2, "delivered 1"))
    }))
})
