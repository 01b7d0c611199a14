/** Every operation of the contract is a method of the SDK, which sends the request that the contract describes. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { contractOf, generatedFiles } from "../../scripts/sdk/generate.ts"
import { aliases } from "../../scripts/sdk/names.ts"
import type { MessagingClient } from "../../src/sdk/MessagingClient.ts"
import { answer, recordingClient } from "./support.ts"

const root = NodePath.resolve(import.meta.dirname, "../..")
const text = NodeFs.readFileSync(NodePath.join(root, "docs/openapi.json"), "utf8")

interface Described {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: unknown
}

const document: {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
} = JSON.parse(text)

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation }))
)

const { operations } = contractOf(text)

/** The method at a place of the client, with its resource as `this`. */
const methodAt = (client: MessagingClient, place: ReadonlyArray<string>) => {
  const resource = place.slice(0, -1).reduce<unknown>((at, name) => Reflect.get(Object(at), name), client)
  const method: unknown = Reflect.get(Object(resource), place.at(-1) ?? "")
  if (typeof method !== "function") throw new Error(`client.${place.join(".")} is no method`)
  return (...values: ReadonlyArray<unknown>): PromiseLike<unknown> => Reflect.apply(method, resource, values)
}

const namesIn = (parameters: Described["parameters"] = [], place: string) =>
  parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)

describe("the SDK and the contract", () => {
  for (const { method, operationId, parameters, path, requestBody } of described) {
    it(`${method} ${path} has a method that sends it`, async () => {
      const operation = operations.find(({ id }) => id === operationId)
      if (operation === undefined) return assert.property(aliases, operationId, `${operationId} has no method`)
      const { client, sent } = recordingClient(() =>
        answer(200, { data: [], meta: { total: 0, page: 1, per_page: 25 } })
      )
      const inPath = namesIn(parameters, "path")
      const inQuery = namesIn(parameters, "query")
      const body = { field: "value" }
      await methodAt(client, [...operation.resource, operation.name])(
        ...inPath.map((name) => `${name}/é`),
        ...(requestBody === undefined ? [] : [body]),
        ...(inQuery.length === 0 ? [] : [Object.fromEntries(inQuery.map((name) => [name, `${name}&=`]))])
      )
      const [request] = sent
      assert.strictEqual(sent.length, 1)
      assert.strictEqual(request?.method, method)
      assert.strictEqual(
        request?.url.pathname,
        `/base${inPath.reduce((text, name) => text.replace(`{${name}}`, encodeURIComponent(`${name}/é`)), path)}`
      )
      assert.deepStrictEqual([...(request?.url.searchParams ?? [])], inQuery.map((name) => [name, `${name}&=`]))
      assert.strictEqual(request?.body, requestBody === undefined ? null : JSON.stringify(body))
      assert.strictEqual(request?.headers.get("authorization"), "Bearer sk_live_test")
      assert.strictEqual(
        request?.headers.has("idempotency-key"),
        namesIn(parameters, "header").includes("Idempotency-Key")
      )
    })
  }

  for (const [path, content] of Object.entries(generatedFiles(text))) {
    it(`${path} is current: run node scripts/openapi.ts`, () => {
      assert.strictEqual(NodeFs.readFileSync(NodePath.join(root, path), "utf8"), content)
    })
  }

  it("the SDK imports nothing from outside its folder", () => {
    const sdk = NodePath.join(root, "src/sdk")
    const files = NodeFs.readdirSync(sdk, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
    const imports = files.flatMap((file) =>
      [...NodeFs.readFileSync(NodePath.join(sdk, file), "utf8").matchAll(/(?:from|import\()\s*"([^"]+)"/g)]
        .map(([, target = ""]) => target.startsWith(".") ? NodePath.join(NodePath.dirname(file), target) : target)
    )
    assert.deepStrictEqual(imports.filter((target) => !files.includes(target)), [])
  })

  it("each left-out operation names a method that exists", () => {
    for (const method of Object.values(aliases)) {
      assert.include(operations.map(({ name, resource }) => [...resource, name].join(".")), method)
    }
  })

  it("a new operation becomes a method without a row, and one at a taken place is refused", () => {
    const planted = (operationId: string) =>
      JSON.stringify({
        ...JSON.parse(text),
        paths: { ...document.paths, "/v1/planted/{planted_id}": { get: { ...described[0], operationId } } }
      })
    assert.include(
      generatedFiles(planted("planted.find"))["src/sdk/generated/resources.ts"] ?? "",
      "interface PlantedResource"
    )
    assert.throws(() => generatedFiles(planted("email.send")), /names.ts/)
    assert.throws(() => generatedFiles(planted("email.batches")), /names.ts/)
  })
})
