/** What a session has sent, what waits, and the states that it had. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, unpaced, untilArrived } from "../support/whatsAppMessages.ts"

const env = { ...unpaced, WHATSAPP_PER_MINUTE: "2" }

layer(WhatsApp.layer({ env }), { excludeTestServices: true })("figures and states of a WhatsApp session", (it) => {
  const scene = Effect.gen(function*() {
    const { request } = yield* Service
    const { key } = yield* makeAccount()
    const session = yield* pairedSession(yield* Service, key)
    const at = `/v1/whatsapp/sessions/${session.id}`
    return { at, key, session, read: (what: string, by = key) => request("GET", `${at}/${what}`, { key: by }) }
  })

  it.effect("the figures count what was sent and what waits for the limit of a minute", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key, read, session } = yield* scene
      const to = yield* (yield* WhatsApp).phone
      const fresh = (yield* read("figures")).at("data")
      assert.hasAllKeys(fresh, [
        "status_since",
        "reason",
        "last_minute",
        "last_day",
        "queued",
        "limit_per_minute",
        "limit_per_day",
        "counted_up_to"
      ])
      assert.deepInclude(fresh, {
        reason: null,
        last_minute: 0,
        last_day: 0,
        queued: 0,
        limit_per_minute: 2,
        limit_per_day: null,
        counted_up_to: 1_000
      })
      for (const content of ["One", "Two", "Three"]) yield* accepted(node, key, { session_id: session.id, to, content })
      yield* untilArrived(to, session.number, 2)
      const busy = yield* eventually(read("figures"), ({ at }) => at("data", "last_minute") === 2)
      assert.deepInclude(busy.at("data"), { last_minute: 2, last_day: 2, queued: 1 })
    }))

  it.effect("the states are what the session was since when and why, newest first, by pages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { at, key, read } = yield* scene
      const paired = yield* read("states")
      const since = (yield* read("figures")).at("data", "status_since")
      assert.deepInclude(paired.at("data", 0), { since, status: "connected", reason: null })
      yield* request("POST", `${at}/logout`, { key })
      const states = yield* read("states")
      assert.deepStrictEqual(
        (states.at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>)
          .map(({ reason, status }) => [status, reason]),
        [["failed", "logged_out"], ["connected", null], ["pending", null]]
      )
      assert.deepStrictEqual((yield* read("figures")).at("data", "reason"), "logged_out")
      const first = yield* read("states?per_page=1")
      assert.deepStrictEqual(first.at("data"), [states.at("data", 0)])
      const rest = yield* read(`states?cursor=${String(first.at("meta", "next_cursor"))}`)
      assert.deepStrictEqual(rest.at("data"), [states.at("data", 1), states.at("data", 2)])
    }))

  it.effect("another account's session and a deleted one have no figures and no states", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { read, session } = yield* scene
      const other = yield* makeAccount()
      for (const what of ["figures", "states"]) assertRefused(yield* read(what, other.key), 404, "not_found")
      // As between the answer to its deletion and the end of its removal.
      yield* sql`update whatsapp_sessions set desired = 'removed' where id = ${session.id}`
      for (const what of ["figures", "states"]) assertRefused(yield* read(what), 404, "not_found")
    }))
})
