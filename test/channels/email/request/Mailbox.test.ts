import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Mailbox } from "../../../../src/channels/email/request/Mailbox.ts"
import { violationsOf } from "../../../../src/platform/http/violations.ts"

const decode = (text: unknown) => Schema.decodeUnknownResult(Mailbox)(text)

const accepted: ReadonlyArray<readonly [string, { readonly name?: string; readonly address: string }]> = [
  ["a@example.com", { address: "a@example.com" }],
  ["<a@example.com>", { address: "a@example.com" }],
  ["Example <a@EXAMPLE.com>", { name: "Example", address: "a@example.com" }],
  ["  J. R. Ünder (Sales)  <a@example.com> ", { name: "J. R. Ünder (Sales)", address: "a@example.com" }],
  ["\"Example, Inc.\" <a@example.com>", { name: "Example, Inc.", address: "a@example.com" }],
  ["\"a \\\"b\\\" \\\\ <c>\" <a@example.com>", { name: "a \"b\" \\ <c>", address: "a@example.com" }],
  ["\"\" <a@example.com>", { address: "a@example.com" }]
]

const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["a comma outside quotes", "Example, Inc. <a@example.com>", /double quotes/],
  ["two addresses", "a@example.com, B <b@example.com>", /double quotes/],
  ["an open quote", "\"Example <a@example.com>", /double quotes/],
  ["a line break in the name", "Example\r\nBcc: b <a@example.com>", /line breaks/],
  ["a NUL", "Ex\0ample <a@example.com>", /control/],
  ["no address", "Example", /no @/],
  ["an empty address", "Example <>", /empty/],
  ["text after the address", "Example <a@example.com> x", /angle brackets/],
  ["only a closing bracket", "a@example.com>", /Name <name/],
  ["a name of 201 characters", `${"n".repeat(201)} <a@example.com>`, /200/],
  ["a megabyte", `${" ".repeat(1_000_000)}<a@example.com>`, /700/]
]

describe("Mailbox", () => {
  for (const [text, mailbox] of accepted) {
    it(`reads ${text}`, () => assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(text)), mailbox))
  }

  for (const [what, text, message] of refused) {
    it(`refuses ${what} and says why`, () => {
      const result = decode(text)
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) assert.match(result.failure.message, message)
    })
  }

  it("reports the faults of its parts without a field name", () => {
    for (const text of ["nope", "Example <nope>", `${"n".repeat(201)} <a@example.com>`]) {
      const result = decode(text)
      const found = Result.isFailure(result) ? violationsOf(result.failure.issue) : []
      assert.deepStrictEqual(found.map(({ param }) => param), [""], text)
    }
  })

  const names = Schema.Array(Schema.Literals(["a", "Ü", ",", "\"", "\\", "<", ">", "@", " b", "😀"]))

  it.prop("reads back every name that it writes", { names }, ({ names }) => {
    const name = names.join("").trim()
    const text = Schema.encodeSync(Mailbox)({
      ...(name === "" ? {} : { name }),
      address: Schema.decodeSync(Mailbox)("a@example.com").address
    })
    assert.strictEqual(Schema.decodeSync(Mailbox)(text).name, name === "" ? undefined : name)
  })
})
