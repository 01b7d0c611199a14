import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { cli } from "../support/cli.ts"
import { freePort } from "../support/freePort.ts"
import { readUntil } from "../support/readUntil.ts"
import { longer } from "../support/waiting.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`

/** Runs `webhook listen` on a free port and reads its output; it is killed with the scope. */
const listen = Effect.gen(function*() {
  const port = yield* freePort
  let printed = ""
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [main, "webhook", "listen", "--port", String(port), "--secret-stdin"])
      // The pipe stays open: one line is enough.
      child.stdin.write(`${secret}\n`)
      child.stdout.on("data", (chunk) => {
        printed += String(chunk)
      })
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const says = (text: string) => readUntil(() => printed, (now) => now.includes(text), longer.start)
  yield* says("Listening on")
  const post = (headers: Record<string, string>, body: string) =>
    Effect.promise(() => fetch(`http://127.0.0.1:${port}/hooks`, { method: "POST", headers, body }))
  return { says, post }
})

const body = JSON.stringify({ id: "evt_1", event: "email.sent", data: { to: "ada@example.com" } })

const headers = () =>
  sign({
    event: "email.sent",
    event_id: "evt_1",
    delivery_id: 1,
    attempt: 2,
    timestamp: Math.floor(Date.now() / 1000),
    body: Buffer.from(body),
    key: signingKey(Redacted.make(secret))
  })

it.live("webhook listen refuses a text that cannot be a secret", () =>
  Effect.gen(function*() {
    for (const wrong of ["nope", "whsec_nope", secret.slice(0, -1)]) {
      const { code, stderr } = yield* cli(["webhook", "listen", "--secret-stdin"], {}, { input: `${wrong}\n` })
      assert.strictEqual(code, 1, wrong)
      assert.include(stderr, "A webhook's secret is whsec_ and 44 characters")
      assert.notInclude(stderr, "nope")
    }
  }))

it.live("webhook listen takes no secret as an argument, which other programs of the machine could read", () =>
  Effect.gen(function*() {
    const { code, stderr } = yield* cli(["webhook", "listen", "--secret", secret])
    assert.strictEqual(code, 1)
    assert.include(stderr, "Unrecognized flag: --secret")
    assert.notInclude(stderr, secret)
  }))

it.live("webhook listen prints each delivery, accepts a valid signature and refuses an invalid one", () =>
  Effect.gen(function*() {
    const { post, says } = yield* listen
    const good = yield* post(headers(), body)
    assert.strictEqual(good.status, 204)
    assert.include(yield* says("ada@example.com"), "email.sent, attempt 2, evt_1: verified")
    const tampered = yield* post(headers(), body.replace("ada", "eve"))
    assert.strictEqual(tampered.status, 401)
    assert.match(yield* says("eve@example.com"), /email\.sent, attempt 2, evt_1: REFUSED: /)
  }))
