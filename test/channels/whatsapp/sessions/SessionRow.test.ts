import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as SessionRow from "../../../../src/channels/whatsapp/sessions/SessionRow.ts"
import { SessionRowRepo } from "../../../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { eventsWith } from "../../../support/testEvents.ts"

const published: Array<DomainEvent> = []

const Subject = Layer.mergeAll(
  SessionRowRepo.layer,
  Layer.succeed(Events, eventsWith((events) => Effect.sync(() => void published.push(...events)))),
  AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))),
  Vault.layer(Redacted.make(new Uint8Array(32).fill(3)))
).pipe(Layer.provideMerge(TestDatabase.layer))

layer(Subject, { excludeTestServices: true })("SessionRow", (it) => {
  it.effect("publishes a code for the present owner of a session only", () =>
    Effect.gen(function*() {
      const { id } = yield* makeSessionRow(false)
      const claim = yield* SessionRow.make
      const former = yield* claim(id)
      const present = yield* claim(id)
      if (former === undefined || present === undefined) return assert.fail("the session has no row")
      const failure = yield* Effect.flip(former.publishCode("former"))
      assert.strictEqual(failure._tag, "OwnershipLost")
      yield* present.publishCode("present")
      assert.deepStrictEqual(published.map(({ data, event }) => [event, data]), [
        ["session.qr_updated", { session_id: id, qr_code: "present" }]
      ])
    }))

  it.effect("keeps the time since when a session is disconnected over the attempts that fail", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* makeSessionRow(true)
      const repo = yield* SessionRowRepo
      const owner = Option.getOrUndefined(yield* repo.claim(id))
      const become = (status: "connected" | "disconnected", failures: number) =>
        repo.change({
          id,
          epoch: owner?.epoch ?? 0,
          status,
          failures,
          is_paired: true,
          is_replaced: false,
          reason: null,
          desired: "on",
          phone_number: null,
          has_connected: false,
          retry_later: false
        })
      const since = Effect.map(
        sql`select extract(epoch from now() - status_since)::integer as seconds from whatsapp_sessions where id = ${id}`,
        ([row]) => Number(row?.["seconds"])
      )
      yield* become("disconnected", 1)
      yield* sql`update whatsapp_sessions set status_since = now() - interval '5 minutes' where id = ${id}`
      yield* become("disconnected", 2)
      assert.isAtLeast(yield* since, 300)
      yield* become("connected", 0)
      assert.isBelow(yield* since, 300)
    }))
})
