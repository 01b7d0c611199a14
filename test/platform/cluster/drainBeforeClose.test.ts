import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as NodeFs from "node:fs"
import { drainBeforeClose } from "../../../src/platform/cluster/drainBeforeClose.ts"

it.effect("an actor whose shard moves keeps its resources until it has ended", () =>
  Effect.gen(function*() {
    const order: Array<string> = []
    const note = (text: string) => Effect.sync(() => void order.push(text))
    const mayGo = yield* Deferred.make<void>()
    const actor = yield* Scope.make()
    const end = Effect.addFinalizer(() => Effect.andThen(Deferred.await(mayGo), note("the actor has ended")))
    // As in the cluster, the actor has a scope that closes when its shard moves.
    const actors = drainBeforeClose((track) => Layer.effectDiscard(Scope.provide(Effect.andThen(track, end), actor)))
    const resources = Layer.effectDiscard(Effect.addFinalizer(() => note("its resources are closed")))
    const node = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.provide(actors, resources), node)
    const leaving = yield* Effect.forkChild(Scope.close(actor, Exit.void))
    const closing = yield* Effect.forkChild(Scope.close(node, Exit.void))
    yield* Effect.yieldNow
    assert.deepStrictEqual(order, [])
    yield* Deferred.succeed(mayGo, undefined)
    yield* Fiber.joinAll([leaving, closing])
    assert.deepStrictEqual(order, ["the actor has ended", "its resources are closed"])
  }))

it("every actor of the service is tracked by its layer", () => {
  const root = new URL("../../../src/", import.meta.url)
  const paths = NodeFs.readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
  const actors = paths
    .map((path) => ({ path, code: NodeFs.readFileSync(new URL(path, root), "utf8") }))
    .filter(({ code }) => code.includes("Entity.toLayer("))
  assert.isAtLeast(actors.length, 5)
  const tracked = /drainBeforeClose\(\(track\) =>\s+\w+Entity\.toLayer\(Effect\.andThen\(track, /
  assert.deepStrictEqual(actors.filter(({ code }) => !tracked.test(code)).map(({ path }) => path), [])
})
