import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { jsonShape } from "../../../src/platform/http/requestBody.ts"

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const valuesOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, part) => sum + valuesOf(part), 1)
    : 1

/** The most members of one array, or of one object, in a value. */
const mostOf = (value: unknown, isCounted: (holder: object) => boolean): number => {
  if (typeof value !== "object" || value === null) return 0
  const parts = Object.values(value)
  return Math.max(isCounted(value) ? parts.length : 0, ...parts.map((part) => mostOf(part, isCounted)))
}

describe("jsonShape", () => {
  it.prop("returns the depth of any JSON value, and at least its number of values", [Schema.Json], ([
    value
  ]) => {
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      const { depth, elements, names, values } = jsonShape(text)
      // A single member has no comma.
      for (
        const [found, most] of [
          [elements, mostOf(value, Array.isArray)],
          [names, mostOf(value, (holder) => !Array.isArray(holder))]
        ] as const
      ) assert.strictEqual(Math.max(found, 1), Math.max(most, 1))
      assert.strictEqual(depth, depthOf(value))
      assert.isTrue(values >= valuesOf(value) && values <= 2 * valuesOf(value), `${values} of ${valuesOf(value)}`)
    }
  })

  it.prop("ignores brackets and commas in strings", [Schema.String], ([text]) => {
    const name = `{[,${text}\\"`
    assert.deepStrictEqual(jsonShape(JSON.stringify({ [name]: `[${text}",{{[\\` })), {
      depth: 1,
      values: 2,
      elements: 0,
      names: 0,
      outermost: [JSON.stringify(name)]
    })
  })

  it("counts opened brackets that are never closed", () => {
    assert.strictEqual(jsonShape("[".repeat(100_000)).depth, 100_000)
    assert.strictEqual(jsonShape("").depth, 0)
    assert.strictEqual(jsonShape("\"\\").depth, 0)
  })

  it("reads a long text in one pass", () => {
    assert.strictEqual(jsonShape(`{"a":"${"\\\\[".repeat(3_000_000)}"}`).depth, 1)
  })
})
