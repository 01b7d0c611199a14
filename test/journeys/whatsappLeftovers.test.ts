import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import {
  createSession,
  listeningAccount,
  pairedSession,
  sessionOf,
  storedOf,
  untilStatus,
  WhatsApp
} from "../support/WhatsApp.ts"

const impatient = { WHATSAPP_RETRIES: "1", WHATSAPP_RETRY_LONGEST_SECONDS: "1" }

const viewOf = (device: string) =>
  Effect.map(WhatsApp, ({ simulator }) => simulator.controls.sessions().find(({ session }) => session === device))

/** A session with a phone, whose server was away for longer than it tries. */
const givenUp = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const { simulator: { controls } } = yield* WhatsApp
  const session = yield* pairedSession(node, key)
  controls.setFault(session.number, { kind: "stream-error", code: 503, times: 1000 })
  controls.dropLine(session.device)
  const failed = yield* untilStatus(node, key, session.id, "failed")
  assert.strictEqual(failed.at("reason"), "retries_exhausted")
  return session
})

/** In how many minutes the session is tried again. */
const dueIn = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select extract(epoch from retry_at - now()) / 60 as minutes
    from whatsapp_sessions where id = ${id}`
  return row?.["minutes"] === null ? undefined : Number(row?.["minutes"])
})

const reasons = (events: ReadonlyArray<{ readonly event: string; readonly data: Readonly<Record<string, unknown>> }>) =>
  events.map(({ data, event }) => `${event} ${String(data["reason"] ?? "")}`.trim())

layer(WhatsApp.layer({ env: impatient }), { excludeTestServices: true, timeout: "60 seconds" })(
  "WhatsApp sessions that nobody works on",
  (it) => {
    it.effect("are tried every hour after they have given up, without a word until one comes back", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { simulator: { controls } } = yield* WhatsApp
        const sql = yield* SqlClient.SqlClient
        const account = yield* listeningAccount(node)
        const { device, id, number } = yield* givenUp(node, account.key)
        const hour = (minutes: number | undefined) => minutes !== undefined && minutes > 59 && minutes <= 60
        assert.isTrue(hour(yield* dueIn(id)))
        const logins = (yield* viewOf(device))?.logins
        const due = sql`update whatsapp_sessions set retry_at = now() where id = ${id}`
        // The first try meets the same server.
        controls.setFault(number, { kind: "stream-error", code: 503, times: 1 })
        const { epoch } = yield* storedOf(id)
        yield* due
        yield* eventually(storedOf(id), (stored) => stored.epoch > epoch)
        assert.isTrue(hour(yield* dueIn(id)))
        assert.deepInclude((yield* sessionOf(node, account.key, id)).json, {
          status: "failed",
          reason: "retries_exhausted"
        })
        yield* due
        yield* untilStatus(node, account.key, id, "connected")
        assert.strictEqual((yield* viewOf(device))?.logins, (logins ?? 0) + 1)
        assert.isUndefined(yield* dueIn(id))
        assert.deepStrictEqual(reasons(yield* account.told(id, 4)), [
          "session.connected",
          "session.disconnected connection_lost",
          "session.disconnected retries_exhausted",
          "session.connected"
        ])
      }))

    it.effect("are logged out and erased when the node died that was about to delete them", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const live = yield* pairedSession(node, key)
        const gone = yield* createSession(node, key)
        // As DELETE leaves them, half a minute later: the first thing that it does holds.
        yield* sql`update whatsapp_sessions set desired = 'removed', updated_at = now() - interval '31 seconds'
          where id in (${live.id}, ${gone.id})`
        assert.strictEqual((yield* sessionOf(node, key, live.id)).status, 404)
        for (const { id } of [live, gone]) {
          const left = yield* eventually(storedOf(id), ({ rows }) => rows === 0)
          assert.strictEqual(left.keys, 0)
        }
        assert.isUndefined(yield* viewOf(live.device))
      }))

    it.effect("are gone when the node died that was about to answer with their code, and count for no limit", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount({ plan: "starter" })
        const { id } = yield* createSession(node, key)
        yield* sql`update whatsapp_sessions set is_confirmed = false where id = ${id}`
        assert.strictEqual((yield* node.request("POST", "/v1/whatsapp/sessions", { key, json: {} })).status, 402)
        yield* sql`update whatsapp_sessions set created_at = now() - interval '91 seconds' where id = ${id}`
        yield* eventually(storedOf(id), ({ rows }) => rows === 0)
        const { answer } = yield* createSession(node, key)
        assert.strictEqual(answer.status, 201)
        const [row] = yield* sql`select count(*) as count from whatsapp_sessions where account_id = ${accountId}`
        assert.strictEqual(row?.["count"], 1)
      }))

    it.effect("are deleted, or tried again, by the next node when theirs dies", () =>
      Effect.gen(function*() {
        const first = yield* Service
        const { env, simulator: { controls } } = yield* WhatsApp
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const failed = yield* givenUp(first, key)
        const deleted = yield* pairedSession(first, key)
        controls.misbehave(deleted.device, "silence")
        // The farewell waits for an answer that does not come.
        const removing = yield* Effect.forkChild(
          first.request("DELETE", `/v1/whatsapp/sessions/${deleted.id}`, { key })
        )
        yield* eventually(sessionOf(first, key, deleted.id), ({ status }) => status === 404)
        assert.isAbove((yield* storedOf(deleted.id)).keys, 0)
        yield* first.kill
        yield* Fiber.interrupt(removing)
        controls.clearFaults(failed.number)
        yield* sql`update whatsapp_sessions set updated_at = updated_at - interval '31 seconds'`
        const second = yield* startNode({ env: { ...env, ...impatient } })
        assert.deepStrictEqual(yield* eventually(storedOf(deleted.id), ({ rows }) => rows === 0), {
          keys: 0,
          rows: 0,
          epoch: 0
        })
        yield* untilStatus(second, key, failed.id, "connected")
      }), 90_000)
  }
)
