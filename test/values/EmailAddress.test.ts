import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { domainOf, EmailAddress } from "../../src/values/EmailAddress.ts"

const decode = (text: unknown) => Schema.decodeUnknownResult(EmailAddress)(text)

const local64 = "a".repeat(64)

const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["nothing", "", /empty/],
  ["a word", "name", /no @/],
  ["two @", "a@b@example.com", /more than one @/],
  ["a list", "a@example.com, evil@example.net", /one address/],
  ["a list with semicolons", "a@example.com;evil@example.net", /one address/],
  ["a list without spaces", "a@example.com,evil@example.net", /one address/],
  ["a display name", "Name <a@example.com>", /angle brackets/],
  ["an SMTP injection", "b@d.example>\r\nRCPT TO:<evil@x.example", /line breaks/],
  ["a header injection", "a@example.com\nBcc: evil@example.net", /line breaks/],
  ["a final line break", "a@example.com\n", /line breaks/],
  ["a line separator", "a@example.com\u2028", /line breaks/],
  ["a NUL", "a\0@example.com", /control/],
  ["a tab", "a\t@example.com", /control/],
  ["a leading space", " a@example.com", /spaces/],
  ["a no-break space", "a\u00a0@example.com", /spaces/],
  ["a quoted local part", "\"a b\"@example.com", /quot/],
  ["a comment", "a(b)@example.com", /comment/],
  ["a lone surrogate", "a\ud800@example.com", /Unicode/],
  ["a non-ASCII local part", "üser@example.com", /ASCII/],
  ["nothing before the @", "@example.com", /nothing before/],
  ["nothing after the @", "a@", /nothing after/],
  ["a dot first", ".a@example.com", /dot/],
  ["a dot last", "a.@example.com", /dot/],
  ["two dots in a row", "a..b@example.com", /dot/],
  ["a backslash", "a\\b@example.com", /not allowed/],
  ["a local part of 65 characters", `${local64}a@example.com`, /64/],
  ["255 characters", `${local64}@${"a23456789.".repeat(18)}abcdefghij`, /254/],
  ["an address literal", "a@[127.0.0.1]", /domain/],
  ["an IPv4 address", "a@127.0.0.1", /IP address/],
  ["a single label", "a@localhost", /two labels/],
  ["an underscore in the domain", "a@b_c.example", /underscore/],
  ["a megabyte", `${"a".repeat(1_000_000)}@example.com`, /254/]
]

describe("EmailAddress", () => {
  for (const [what, text, message] of refused) {
    it(`EmailAddress refuses ${what} with a reason`, () => {
      const result = decode(text)
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) assert.match(result.failure.message, message)
    })
  }

  it("addresses of tests and sandboxes are accepted", () => {
    for (const text of ["user@example.com", "a@b.test", "x@something.localhost", "no-reply@localhost.localdomain"]) {
      assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(text)), text)
    }
  })

  it("an email address keeps its local part and canonicalises its domain", () => {
    assert.deepStrictEqual(
      Result.getOrNull<unknown, unknown>(decode("First.Last+Tag@Bücher.Example.")),
      "First.Last+Tag@xn--bcher-kva.example"
    )
    assert.deepStrictEqual(
      Result.getOrNull<unknown, unknown>(decode("!#$%&'*+/=?^_`{|}~-@A.test")),
      "!#$%&'*+/=?^_`{|}~-@a.test"
    )
  })

  it("the longest local part and the longest address are accepted", () => {
    const address = `${local64}@${"a23456789.".repeat(18)}abcdefghi`
    assert.strictEqual(address.length, 254)
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(address)), address)
  })

  it("domainOf returns the domain of an address", () =>
    assert.strictEqual(domainOf(EmailAddress.make("a@b.test")), "b.test"))

  it.prop("a parsed email address decodes and encodes to itself", { address: EmailAddress }, ({ address }) => {
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(address)), address)
    assert.strictEqual(Schema.encodeSync(EmailAddress)(address), address)
  })

  const hostile = Schema.Array(
    Schema.Literals([
      "a",
      "b.c",
      "@",
      "@d.example",
      ",",
      "<",
      ">",
      "\r\n",
      "\"",
      " ",
      "\0",
      "(",
      "ü",
      "\ud83d",
      ":",
      ";",
      "."
    ])
  )

  it.prop("no accepted address can become a second recipient", { parts: hostile }, ({ parts }) => {
    const result = decode(parts.join(""))
    if (Result.isSuccess(result)) assert.match(result.success, /^[!-~]{1,64}@[a-z0-9.-]+$/)
    if (Result.isSuccess(result)) assert.notMatch(result.success, /[<>,;:"()\\]|@.*@/)
  }, { arbitrary: { runs: 500 } })
})
