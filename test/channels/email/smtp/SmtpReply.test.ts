import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SmtpReplies } from "../../../../src/channels/email/smtp/SmtpReply.ts"

const Reply = Schema.Literals([
  "250 2.1.0 ok",
  "250-first\r\n250-second\r\n250 last",
  "354 go on",
  "550 geht nicht: ü €"
])
const Cut = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))

/** All that a reader makes of bytes that come in pieces of these sizes, again and again. */
const readInPieces = (bytes: Buffer, sizes: ReadonlyArray<number>) => {
  const reader = new SmtpReplies()
  const replies: Array<string> = []
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    replies.push(...reader.take(bytes.subarray(at, at + size)) ?? [])
    at += size
  }
  return { replies, rest: reader.rest }
}

describe("the replies of a relay", () => {
  it.prop("are the same however they are cut into pieces", [Schema.Array(Reply), Schema.NonEmptyArray(Cut)], (
    [sent, sizes]
  ) => {
    const bytes = Buffer.from(sent.map((reply) => `${reply}\r\n`).join(""))
    const expected = sent.map((reply) => reply.replaceAll("\r\n", "\n"))
    assert.deepStrictEqual(readInPieces(bytes, sizes), { replies: expected, rest: "" })
  })

  it("may end their lines with LF alone, and have empty lines between them", () => {
    assert.deepStrictEqual(new SmtpReplies().take(Buffer.from("250-a\n250 b\n\r\n354 c\r\n")), [
      "250-a\n250 b",
      "354 c"
    ])
  })

  it("are told as far as they came", () => {
    const reader = new SmtpReplies()
    assert.deepStrictEqual(reader.take(Buffer.from("250 ok\r\n421-going\r\n421 do")), ["250 ok"])
    assert.strictEqual(reader.rest, "421-going\n421 do")
  })

  it("are given up at 64 kB without an end, be it of a line or of a reply", () => {
    for (const endless of ["x".repeat(1_000), `250-${"x".repeat(994)}\r\n`]) {
      const reader = new SmtpReplies()
      const taken = Array.from({ length: 70 }, () => reader.take(Buffer.from(endless)))
      assert.deepStrictEqual(taken.slice(0, 60), taken.slice(0, 60).map(() => []))
      assert.strictEqual(taken.at(-1), undefined)
    }
  })
})
