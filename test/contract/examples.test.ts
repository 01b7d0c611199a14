import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeUrl from "node:url"
import { Service } from "../support/Service.ts"
import { fieldsIn, operations, prepare, run } from "./examples.ts"

const path = NodeUrl.fileURLToPath(new URL("../../src/app/server/examples.json", import.meta.url))

const stored: Record<string, object> = JSON.parse(NodeFs.readFileSync(path, "utf8"))

/** `EXAMPLES=write` stores the examples of operations whose fields have changed. */
const isWriting = process.env["EXAMPLES"] === "write"

/** Fields whose value differs from run to run: an object that is null, or a list that is empty, has none. */
const isLikely = (field: string) => !/\.(?:attempts\[\]|payload|detail|scopes\[\]|warnings\[\])\b/.test(field)

const comparable = (example: object) => fieldsIn(example).filter(isLikely)

const store = (examples: Record<string, object>) => {
  const names = operations.map(({ documented }) => documented).toSorted()
  const kept = Object.fromEntries(names.map((name) => [name, examples[name]]))
  NodeFs.writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`)
}

describe("examples of the OpenAPI document", () => {
  it.skipIf(isWriting)("every operation has one, and no other has", () => {
    assert.sameMembers(Object.keys(stored), operations.map(({ documented }) => documented), "EXAMPLES=write makes it")
  })
})

layer(Service.layer(), { excludeTestServices: true })(
  "examples and what the service answers",
  (it) => {
    it.effect("each example has the fields of a real request and its answer (EXAMPLES=write makes them)", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        yield* prepare
        const made: Record<string, object> = {}
        for (const operation of operations) {
          const name = operation.documented
          const { answer, example } = yield* run(request, operation)
          assert.isTrue(answer.status >= 200 && answer.status < 300, `${name}: ${answer.text}`)
          const before = stored[name]
          const isSame = before !== undefined &&
            JSON.stringify(comparable(before)) === JSON.stringify(comparable(example))
          made[name] = isSame ? before : example
          if (!isWriting) assert.deepStrictEqual(comparable(before ?? {}), comparable(example), name)
        }
        if (isWriting) store(made)
      }))
  }
)
