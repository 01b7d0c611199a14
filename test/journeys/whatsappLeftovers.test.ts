import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import {
  createSession,
  listeningAccount,
  pairedSession,
  sessionOf,
  storedOf,
  untilStatus,
  WhatsApp
} from "../support/WhatsApp.ts"

const shortRetries = { WHATSAPP_RETRIES: "1", WHATSAPP_RETRY_LONGEST_SECONDS: "1" }

const viewOf = (device: string) =>
  Effect.map(WhatsApp, ({ simulator }) => simulator.controls.sessions().find(({ session }) => session === device))

/** A paired session whose server was unavailable for longer than the session retries. */
const exhaustedSession = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const { simulator: { controls } } = yield* WhatsApp
  const session = yield* pairedSession(node, key)
  controls.setFault(session.number, { kind: "stream-error", code: 503, times: 1000 })
  controls.dropConnection(session.device)
  const failed = yield* untilStatus(node, key, session.id, "failed")
  assert.strictEqual(failed.at("reason"), "retries_exhausted")
  return session
})

/** Minutes until the session's next attempt. */
const dueIn = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select extract(epoch from retry_at - now()) / 60 as minutes
    from whatsapp_sessions where id = ${id}`
  return row?.["minutes"] === null ? undefined : Number(row?.["minutes"])
})

const reasons = (events: ReadonlyArray<{ readonly event: string; readonly data: Readonly<Record<string, unknown>> }>) =>
  events.map(({ data, event }) => `${event} ${String(data["reason"] ?? "")}`.trim())

layer(WhatsApp.layer({ env: shortRetries }), { excludeTestServices: true })(
  "WhatsApp sessions without an actor",
  (it) => {
    it.effect("a session that exhausted its retries is tried every hour, silently until it connects", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { simulator: { controls } } = yield* WhatsApp
        const sql = yield* SqlClient.SqlClient
        const account = yield* listeningAccount(node)
        const { device, id, number } = yield* exhaustedSession(node, account.key)
        const hour = (minutes: number | undefined) => minutes !== undefined && minutes > 59 && minutes <= 60
        assert.isTrue(hour(yield* dueIn(id)))
        const logins = (yield* viewOf(device))?.logins
        const due = sql`update whatsapp_sessions set retry_at = now() where id = ${id}`
        // The first attempt fails like the others.
        controls.setFault(number, { kind: "stream-error", code: 503, times: 1 })
        const { epoch } = yield* storedOf(id)
        yield* due
        yield* eventually(storedOf(id), (stored) => stored.epoch > epoch, longer.turn)
        assert.isTrue(hour(yield* dueIn(id)))
        assert.deepInclude((yield* sessionOf(node, account.key, id)).json, {
          status: "failed",
          reason: "retries_exhausted"
        })
        yield* due
        yield* untilStatus(node, account.key, id, "connected")
        assert.strictEqual((yield* viewOf(device))?.logins, (logins ?? 0) + 1)
        assert.isUndefined(yield* dueIn(id))
        assert.deepStrictEqual(reasons(yield* account.published(id, 4)), [
          "session.connected",
          "session.disconnected connection_lost",
          "session.disconnected retries_exhausted",
          "session.connected"
        ])
      }))

    it.effect("a session is logged out and erased when the node dies before it deletes it", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const live = yield* pairedSession(node, key)
        const gone = yield* createSession(node, key)
        // Rows as DELETE leaves them after its first statement, half a minute later.
        yield* sql`update whatsapp_sessions set desired = 'removed', updated_at = now() - interval '31 seconds'
          where id in (${live.id}, ${gone.id})`
        assert.strictEqual((yield* sessionOf(node, key, live.id)).status, 404)
        for (const { id } of [live, gone]) {
          const left = yield* eventually(storedOf(id), ({ rows }) => rows === 0, longer.turn)
          assert.strictEqual(left.keys, 0)
        }
        assert.isUndefined(yield* viewOf(live.device))
      }))

    it.effect("a session whose node died before it showed the code is removed and counts towards no limit", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount({ plan: "starter" })
        const { id } = yield* createSession(node, key)
        yield* sql`update whatsapp_sessions set is_confirmed = false where id = ${id}`
        assert.strictEqual((yield* node.request("POST", "/v1/whatsapp/sessions", { key, json: {} })).status, 402)
        yield* sql`update whatsapp_sessions set created_at = now() - interval '91 seconds' where id = ${id}`
        yield* eventually(storedOf(id), ({ rows }) => rows === 0, longer.turn)
        const { answer } = yield* createSession(node, key)
        assert.strictEqual(answer.status, 201)
        const [row] = yield* sql`select count(*) as count from whatsapp_sessions where account_id = ${accountId}`
        assert.strictEqual(row?.["count"], 1)
      }))

    it.effect("the next node finishes deletions and retries of a node that dies", () =>
      Effect.gen(function*() {
        const first = yield* Service
        const { env, simulator: { controls } } = yield* WhatsApp
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const failed = yield* exhaustedSession(first, key)
        const deleted = yield* pairedSession(first, key)
        controls.misbehave(deleted.device, "silence")
        // The logout waits for an answer that never comes.
        const removing = yield* Effect.forkChild(
          first.request("DELETE", `/v1/whatsapp/sessions/${deleted.id}`, { key })
        )
        yield* eventually(sessionOf(first, key, deleted.id), ({ status }) => status === 404)
        assert.isAbove((yield* storedOf(deleted.id)).keys, 0)
        yield* first.kill
        yield* Fiber.interrupt(removing)
        controls.clearFaults(failed.number)
        yield* sql`update whatsapp_sessions set updated_at = updated_at - interval '31 seconds'`
        const second = yield* startNode({ env: { ...env, ...shortRetries } })
        assert.deepStrictEqual(yield* eventually(storedOf(deleted.id), ({ rows }) => rows === 0, longer.turn), {
          keys: 0,
          rows: 0,
          epoch: 0
        })
        yield* untilStatus(second, key, failed.id, "connected")
      }))
  }
)
