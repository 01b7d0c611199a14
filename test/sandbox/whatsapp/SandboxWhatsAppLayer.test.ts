import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { HttpRouter } from "effect/http"
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
})
