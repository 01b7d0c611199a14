import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { jsonDepth } from "../../../src/platform/http/requestBody.ts"

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe("jsonDepth", () => {
  it.prop("is the depth of whatever value the text stands for", [Schema.Json], ([value]) => {
    assert.strictEqual(jsonDepth(JSON.stringify(value)), depthOf(value))
    assert.strictEqual(jsonDepth(JSON.stringify(value, null, 2)), depthOf(value))
  })

  it.prop("sees no brackets in strings", [Schema.String], ([text]) => {
    assert.strictEqual(jsonDepth(JSON.stringify({ [`{[${text}\\"`]: `${text}"{{[\\` })), 1)
  })

  it("counts what was opened, also where it was never closed", () => {
    assert.strictEqual(jsonDepth("[".repeat(100_000)), 100_000)
    assert.strictEqual(jsonDepth(""), 0)
    assert.strictEqual(jsonDepth("\"\\"), 0)
  })

  it("takes a long text in one pass", () => {
    assert.strictEqual(jsonDepth(`{"a":"${"\\\\[".repeat(3_000_000)}"}`), 1)
  })
})
