import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Ref, Result } from "effect"
import { Agent } from "undici"
import { makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { eventually, longer } from "../support/waiting.ts"
import { between } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"

const clients = 24

/** A client with one open connection. It pauses between requests, and ends when an answer closes its connection. */
const client = ({ baseUrl }: RunningNode, key: string, longestPause: number, answered: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ connections: 1, pipelining: 1, keepAliveTimeout: 60_000 })),
      (opened) => Effect.promise(() => opened.destroy())
    )
    const check = Effect.tryPromise(async () => {
      const answer = await agent.request({
        origin: baseUrl,
        path: "/v1/verify/check",
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ id: "ver_none", code: "123456" })
      })
      await answer.body.dump()
      return { status: answer.statusCode, isLast: answer.headers["connection"] === "close" }
    })
    const pause = Effect.suspend(() => Effect.sleep(between(0, longestPause)))
    return yield* Effect.repeat(check.pipe(Effect.tap(answered), Effect.tap(pause)), { until: ({ isLast }) => isLast })
  }).pipe(Effect.scoped)

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "15 minutes" })("drain", (it) => {
  it.effect("SIGTERM under load resets no connection of clients that keep theirs open", () =>
    Effect.gen(function*() {
      const { key } = yield* makeAccount()
      for (let round = 0; round < rounds; round++) {
        const node = yield* startNode({ env: { DRAIN_SECONDS: "10" } })
        const count = yield* Ref.make(0)
        const answered = Ref.update(count, (n) => n + 1)
        const load = yield* Effect.forEach(
          Array.from({ length: clients }, (_, index) => index),
          (index) => Effect.result(client(node, key, index % 2 === 0 ? 0 : 800, answered)),
          { concurrency: "unbounded" }
        ).pipe(Effect.forkChild)
        yield* eventually(Ref.get(count), (n) => n >= clients * 20, longer.load)
        assert.deepStrictEqual(yield* node.stop("SIGTERM"), { code: 0, signal: null })
        const last = Result.succeed({ status: 404, isLast: true })
        assert.deepStrictEqual(yield* Fiber.join(load), Array.from({ length: clients }, () => last))
      }
    }), 60_000 + rounds * 30_000)
})
