import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { generate as generateSecret, sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { type Arrival, isRunnable, judge, type Snippet, snippets, type Verdict } from "../support/verifySnippets.ts"
import { blocks, read, root } from "./documents.ts"

const folder = "docs/webhooks/snippets"
const page = "docs/webhooks/verify.md"

const [secret, previous, foreign] = [generateSecret(), generateSecret(), generateSecret()]
const id = "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7"
const body = Buffer.from(JSON.stringify({ id, event: "email.sent", data: { subject: "Grüße 🙂 %s \\n 'x'" } }))

/** A delivery of the service, `ago` seconds old, at a receiver with the secret `held`. */
const arrival = (
  now: number,
  { ago = 0, held = secret, rotated = false }: {
    readonly ago?: number
    readonly held?: Redacted.Redacted
    readonly rotated?: boolean
  } = {}
): Arrival => {
  const headers = sign({
    event: "email.sent",
    event_id: id,
    delivery_id: 7,
    attempt: 1,
    timestamp: Math.floor(now / 1000) - ago,
    body,
    key: signingKey(secret),
    previous_key: rotated ? signingKey(previous) : undefined
  })
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { secret: Redacted.value(held), body, headers: Object.fromEntries(lower) }
}

const otherByte = Buffer.from(body)
otherByte[body.length - 3] = 0x79

type Case = readonly [what: string, arrival: Arrival, verdict: Verdict]

/** The first is valid for 50 more seconds, so a snippet has to judge it within these. */
const aged = (now: number): ReadonlyArray<Case> => [
  ["250 seconds old", arrival(now, { ago: 250 }), [true, true]],
  ["310 seconds old", arrival(now, { ago: 310 }), [true, false]]
]

const cases = (now: number): ReadonlyArray<Case> => {
  const good = arrival(now)
  const withHeaders = (headers: Record<string, string>) => ({ ...good, headers: { ...good.headers, ...headers } })
  const garbage = { "x-service-signature": "* é", "webhook-signature": "* v1,é v1, v2" }
  return [
    ["as it was signed", good, [true, true]],
    ["one byte of the body changed", { ...good, body: otherByte }, [false, false]],
    ["a line feed after the body", { ...good, body: Buffer.concat([body, Buffer.from("\n")]) }, [false, false]],
    ["another secret", arrival(now, { held: foreign }), [false, false]],
    ["from 400 seconds ahead", arrival(now, { ago: -400 }), [true, false]],
    ["another time than the signed one", withHeaders({ "webhook-timestamp": "1" }), [true, false]],
    ["another id than the signed one", withHeaders({ "webhook-id": "evt_other" }), [true, false]],
    ["rotated, for the new secret", arrival(now, { rotated: true }), [true, true]],
    ["rotated, for the old secret", arrival(now, { rotated: true, held: previous }), [true, true]],
    ["rotated, for another secret", arrival(now, { rotated: true, held: foreign }), [false, false]],
    ["without any header", { ...good, headers: {} }, [false, false]],
    ["with garbage for signatures", withHeaders(garbage), [false, false]]
  ]
}

const temporary = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "verify-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

const takesAndRefuses = (snippet: Snippet) =>
  Effect.gen(function*() {
    const place = yield* temporary
    // The first run also compiles, and the second one finds what it left.
    for (const casesAt of [cases, aged]) {
      const all = casesAt(yield* Clock.currentTimeMillis)
      const arrivals = all.map(([, each]) => each)
      const verdicts = judge(snippet, read(`${folder}/${snippet.file}`), { arrivals, folder: place })
      assert.deepStrictEqual(
        all.map(([what], index) => [what, verdicts[index]]),
        all.map(([what, , verdict]) => [what, verdict])
      )
    }
  })

describe("docs/webhooks/verify.md", () => {
  it("shows the event that docs/events.md has as the example of email.sent", () => {
    const [, shown = ""] = /^```json\n(.*?)^```/ms.exec(read(page)) ?? []
    const [, section = ""] = read("docs/events.md").split("\n### email.sent\n")
    const [, example = ""] = /^```json\n(.*?)^```/ms.exec(section) ?? []
    assert.strictEqual(shown.trim(), JSON.stringify(JSON.parse(example)))
  })

  for (const { fence, file, language } of snippets) {
    it(`the page shows the snippet for ${language} as in ${file}`, () => {
      assert.include(blocks(read(page), fence), read(`${folder}/${file}`))
    })
  }

  it("the page shows every snippet", () => {
    assert.sameMembers(NodeFs.readdirSync(NodePath.join(root, folder)), snippets.map(({ file }) => file))
  })
})

describe("snippets that verify a webhook", () => {
  for (const snippet of snippets) {
    // Go, PHP and Python are not installed on every machine; the page's text is compared everywhere.
    it.live.skipIf(!isRunnable(snippet))(
      `the snippet for ${snippet.language} accepts what the service signed with its secret and nothing else`,
      () => takesAndRefuses(snippet)
    )
  }

  it("the shell snippet refuses everything when openssl is missing", () => {
    const script = `${read(`${folder}/verify.sh`)}\nverify_service_signature secret /dev/null ""\necho $?
verify_standard_signature secret /dev/null "" 1 "v1,"\necho $?`
    const { stdout } = NodeChildProcess.spawnSync("/bin/sh", ["-c", script], {
      encoding: "utf8",
      env: { PATH: "/none" }
    })
    assert.deepStrictEqual(stdout.trim().split("\n"), ["1", "1"])
  })
})
