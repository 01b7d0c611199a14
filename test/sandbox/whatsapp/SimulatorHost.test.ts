import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { SimulatedWhatsApp } from "../../../src/sandbox/whatsapp/SimulatedWhatsApp.ts"
import { SimulatorHost } from "../../../src/sandbox/whatsapp/SimulatorHost.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const hosted = Layer.provideMerge(SimulatorHost, SimulatedWhatsApp.layer).pipe(Layer.provide(TestRunner.layer))

layer(TestDatabase.layer, { excludeTestServices: true })("WhatsApp part of the sandbox", (it) => {
  it.effect("the cluster hosts the simulator, and a number that is looked up gets a phone", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(hosted)
      const { address, control } = Context.get(context, SimulatedWhatsApp)
      assert.match((yield* address).url, /^ws:\/\/127\.0\.0\.1:\d+\/ws\/chat$/)
      assert.strictEqual((yield* control("createPhone", "15550000001", "Ann")).number, "15550000001")
      assert.deepStrictEqual((yield* control("phones")).map(({ pushName }) => pushName), ["Ann"])
    }))

  it.effect("the stored address is removed when the hosting node stops", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const announced = sql`select port from sandbox_whatsapp_host`
      yield* Effect.scoped(Effect.gen(function*() {
        const { address } = Context.get(yield* Layer.build(hosted), SimulatedWhatsApp)
        const { port } = yield* address
        assert.deepStrictEqual(yield* announced, [{ port }])
      }))
      assert.deepStrictEqual(yield* announced, [])
    }))
})
