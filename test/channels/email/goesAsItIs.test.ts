import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { goesAsItIs } from "../../../src/channels/email/goesAsItIs.ts"

const Piece = Schema.Literals(["\r\n", "\r\n", "\r\n", "\r", "\n", ".", "..", "a", "ä", "word. ", ""])

describe("a message that goes as it is", () => {
  it.prop("has CRLF at the end of each line, the last one too, and no dot at the beginning of one", [
    Schema.Array(Piece)
  ], ([pieces]) => {
    const text = pieces.join("")
    const lines = text.split("\r\n")
    const isWhole = lines.length > 1 && lines.at(-1) === ""
    const isPlain = lines.every((line) => !/^\.|[\r\n]/.test(line))
    assert.strictEqual(goesAsItIs(Buffer.from(text)), isWhole && isPlain, JSON.stringify(text))
  })

  it("is every ordinary one, and none of those that a dot or a lone line feed would end early", () => {
    const judged = ["a: b\r\n\r\ntext\r\n", "", "\r\n", "a", "a\n", ".\r\n", "a\r\n.b\r\n", "a\r.\r\n", "a\n.\n\r\n"]
    assert.deepStrictEqual(
      judged.map((text) => goesAsItIs(Buffer.from(text))),
      [true, false, true, false, false, false, false, false, false]
    )
  })
})
