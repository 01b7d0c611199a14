import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as NodeFs from "node:fs"
import { header, microsOf, readPrices } from "../../src/pricing/priceFile.ts"

const example = NodeFs.readFileSync(new URL("../../sql/seed/sms_prices.csv", import.meta.url), "utf8")

const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
  ["nothing", "", /line 1 must be code,country/],
  ["another header", "iso,price\nRW,1", /line 1 must be code,country/],
  ["no prices", `${header}\n`, /has no prices/],
  ["a field too few", `${header}\nRW,Rwanda,+250`, /line 2 must have four fields/],
  ["a field too many", `${header}\nCD,Congo, Democratic,+243,0.1`, /line 2 must have four fields/],
  ["an open quotation mark", `${header}\nCD,"Congo,+243,0.1`, /line 2 must have four fields/],
  ["a code in small letters", `${header}\nrw,Rwanda,+250,0.1`, /two capital letters/],
  ["a prefix without a plus", `${header}\nRW,Rwanda,250,0.1`, /dial prefix/],
  ["a negative price", `${header}\nRW,Rwanda,+250,-0.1`, /price in dollars/],
  ["a price with a comma", `${header}\nRW,Rwanda,+250,"0,1"`, /price in dollars/],
  ["a price of seven decimals", `${header}\nRW,Rwanda,+250,0.0000001`, /price in dollars/],
  ["an exponent", `${header}\nRW,Rwanda,+250,1e3`, /price in dollars/],
  ["a country twice", `${header}\nRW,Rwanda,+250,0.1\n\nRW,Rwanda,+250,0.2`, /line 4 repeats RW/]
]

describe("priceFile", () => {
  for (const [what, text, message] of refused) {
    it(`a price list with ${what} is refused, and the refusal names the line`, () => {
      const read = readPrices(text)
      assert.isTrue(Result.isFailure(read))
      if (Result.isFailure(read)) assert.match(read.failure, message)
    })
  }

  it("a price list may contain comments, quotes, empty lines, a byte order mark and Windows line ends", () => {
    const text = `\uFEFF# mine\r\n${header}\r\n\r\nCD,"Congo, ""Democratic""",+243,0.1\r\n`
    assert.deepStrictEqual(Result.getOrThrow(readPrices(text)), [
      { code: "CD", country: `Congo, "Democratic"`, dialPrefix: "+243", priceMicros: 100_000 }
    ])
  })

  it("prices are parsed to the micro-dollar without floats", () => {
    assert.strictEqual(microsOf("0.0079"), 7_900)
    assert.strictEqual(microsOf("0.000001"), 1)
    assert.strictEqual(microsOf("0.000249"), 249)
    assert.strictEqual(microsOf("8.2"), 8_200_000)
    assert.strictEqual(microsOf("12"), 12_000_000)
    assert.strictEqual(microsOf("999.999999"), 999_999_999)
    for (const text of ["", ".5", "1.", "1000", "+1", " 1", "1,5", "NaN"]) assert.isUndefined(microsOf(text))
  })

  it("the example price list has 243 countries, each once, and says that its prices are examples", () => {
    const lines = Result.getOrThrow(readPrices(example))
    assert.strictEqual(lines.length, 243)
    assert.match(example, /^# EXAMPLE FIGURES/)
    assert.strictEqual(new Set(lines.map(({ country }) => country)).size, 243)
    assert.deepInclude(lines, { code: "RW", country: "Rwanda", dialPrefix: "+250", priceMicros: 45_000 })
  })
})
