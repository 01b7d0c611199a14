import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { relaxedBody } from "../../../../src/channels/email/mime/canonical.ts"

/** RFC 6376 3.4.4 word by word; undefined where a line end is not CRLF. */
const defined = (body: string): string | undefined => {
  const lines = body.split("\r\n").map((line) => line.split(/[ \t]+/).join(" ").replace(/ $/, ""))
  if (lines.some((line) => line.includes("\r") || line.includes("\n"))) return undefined
  while (lines.at(-1) === "") lines.pop()
  return lines.map((line) => `${line}\r\n`).join("")
}

const relaxed = (body: string) => relaxedBody(Buffer.from(body, "latin1"))?.toString("latin1")

const Piece = Schema.Literals([" ", " ", "\t", "\t", "\r\n", "\r\n", "\r\n", "a", "é", "\u00a0", "\v", "\u0085"])

describe("a relaxed body", () => {
  it.prop(
    "is what the standard defines, for any white space and line ends",
    [Schema.Array(Piece).check(Schema.isMaxLength(40))],
    ([pieces]) => {
      const body = pieces.join("")
      assert.strictEqual(relaxed(body), defined(body), JSON.stringify(body))
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.prop(
    "is none when a CR or LF stands alone",
    [Schema.Array(Schema.Union([Piece, Schema.Literals(["\r", "\n"])]))],
    ([pieces]) => {
      const body = pieces.join("")
      assert.strictEqual(relaxed(body), defined(body), JSON.stringify(body))
    },
    { arbitrary: { runs: 500 } }
  )

  it("is what the examples of RFC 6376 3.4.5 say", () => {
    assert.strictEqual(relaxed(" C \r\nD \t E\r\n\r\n\r\n"), " C\r\nD E\r\n")
    assert.deepStrictEqual(["", "\r\n", " ", " \t\r\n\r\n"].map(relaxed), ["", "", "", ""])
  })
})
