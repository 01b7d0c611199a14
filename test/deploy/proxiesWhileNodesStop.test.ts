/**
 * nginx and Caddy with the configurations of docs/deploy, while a node behind them stops or is killed. nginx sends requests
 * to a node until that refuses a connection. The kernel resets what arrives while a node closes its sockets, and that
 * takes longer beside other programs.
 */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { inTime } from "../faults/inTime.ts"
import { live, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasProxy, makeProxy, proxyPrograms } from "../support/TlsProxy.ts"

const env = { TRUSTED_PROXIES: "127.0.0.1", DRAIN_SECONDS: "2" }

/** Seconds that a request may take. A proxy tries another node at once. */
const longest = 4

/** What did not succeed, or took too long, of 150 requests of each kind by four clients, during an event. */
const failuresDuring = (
  event: Effect.Effect<unknown>,
  kinds: ReadonlyArray<Effect.Effect<{ readonly status: number; readonly text: string }>>
) => {
  // The pause is the pace of the clients: their requests last for longer than the event.
  const load = Effect.forEach(kinds, (request) =>
    Effect.forEach(
      Array.from({ length: 150 }),
      () => Effect.tap(Effect.timed(request), () => live(Effect.sleep("20 millis"))),
      { concurrency: 4 }
    ), { concurrency: "unbounded" })
  return Effect.map(
    Effect.all([load, event], { concurrency: 2 }),
    ([answers]) =>
      answers.flat().flatMap(([spent, { status, text }]) => {
        const seconds = Duration.toSeconds(spent)
        const isFine = (status === 200 || status === 202) && seconds < inTime(longest)
        return isFine ? [] : [{ status, text, seconds }]
      })
  )
}

for (const program of proxyPrograms) {
  layer(TestDatabase.layer, { excludeTestServices: true })(`${program} in front of three nodes`, (it) => {
    it.effect.skipIf(!hasProxy(program))(
      "answers every GET and POST soon while one node stops, and every GET while another is killed",
      () =>
        Effect.gen(function*() {
          const [first, second, third] = [
            yield* startNode({ env }),
            yield* startNode({ env }),
            yield* startNode({ env })
          ]
          const { key } = yield* makeAccount()
          const proxy = yield* makeProxy(program, [first.port, second.port, third.port])
          const get = proxy.request("GET", "/v1/webhooks", { key })
          const json = { to: "ann@people.example", subject: "Hello", text: "Hello" }
          const post = proxy.request("POST", "/v1/email/send", { key, json })
          assert.deepStrictEqual(yield* failuresDuring(first.stop(), [get, post]), [])
          // A POST that the killed node has read may have been done: the caller repeats it with its key.
          assert.deepStrictEqual(yield* failuresDuring(second.kill, [get]), [])
        })
    )
  })
}
