import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted, Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import { generate as generateSecret, sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { blocks, read, root } from "./documents.ts"

/** The README's code after a marker comment, loaded as a module of a program with this project's packages. */
const snippet = (name: string) =>
  Effect.gen(function*() {
    const [code = ""] = blocks(read("README.md").split(`<!-- verify: ${name} -->`)[1] ?? "", "js")
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "readme-"))),
      (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true }))
    )
    NodeFs.symlinkSync(NodePath.join(root, "node_modules"), NodePath.join(folder, "node_modules"))
    const file = NodePath.join(folder, "verify.mjs")
    NodeFs.writeFileSync(file, code)
    return yield* Effect.promise((): Promise<unknown> => import(NodeUrl.pathToFileURL(file).href))
  })

type Verify = (secret: string, body: Buffer, headers: Readonly<Record<string, string>>) => unknown

const exported = (module: unknown, name: string) => {
  const found = typeof module === "object" && module !== null ? Reflect.get(module, name) : undefined
  // A module from a document has no types; calling it is the test.
  return found as Verify
}

const event = { id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7", event: "email.sent", data: { subject: "Grüße 🙂" } }
const body = Buffer.from(JSON.stringify(event))

const delivery = Effect.map(Clock.currentTimeMillis, (millis) => {
  const secret = generateSecret()
  const headers = sign({
    event: event.event,
    event_id: event.id,
    delivery_id: 7,
    attempt: 1,
    timestamp: Math.floor(millis / 1000),
    body,
    key: signingKey(secret)
  })
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return { secret: Redacted.value(secret), headers: lower }
})

const other = Redacted.value(generateSecret())

class Refused extends Schema.TaggedError<Refused>()("Refused", { cause: Schema.Defect() }) {}

describe("README code that verifies webhooks", () => {
  it.live("the node:crypto code accepts a delivery and refuses a wrong body, secret or missing signature", () =>
    Effect.gen(function*() {
      const isAuthentic = exported(yield* snippet("node:crypto"), "isAuthentic")
      const { headers, secret } = yield* delivery
      assert.isTrue(isAuthentic(secret, body, headers))
      assert.isFalse(isAuthentic(secret, Buffer.from("{}"), headers))
      assert.isFalse(isAuthentic(other, body, headers))
      assert.isFalse(isAuthentic(secret, body, {}))
    }))

  it.live("the standardwebhooks code returns the event and throws for a wrong body, secret or old timestamp", () =>
    Effect.gen(function*() {
      const readEvent = exported(yield* snippet("standardwebhooks"), "readEvent")
      const { headers, secret } = yield* delivery
      assert.deepStrictEqual(readEvent(secret, body, headers), event)
      const refused = (...words: Parameters<Verify>) =>
        Effect.flip(Effect.try({ try: () => readEvent(...words), catch: (cause) => new Refused({ cause }) }))
      yield* refused(secret, Buffer.from("{}"), headers)
      yield* refused(other, body, headers)
      yield* refused(secret, body, { ...headers, "webhook-timestamp": "1600000000" })
    }))
})
