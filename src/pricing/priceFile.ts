import { Result, Schema } from "effect"

/** One line of a price list. */
export const PriceLine = Schema.Struct({
  code: Schema.String,
  country: Schema.String,
  dialPrefix: Schema.String,
  priceMicros: Schema.Int
})
export type PriceLine = typeof PriceLine.Type

/** The first line of every price list, after comments. */
export const header = "code,country,dial_prefix,price_usd"

/** `0.0079`: at most 999 dollars and six decimals. */
const price = /^(\d{1,3})(?:\.(\d{1,6}))?$/

/** The micro-dollars of a decimal number, parsed digit by digit, because the float 0.0079 is inexact. */
export const microsOf = (text: string): number | undefined => {
  const [, whole, fraction = ""] = price.exec(text) ?? []
  return whole === undefined ? undefined : Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"))
}

/** The fields of a CSV line (RFC 4180); undefined if a quotation mark is not closed. */
const fieldsOf = (line: string): ReadonlyArray<string> | undefined => {
  const fields: Array<string> = []
  const field = /("(?:[^"]|"")*"|[^",]*)(,|$)/gy
  while (field.lastIndex <= line.length) {
    const [whole, text = "", end] = field.exec(line) ?? []
    if (whole === undefined) return undefined
    fields.push(text.startsWith("\"") ? text.slice(1, -1).replaceAll("\"\"", "\"") : text.trim())
    if (end === "") return fields
  }
  return undefined
}

/** The price of a line, or its fault. */
const lineOf = (text: string): Result.Result<PriceLine, string> => {
  const fields = fieldsOf(text)
  if (fields?.length !== 4) return Result.fail("must have four fields")
  const [code = "", country = "", dialPrefix = "", usd = ""] = fields
  const priceMicros = microsOf(usd)
  if (!/^[A-Z]{2}$/.test(code)) return Result.fail("must begin with a country code of two capital letters")
  if (country === "" || country.length > 100) return Result.fail("must name the country, in at most 100 characters")
  if (!/^\+\d{1,7}$/.test(dialPrefix)) return Result.fail("must have a dial prefix such as +250")
  if (priceMicros === undefined) {
    return Result.fail("must have a price in dollars such as 0.0079, with at most six decimals")
  }
  return Result.succeed({ code, country, dialPrefix, priceMicros })
}

/** Parses a whole price list. The failure names the first wrong line. Lines that begin with # are comments. */
export const readPrices = (text: string): Result.Result<ReadonlyArray<PriceLine>, string> => {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/)
    .map((content, index) => ({ content, number: index + 1 }))
    .filter(({ content }) => content.trim() !== "" && !content.startsWith("#"))
  const [first, ...rest] = lines
  if (first?.content.trim() !== header) return Result.fail(`line ${first?.number ?? 1} must be ${header}`)
  const found = new Map<string, PriceLine>()
  for (const { content, number } of rest) {
    const line = lineOf(content)
    if (Result.isFailure(line)) return Result.fail(`line ${number} ${line.failure}`)
    if (found.has(line.success.code)) return Result.fail(`line ${number} repeats ${line.success.code}`)
    found.set(line.success.code, line.success)
  }
  return found.size === 0 ? Result.fail("the list has no prices") : Result.succeed([...found.values()])
}
