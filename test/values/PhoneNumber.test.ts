import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { countryOf, dialPrefixes, phoneFacts, PhoneNumber } from "../../src/values/PhoneNumber.ts"

const decode = (text: unknown) => Schema.decodeUnknownResult(PhoneNumber)(text)

const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["nothing", "", /empty/],
  ["spaces only", "   ", /empty/],
  ["a national number", "0788123456", /begin with the country code/],
  ["00 in the place of the plus", "00250788123456", /begin with the country code/],
  ["a plus alone", "+", /only digits/],
  ["two pluses", "++250788123456", /only digits/],
  ["words", "+call me", /only digits/],
  ["vanity letters", "+1-800-FLOWERS", /only digits/],
  ["an extension", "+250788123456;ext=5", /only digits/],
  ["an extension with x", "+250788123456 x5", /only digits/],
  ["a tel: link", "tel:+250788123456", /begin with the country code/],
  ["an SMPP injection", "+250788123456\0evil", /only digits/],
  ["a line break", "+250788\n123456", /only digits/],
  ["too few digits", "+25078", /not a possible number/],
  ["too many digits", "+2507881234567890", /not a possible number/],
  ["a number of nine digits in +1", "+1234567890", /not a possible number/],
  ["a country that does not exist", "+999123456789", /not a possible number/],
  ["a megabyte", `+${"1".repeat(1_000_000)}`, /at most 40/]
]

const accepted: ReadonlyArray<readonly [string, string, string, string | undefined]> = [
  ["digits without a plus", "250788123456", "+250788123456", "RW"],
  ["digits that a query gives", " 250 788 123 456", "+250788123456", "RW"],
  ["a plain number", "+250788123456", "+250788123456", "RW"],
  ["spaces, dashes and brackets", " +1 (212) 555-1234 ", "+12125551234", "US"],
  ["a kept national 0", "+2500788123456", "+250788123456", "RW"],
  ["Arabic digits", "+٢٥٠٧٨٨١٢٣٤٥٦", "+250788123456", "RW"],
  ["an unassigned number", "+15551234567", "+15551234567", "US"],
  ["an unassigned one of +44", "+447700900123", "+447700900123", "GB"],
  ["Guernsey, which shares +44", "+447911123456", "+447911123456", "GG"],
  ["Kazakhstan, which shares +7", "+77012345678", "+77012345678", "KZ"],
  ["Kosovo", "+38344123456", "+38344123456", "XK"],
  ["Antigua, which shares +1", "+12684641234", "+12684641234", "AG"],
  ["a satellite, which has no country", "+870773111632", "+870773111632", undefined]
]

describe("PhoneNumber", () => {
  for (const [what, text, message] of refused) {
    it(`PhoneNumber refuses ${what} with a reason`, () => {
      const result = decode(text)
      assert.isTrue(Result.isFailure(result))
      if (Result.isFailure(result)) assert.match(result.failure.message, message)
    })
  }

  for (const [what, text, e164, country] of accepted) {
    it(`PhoneNumber accepts ${what}`, () => {
      const number = Result.getOrThrow(decode(text))
      assert.deepStrictEqual([number, countryOf(number)], [e164, country])
    })
  }

  it.prop("a phone number is its own canonical form", [PhoneNumber], ([number]) => {
    assert.deepStrictEqual(Result.getOrThrow(decode(number)), number)
  })

  it("phoneFacts distinguishes assigned numbers and types of lines", () => {
    const facts = (text: string) => {
      const found = phoneFacts(text)
      return [found?.isAssigned, found?.lineType]
    }
    assert.deepStrictEqual(facts("+250788123456"), [true, "mobile"])
    assert.deepStrictEqual(facts("+442079460958"), [true, "fixed_line"])
    assert.deepStrictEqual(facts("+19005551234"), [true, "premium_rate"])
    assert.deepStrictEqual(facts("+18002345678"), [true, "toll_free"])
    assert.deepStrictEqual(facts("+15551234567"), [false, undefined])
    assert.deepStrictEqual(facts("+1234567890"), [undefined, undefined])
  })

  it("dialPrefixes has 245 countries, each with its prefix", () => {
    assert.strictEqual(dialPrefixes().length, 245)
    assert.deepStrictEqual(dialPrefixes().find(([country]) => country === "RW"), ["RW", "+250"])
  })
})
