import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import * as BaileysSocket from "../../../../src/channels/whatsapp/baileys/BaileysSocket.ts"
import { CredentialStore } from "../../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { SessionRowRepo } from "../../../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import * as SessionSupervisor from "../../../../src/channels/whatsapp/sessions/SessionSupervisor.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { node as stanza } from "../../../../src/sandbox/whatsapp/wire/stanza.ts"
import { IdleTraffic } from "../../../support/idleTraffic.ts"
import { type Lie, LyingWhatsApp, ref, showCodes } from "../../../support/LyingWhatsApp.ts"
import { passing } from "../../../support/passing.ts"
import { eventually } from "../../../support/Service.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"

const NoEvents = noEvents

const Subject = Layer.mergeAll(CredentialStore.layer, SessionRowRepo.layer, NoEvents, AppConfig.layer).pipe(
  Layer.provideMerge(IdleTraffic),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(3)))),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject)("a session with a silent server", (it) => {
  it.effect("times out in every phase of a pairing and of a login, and shows the reason", () =>
    Effect.gen(function*() {
      const liar = yield* LyingWhatsApp.make("ws://127.0.0.1:9/")
      let events = 0
      const silent: Lie = { opened: () => void events++ }
      const showing: Lie = { opened: (line) => showCodes(line, [ref(), ref()]), received: () => void events++ }
      const welcoming: Lie = {
        opened: (line) => line.send(stanza("success", { t: "0", lid: "1@lid" })),
        received: () => void events++
      }
      const { id, row } = yield* makeSessionRow(false)
      const session = yield* Effect.provide(
        SessionSupervisor.make(id, () => Effect.void),
        BaileysSocket.layer(Effect.succeed({ url: liar.url }))
      )
      /** Waits until the next connection has met this lie, as far as the lie goes. */
      const meet = Effect.fnUntraced(function*(lie: Lie) {
        const before = events
        liar.queue(lie)
        yield* passing(Effect.sync(() => liar.remaining), (left) => left === 0)
        if (lie.hello === undefined) yield* eventually(Effect.sync(() => events), (now) => now > before)
      })
      const until = (is: Readonly<Record<string, unknown>>) =>
        passing(row, (found) => Object.entries(is).every(([name, value]) => found[name] === value))
      /** Waits until the current connection has timed out. Further ones may have failed before a slow machine looks. */
      const failed = Effect.fnUntraced(function*(isPaired: boolean) {
        const { failures } = yield* row
        const found = yield* passing(row, (now) => Number(now["failures"]) > Number(failures))
        assert.strictEqual(found["is_paired"], isPaired)
      })

      liar.queue({ hello: "silence" })
      yield* session.Wake()
      yield* failed(false)
      yield* meet(silent)
      yield* failed(false)
      yield* meet(showing)
      yield* until({ status: "failed", reason: "qr_expired", is_paired: false })
      const asking = yield* Effect.forkChild(session.Qr())
      yield* meet(showing)
      const code = yield* Fiber.join(asking)
      const before = events
      liar.accept(code._tag === "Code" ? code.text : "")
      yield* eventually(Effect.sync(() => events), (now) => now > before)
      yield* passing(row, (now) => now["is_paired"] === true && Number(now["failures"]) > 0)
      yield* meet(silent)
      yield* failed(true)
      yield* meet(welcoming)
      yield* failed(true)
      assert.deepStrictEqual(yield* session.Pair({ payload: { phoneNumber: "15550100300" } }), {
        _tag: "NoCode",
        why: "connected"
      })
    }))
})
