import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { SandboxWhatsAppLayer } from "../../../src/sandbox/whatsapp/SandboxWhatsAppLayer.ts"
import { SimulatedWhatsApp } from "../../../src/sandbox/whatsapp/SimulatedWhatsApp.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the WhatsApp part of the sandbox", (it) => {
  it.effect("is hosted by the cluster, and makes a phone for whoever is looked for", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(Layer.provide(SandboxWhatsAppLayer, [TestRunner.layer, HttpRouter.layer]))
      const { address, control } = Context.get(context, SimulatedWhatsApp)
      assert.match((yield* address).url, /^ws:\/\/127\.0\.0\.1:\d+\/ws\/chat$/)
      assert.strictEqual((yield* control("createPhone", "15550000001", "Ann")).number, "15550000001")
      assert.deepStrictEqual((yield* control("phones")).map(({ pushName }) => pushName), ["Ann"])
    }))

  it.effect("is waited for while no node has it, as nobody is told of one that has left", () =>
    Effect.gen(function*() {
      const layer = Layer.provide(SandboxWhatsAppLayer, [TestRunner.layer, HttpRouter.layer])
      const sql = yield* SqlClient.SqlClient
      const told = sql`select port from sandbox_whatsapp_host`
      yield* Effect.scoped(Effect.gen(function*() {
        const { address } = Context.get(yield* Layer.build(layer), SimulatedWhatsApp)
        const { port } = yield* address
        assert.deepStrictEqual(yield* told, [{ port }])
      }))
      assert.deepStrictEqual(yield* told, [])
    }))
})
