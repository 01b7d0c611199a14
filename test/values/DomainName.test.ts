import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { DomainName, organizationalDomain, RegistrableDomainName } from "../../src/values/DomainName.ts"

const decode = (text: unknown) => Schema.decodeUnknownResult(DomainName)(text)

const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["an empty name", "", /empty/],
  ["a single label", "localhost", /two labels/],
  ["only a dot", ".", /empty label|IP/],
  ["an empty label", "a..example", /empty label/],
  ["a leading dot", ".example.com", /empty label/],
  ["two final dots", "example.com..", /empty label/],
  ["an underscore", "a_b.example", /underscore/],
  ["a label that begins with a hyphen", "-a.example", /inner hyphens/],
  ["a label that ends with a hyphen", "a-.example", /inner hyphens/],
  ["a label of 64 characters", `${"a".repeat(64)}.example`, /63/],
  ["a name of 254 characters", `${"a23456789.".repeat(25)}abcd`, /253/],
  ["an IPv4 address", "127.0.0.1", /IP address/],
  ["a hexadecimal IPv4 address", "0x7f.0x1", /IP address/],
  ["an IPv4 address in full-width digits", "１２７.０.０.１", /IP address/],
  ["an IPv6 literal", "[::1]", /IP address/],
  ["a port", "example.com:25", /port/],
  ["a percent escape", "a%41.example", /letters, digits/],
  ["a space", "a b.example", /letters, digits/],
  ["a line break", "a.example\r\n", /letters, digits/],
  ["NUL", "a\0.example", /letters, digits/],
  ["a lone surrogate", "a\ud800.example", /Unicode/],
  ["a direction override", "a\u202eb.example", /internationalised/],
  ["a megabyte", "a.".repeat(500_000), /253/]
]

describe("DomainName", () => {
  for (const [what, text, message] of refused) {
    it(`DomainName refuses ${what} with a reason`, () => {
      const result = decode(text)
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) assert.match(result.failure.message, message)
    })
  }

  it("a domain name becomes lower-case A-labels without a final dot", () => {
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode("Example.COM.")), "example.com")
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode("Bücher.Example")), "xn--bcher-kva.example")
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode("XN--Bcher-KVA.example")), "xn--bcher-kva.example")
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode("a。example")), "a.example")
  })

  it("a domain name need not be in any registry", () => {
    for (const name of ["b.test", "something.localhost", "localhost.localdomain", "mail.internal"]) {
      assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(name)), name)
    }
  })

  it("the longest label and the longest name are accepted", () => {
    assert.isTrue(Result.isSuccess(decode(`${"a".repeat(63)}.example`)))
    assert.isTrue(Result.isSuccess(decode(`${"a23456789.".repeat(25)}abc`)))
  })

  it.prop(
    "a parsed domain name decodes to itself",
    { name: DomainName },
    ({ name }) => assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(name)), name)
  )

  it.prop(
    "parsing a domain name never throws, and accepted names are canonical",
    { text: Schema.String },
    ({ text }) => {
      const result = decode(text)
      if (Result.isSuccess(result)) assert.match(result.success, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
    }
  )
})

describe("RegistrableDomainName", () => {
  it.effect("a public suffix is not a registrable domain name", () =>
    Effect.gen(function*() {
      for (const name of ["co.uk", "CO.UK.", "foo.ck", "kawasaki.jp"]) {
        const issue = yield* Effect.flip(Schema.decodeEffect(RegistrableDomainName)(name))
        assert.include(issue.message, "public suffix")
      }
    }))

  it.effect("a registrable domain name may be below a private suffix and outside every registry", () =>
    Effect.gen(function*() {
      for (const name of ["example.co.uk", "a.example.com", "me.github.io", "b.test", "www.ck"]) {
        assert.strictEqual(yield* Schema.decodeEffect(RegistrableDomainName)(name), name)
      }
    }))

  it("organizationalDomain returns the registered domain of a name", () => {
    const of = (name: string) => organizationalDomain(DomainName.make(name))
    assert.strictEqual(of("a.b.example.co.uk"), "example.co.uk")
    assert.strictEqual(of("me.github.io"), "github.io")
    assert.isNull(of("co.uk"))
  })
})
