/** What the guides for operators promise together: three nodes behind Caddy with TLS, and a separate PostgreSQL. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { foreignPrograms } from "../support/foreignServer.ts"
import { freePort } from "../support/freePort.ts"
import { blocksOf, installation, runs } from "../support/guideBlocks.ts"
import { eventually, live, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasProxy, makeProxy, type ProxyRequest } from "../support/TlsProxy.ts"
import { longer } from "../support/waiting.ts"

/** A client as the SDK is: it repeats a request without an answer, with the same idempotency key. */
const sendSteadily = Effect.fnUntraced(function*(
  post: (options: ProxyRequest) => Effect.Effect<{ readonly status: number; readonly text: string }>
) {
  const accepted: Array<number> = []
  const send = Effect.fnUntraced(function*(n: number) {
    const json = { to: "user@example.com", subject: `Mail ${n}`, text: "Hello" }
    const { text } = yield* live(eventually(
      post({ headers: { "idempotency-key": `mail-${n}` }, json }),
      ({ status }) => status === 202,
      longer.takeover
    ))
    accepted.push(Number(JSON.parse(text).data.id))
  })
  // The pause is the pace of the client, not a wait.
  const next = Effect.suspend(() => Effect.andThen(send(accepted.length + 1), live(Effect.sleep("20 millis"))))
  const load = yield* Effect.forkChild(Effect.forever(next))
  const more = (count: number) => {
    const before = accepted.length
    return eventually(Effect.sync(() => accepted.length), (length) => length >= before + count, longer.takeover)
  }
  return { accepted, load, more }
})

layer(TestDatabase.layer, { excludeTestServices: true })("three nodes behind Caddy", (it) => {
  it.effect.skipIf(foreignPrograms === undefined || !hasProxy("caddy"))(
    "keep and send each accepted mail while one is killed and one upgraded, and have it again after a restore",
    () =>
      Effect.gen(function*() {
        const { env, key } = yield* installation
        const ports = [yield* freePort, yield* freePort, yield* freePort] as const
        const start = (port: number, url = env.DATABASE_URL) =>
          startNode({
            env: { DATABASE_URL: url, PORT: String(port), TRUSTED_PROXIES: "127.0.0.1", DRAIN_SECONDS: "2" }
          })
        const [first, second, third] = yield* Effect.all([start(ports[0]), start(ports[1]), start(ports[2])])
        const proxy = yield* makeProxy("caddy", ports)

        const { accepted, load, more } = yield* sendSteadily((options) =>
          proxy.request("POST", "/v1/email/send", { key, ...options })
        )

        yield* more(20)
        yield* first.kill
        yield* more(40)
        const again = yield* start(ports[0])

        const [migrate = "", wait = ""] = blocksOf("upgrade", "shell")
        yield* runs(migrate, env)
        yield* second.stop()
        const upgraded = yield* start(ports[1])
        yield* runs(wait, { NODE_URL: upgraded.baseUrl })
        yield* more(20)

        const kept = [...accepted]
        const [backUp = "", restore = ""] = blocksOf("backup", "shell")
        yield* runs(backUp, env)
        yield* more(20)
        yield* Fiber.interrupt(load)

        const statusOf = (id: number) =>
          Effect.map(
            proxy.request("GET", `/v1/email/messages/${id}`, { key }),
            ({ status, text }) => status === 200 ? String(JSON.parse(text).data.status) : `answer ${status}`
          )
        assert.strictEqual(new Set(accepted).size, accepted.length, "each idempotency key has one mail")
        yield* Effect.forEach(
          accepted,
          (id) => eventually(statusOf(id), (status) => ["sent", "delivered"].includes(status), longer.takeover),
          { concurrency: 8 }
        )

        yield* Effect.forEach([again, upgraded, third], (node) => node.stop(), { concurrency: 3 })
        yield* runs(`createdb --maintenance-db="$DATABASE_URL" restored\n${restore}`, env)
        yield* Effect.forEach(ports, (port) => start(port, env.RESTORED_URL), { concurrency: 3 })
        yield* eventually(statusOf(kept[0] ?? 0), (status) => !status.startsWith("answer"), longer.takeover)
        // What waited in the backup was sent since: it ends, and is not sent again.
        for (const id of kept) assert.include(["sent", "delivered", "canceled"], yield* statusOf(id))
      })
  )
})
