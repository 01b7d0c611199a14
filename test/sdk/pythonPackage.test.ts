/** The built Python package in a virtual environment, with the httpx and pydantic of this machine. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { contractOf } from "../../scripts/sdk/generate.ts"
import { aliases } from "../../scripts/sdk/names.ts"
import { buildPythonPackage, pythonWith } from "../../scripts/sdk/pythonPackage.ts"
import { root } from "../../scripts/sdk/sources.ts"
import { generate, sign, signingKey } from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { freePort } from "../support/freePort.ts"
import { programAt } from "../support/programs.ts"
import { fencesOf, runProgram, temporaryFolder } from "../support/sdkPackage.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

const system = pythonWith(["httpx", "pydantic", "pip", "setuptools", "venv", "wheel"])
const mypy = programAt("mypy")
const cache = NodePath.join(root, "node_modules/.cache/mypy")
const text = NodeFs.readFileSync(NodePath.join(root, "docs/openapi.json"), "utf8")
const contract = contractOf(text)
const tests = NodePath.join(import.meta.dirname, "python")
const examples = fencesOf("docs/sdk/python.md", "python")

/** The Python of the environment that has the package installed. */
class Built
  extends Context.Service<Built, { readonly python: string; readonly folder: string; readonly project: string }>()(
    "messaging-service/test/sdk/pythonPackage.test/Built"
  )
{
  static readonly layer = Layer.effect(
    Built,
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const environment = NodePath.join(folder, "environment")
      const python = NodePath.join(environment, "bin/python")
      if (system === undefined) return { folder, project: folder, python }
      const { project, wheel = "" } = yield* Effect.sync(() => buildPythonPackage(folder, contract))
      const steps = [
        [system, "-m", "venv", "--system-site-packages", environment],
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
      ] as const
      for (const [program, ...words] of steps) {
        const { code, output } = yield* runProgram(program, words)
        assert.strictEqual(code, 0, output)
      }
      return { folder, project, python }
    })
  )
}

/** Runs a script of the tests with JSON as its input, and returns the JSON that it prints. */
const ask = Effect.fnUntraced(function*(script: string, input: unknown) {
  const { folder, python } = yield* Built
  const file = NodePath.join(folder, "input.json")
  NodeFs.writeFileSync(file, JSON.stringify(input))
  const command = `exec "$0" "$1" < "$2"`
  const { code, output } = yield* runProgram("/bin/sh", ["-c", command, python, NodePath.join(tests, script), file])
  assert.strictEqual(code, 0, output)
  const answer: unknown = JSON.parse(output)
  return answer
})

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: ReadonlyArray<Schema>
}

interface Described {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: Schema } } }
}

const document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
} = JSON.parse(text)

const underscored = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const keyword = (name: string) => name === "from" ? "from_" : name

const fieldsOf = ({ requestBody }: Described) => {
  const { $ref, anyOf, ...schema } = requestBody?.content["application/json"].schema ?? {}
  const name = ($ref ?? anyOf?.[0]?.$ref)?.split("/").at(-1)
  return Object.keys((name === undefined ? schema : document.components.schemas[name])?.properties ?? {})
}

/** Every operation of the document with values for all that it takes, and the request that has to come of it. */
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => {
    const { operationId, parameters = [] } = described
    const operation = contract.operations.find(({ id }) => id === operationId)
    const named = (place: string) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)
    const fields = fieldsOf(described)
    const inPath = named("path")
    return {
      operationId,
      call: {
        place: [...operation?.resource ?? [], operation?.name ?? ""].map(underscored),
        path: inPath.map((name) => `${name}/é`),
        keywords: Object.fromEntries([...fields, ...named("query")].map((name) => [keyword(name), `${name}&=`]))
      },
      expected: {
        method: method.toUpperCase(),
        path: `/base${inPath.reduce((text, name) => text.replace(`{${name}}`, encodeURIComponent(`${name}/é`)), path)}`,
        query: named("query").map((name) => [name, `${name}&=`]),
        body: described.requestBody === undefined ? "" : Object.fromEntries(fields.map((name) => [name, `${name}&=`])),
        keyed: named("header").includes("Idempotency-Key"),
        authorization: "Bearer sk_live_test"
      }
    }
  })
)

const seen = ({ body, headers, method, url }: Sent) => {
  const { pathname, searchParams } = new URL(url)
  return {
    method,
    path: pathname,
    query: [...searchParams],
    body: body === "" ? "" : Object(JSON.parse(body)),
    keyed: "idempotency-key" in headers,
    authorization: headers["authorization"]
  }
}

const event = { id: "evt_1", event: "email.sent", timestamp: "2030-01-31T09:00:00.000000Z" }
const data = { id: 1, batch_id: null, to: "ada@example.com", subject: "Grüße 🙂", sent_at: event.timestamp }
const body = Buffer.from(JSON.stringify({ ...event, data }))
const [secret, previous, foreign] = [generate(), generate(), generate()]

const arrival = (
  { ago = 0, held = secret, rotated = false }: {
    readonly ago?: number
    readonly held?: Redacted.Redacted | undefined
    readonly rotated?: boolean
  } = {}
) => ({
  body: body.toString("base64"),
  headers: sign({
    event: "email.sent",
    event_id: "evt_1",
    delivery_id: 7,
    attempt: 1,
    timestamp: Math.floor(Date.now() / 1000) - ago,
    body,
    key: signingKey(secret ?? Redacted.make("")),
    previous_key: rotated ? signingKey(previous ?? Redacted.make("")) : undefined
  }),
  secret: Redacted.value(held ?? Redacted.make(""))
})

const verified = ["evt_1", "email.sent", "EmailSentEvent", "Grüße 🙂"]

const arrivals = (): ReadonlyArray<readonly [what: string, arrival: object, outcome: unknown]> => {
  const service = { options: { scheme: "service" } }
  const good = arrival()
  const changed = { ...good, body: Buffer.from(`${body.toString()}\n`).toString("base64") }
  const garbage = { ...good.headers, "webhook-signature": "v1,é v1, x", "X-Service-Signature": "é" }
  const upper = Object.fromEntries(Object.entries(good.headers).map(([name, value]) => [name.toUpperCase(), value]))
  const now = { ...arrival({ ago: 900 }).headers, "webhook-timestamp": `${Math.floor(Date.now() / 1000)}` }
  return [
    ["as it was signed", good, verified],
    ["by the other signature", { ...good, ...service }, verified],
    ["names in upper case", { ...good, headers: upper }, verified],
    ["several secrets", { ...good, secret: ["whsec_AAAA", good.secret] }, verified],
    ["rotated, for the old secret", arrival({ rotated: true, held: previous }), verified],
    [
      "rotated, for the old secret by the other",
      { ...arrival({ rotated: true, held: previous }), ...service },
      verified
    ],
    ["another secret", arrival({ held: foreign }), "signature_mismatch"],
    ["another secret by the other", { ...arrival({ held: foreign }), ...service }, "signature_mismatch"],
    ["a changed body", changed, "signature_mismatch"],
    ["a changed body by the other", { ...changed, ...service }, "signature_mismatch"],
    ["garbage", { ...good, headers: garbage }, "signature_mismatch"],
    ["garbage by the other", { ...good, headers: garbage, ...service }, "signature_mismatch"],
    ["no headers", { ...good, headers: {} }, "headers_missing"],
    ["no secret", { ...good, secret: "secret" }, "secret_invalid"],
    ["250 seconds old", arrival({ ago: 250 }), verified],
    ["310 seconds old", arrival({ ago: 310 }), "timestamp_outside_tolerance"],
    ["310 seconds ahead", arrival({ ago: -310 }), "timestamp_outside_tolerance"],
    ["310 seconds old, tolerated", { ...arrival({ ago: 310 }), options: { tolerance: 600 } }, verified],
    ["a changed time", { ...good, headers: now }, "signature_mismatch"]
  ]
}

layer(Layer.mergeAll(Built.layer, Service.layer()), { excludeTestServices: true })(
  "the Python package of the SDK",
  (it) => {
    it.effect.skipIf(system === undefined)(
      "both clients have a method for every endpoint, which sends its request",
      () =>
        Effect.gen(function*() {
          const called = operations.filter(({ operationId }) => aliases[operationId] === undefined)
          const sent = (yield* ask("record.py", called.map(({ call }) => call))) as ReadonlyArray<Sent> // record.py prints it
          assert.strictEqual(sent.length, 2 * called.length)
          for (const [index, request] of sent.entries()) {
            const { expected, operationId } = called[index % called.length] ?? { expected: {}, operationId: "" }
            assert.deepStrictEqual<unknown>(seen(request), expected, operationId)
          }
        })
    )

    it.effect.skipIf(system === undefined)(
      "retries, errors and lists behave as documented",
      () =>
        Effect.gen(function*() {
          const { python } = yield* Built
          const { code, output } = yield* runProgram(python, ["-W", "error", NodePath.join(tests, "test_client.py")])
          assert.strictEqual(code, 0, output)
        })
    )

    it.effect.skipIf(system === undefined)(
      "webhooks.verify accepts what the service signs, and nothing else",
      () =>
        Effect.gen(function*() {
          const all = arrivals()
          const outcomes = (yield* ask("judge.py", all.map(([, arrival]) => arrival))) as ReadonlyArray<unknown> // a list
          assert.deepStrictEqual(
            all.map(([what], index) => [what, outcomes[index]]),
            all.map(([what, , outcome]) => [what, outcome])
          )
        })
    )

    it.effect.skipIf(system === undefined || mypy === undefined)(
      "its types hold under mypy's strict settings",
      () =>
        Effect.gen(function*() {
          const { project } = yield* Built
          const { code, output } = yield* runProgram(mypy ?? "", [
            "--strict",
            "--cache-dir",
            cache,
            "-p",
            "messaging_service"
          ], {
            cwd: project
          })
          assert.strictEqual(code, 0, output)
        })
    )

    it.effect.skipIf(system === undefined)("the examples of its page run against a node", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { folder, python } = yield* Built
        const { key } = yield* makeAccount()
        assert.isAtLeast(examples.length, 5)
        for (const { code, what } of examples.filter(({ what }) => what === "")) {
          const file = NodePath.join(folder, "example.py")
          NodeFs.writeFileSync(file, code)
          const ended = yield* runProgram(python, ["-W", "error", file], {
            env: { MESSAGING_URL: node.baseUrl, MESSAGING_API_KEY: key }
          })
          assert.strictEqual(ended.code, 0, `${what}\n${code}\n${ended.output}`)
        }
      }))

    it.effect.skipIf(system === undefined)(
      "the receiver of its page accepts an event of the service and nothing else",
      () =>
        Effect.gen(function*() {
          const node = yield* Service
          const { folder, python } = yield* Built
          const { key } = yield* makeAccount()
          const port = yield* freePort
          const url = `http://127.0.0.1:${port}/`
          const webhook = yield* node.request("POST", "/v1/webhooks", { key, json: { url, events: ["*"] } })
          const file = NodePath.join(folder, "receiver.py")
          NodeFs.writeFileSync(file, examples.find(({ what }) => what === "receiver")?.code ?? "")
          yield* Effect.forkScoped(runProgram(python, [file], {
            env: { PORT: `${port}`, WEBHOOK_SECRET: String(webhook.at("data", "secret")) }
          }))
          const post = Effect.promise(() =>
            fetch(url, { method: "POST", body: "{}" }).then(({ status }) => status, () => 0)
          )
          yield* eventually(post, (status) => status === 400, longer.start)
          const tested = yield* node.request("POST", `/v1/webhooks/${webhook.at("data", "id")}/test`, {
            key,
            json: { event: "email.bounced" }
          })
          assert.strictEqual(tested.at("data", "response_code"), 204)
        })
    )
  }
)
