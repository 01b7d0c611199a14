import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { dotStuffed } from "../../../../src/channels/email/smtp/dotStuffed.ts"

const Piece = Schema.Literals(["\r\n", "\r\n", "\r\n", "\r", "\n", ".", "..", "a", "ä", "word. ", ""])
const Text = Schema.Array(Piece)

const wire = (text: string) => dotStuffed(Buffer.from(text)).toString()

/** What a relay keeps of the bytes after DATA (RFC 5321 4.5.2): undefined when they go on after the final dot. */
const kept = (bytes: string) => {
  const lines = bytes.split("\r\n")
  const end = lines.indexOf(".")
  if (end !== lines.length - 2 || lines.at(-1) !== "") return undefined
  return lines.slice(0, end).map((line) => `${line.startsWith(".") ? line.slice(1) : line}\r\n`).join("")
}

describe("a message as DATA carries it", () => {
  it.prop("is what the relay keeps, every line end CRLF and the last line ended", [Text], ([pieces]) => {
    const text = pieces.join("")
    const lines = text.replaceAll(/\r\n|\r|\n/g, "\r\n")
    assert.strictEqual(kept(wire(text)), lines.endsWith("\r\n") ? lines : `${lines}\r\n`, JSON.stringify(text))
  })

  it.prop("has no lone CR or LF that could end it for a relay that takes those", [Text], ([pieces]) => {
    assert.notMatch(wire(pieces.join("")), /(?<!\r)\n|\r(?!\n)/)
  })

  it("keeps the bytes of one that has nothing to mend, UTF-8 included", () => {
    assert.strictEqual(wire("a: ü\r\n\r\ntext\r\n"), "a: ü\r\n\r\ntext\r\n.\r\n")
  })

  it("doubles a dot at the beginning of a line, the first one and one after a lone line feed too", () => {
    assert.strictEqual(wire(".a\r\n.\r\n\n.\n"), "..a\r\n..\r\n\r\n..\r\n.\r\n")
  })
})
