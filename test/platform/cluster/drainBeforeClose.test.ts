import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as NodeFs from "node:fs"
import { drainBeforeClose } from "../../../src/platform/cluster/drainBeforeClose.ts"

it.effect("an actor that is on its way to another node keeps what it needs, until it has left", () =>
  Effect.gen(function*() {
    const order: Array<string> = []
    const note = (text: string) => Effect.sync(() => void order.push(text))
    const mayGo = yield* Deferred.make<void>()
    const actor = yield* Scope.make()
    const leave = Effect.addFinalizer(() => Effect.andThen(Deferred.await(mayGo), note("the actor has left")))
    // As the cluster does it: the actor has a scope of its own, which is closed when its shard moves.
    const actors = drainBeforeClose((stay) => Layer.effectDiscard(Scope.provide(Effect.andThen(stay, leave), actor)))
    const resources = Layer.effectDiscard(Effect.addFinalizer(() => note("what it needs is closed")))
    const node = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.provide(actors, resources), node)
    const leaving = yield* Effect.forkChild(Scope.close(actor, Exit.void))
    const closing = yield* Effect.forkChild(Scope.close(node, Exit.void))
    yield* Effect.yieldNow
    assert.deepStrictEqual(order, [])
    yield* Deferred.succeed(mayGo, undefined)
    yield* Fiber.joinAll([leaving, closing])
    assert.deepStrictEqual(order, ["the actor has left", "what it needs is closed"])
  }))

it("every actor of the service stays in its layer until it has left", () => {
  const root = new URL("../../../src/", import.meta.url)
  const paths = NodeFs.readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
  const actors = paths
    .map((path) => ({ path, code: NodeFs.readFileSync(new URL(path, root), "utf8") }))
    .filter(({ code }) => code.includes("Entity.toLayer("))
  assert.isAtLeast(actors.length, 5)
  const staying = /drainBeforeClose\(\(stay\) =>\s+\w+Entity\.toLayer\(Effect\.andThen\(stay, /
  assert.deepStrictEqual(actors.filter(({ code }) => !staying.test(code)).map(({ path }) => path), [])
})
