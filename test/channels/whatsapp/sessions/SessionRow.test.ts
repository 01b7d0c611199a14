import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as SessionRow from "../../../../src/channels/whatsapp/sessions/SessionRow.ts"
import { SessionRowRepo } from "../../../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const published: Array<DomainEvent> = []

const Subject = Layer.mergeAll(
  SessionRowRepo.layer,
  Layer.succeed(Events, Events.of({ publish: (events) => Effect.sync(() => void published.push(...events)) })),
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
})
