import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { oneLine, oneLineEach } from "../../src/values/messageText.ts"

describe("text of messages", () => {
  it("escapes line ends, other control characters and line separators", () => {
    assert.strictEqual(
      oneLine("x\r\nX-Injected: 1\t\u0000\u001b[31m\u0085\u2028é"),
      "x\\r\\nX-Injected: 1\\t\\u0000\\u001b[31m\\u0085\\u2028é"
    )
  })

  it.prop("leaves no character that begins a line or controls a terminal", [Schema.String], ([text]) => {
    assert.isFalse(/[\p{Cc}\u2028\u2029]/u.test(oneLine(text)))
  })

  it("escapes every text inside a value", () => {
    assert.deepStrictEqual(oneLineEach({ param: "a\n", errors: [{ message: "b\r" }], count: 1, none: null }), {
      param: "a\\n",
      errors: [{ message: "b\\r" }],
      count: 1,
      none: null
    })
  })
})
