import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { dotStuffed, mailTransaction } from "../../../../src/channels/email/smtp/mailTransaction.ts"
import type { SmtpMail } from "../../../../src/channels/email/smtp/Smtp.ts"

const mail: SmtpMail = {
  envelope: { from: "news@sender.example", to: "ann@example.com" },
  message: Buffer.from("Subject: test\r\n\r\nhello\r\n"),
  priority: "bulk",
  account: null
}

/** Runs a transaction against a relay with these replies, and records what the relay received. */
const converse = (offered: ReadonlyArray<string>, replies: ReadonlyArray<string>, sent: SmtpMail = mail) => {
  const transaction = mailTransaction(sent, offered)
  const received: Array<string> = []
  let step = transaction.next()
  for (const reply of replies) {
    if (step.done === true) break
    if (step.value._tag === "WriteCommands") received.push(step.value.commands)
    if (step.value._tag === "WriteMessage") received.push("(message)")
    step = transaction.next(reply)
  }
  return { received, end: step.done === true ? step.value : undefined }
}

const tagOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>) => {
  const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
  return reason?._tag === "Fail" ? reason.error._tag : "Accepted"
}

const outcome = ({ end }: ReturnType<typeof converse>) => end && { tag: tagOf(end.exit), inStep: end.inStep }

const from = "MAIL FROM:<news@sender.example>\r\n"
const to = "RCPT TO:<ann@example.com>\r\n"
const data = "DATA\r\n"

describe("mailTransaction", () => {
  it("writes one command after the other", () => {
    const { end, received } = converse([], ["250 ok", "250 ok", "354 go on", "250 2.0.0 queued as 1"])
    assert.deepStrictEqual(received, [from, to, data, "(message)"])
    assert.deepStrictEqual(end, { exit: Exit.succeed({ response: "250 2.0.0 queued as 1" }), inStep: true })
  })

  it("writes all commands at once if the relay offers PIPELINING, and the message after the reply to DATA", () => {
    const result = converse(["PIPELINING"], ["250 ok", "250 ok", "354 go on", "250 queued"])
    assert.deepStrictEqual(result.received, [from + to + data, "(message)"])
    assert.deepStrictEqual(outcome(result), { tag: "Accepted", inStep: true })
  })

  it("stops at a refusal and writes no further command", () => {
    for (const replies of [["550 no"], ["250 ok", "550 no"], ["250 ok", "250 ok", "451 later"]]) {
      const result = converse([], [...replies, "250 of the next transaction"])
      assert.deepStrictEqual(outcome(result), { tag: "RecipientRefused", inStep: true })
      assert.deepStrictEqual(result.received, [from, to, data].slice(0, replies.length))
    }
  })

  it("awaits the replies to all commands before it ends, and reports the first refusal", () => {
    for (
      const [replies, stage] of [[["450 a", "503 b", "503 c"], "mail"], [["250 ok", "450 a", "554 b"], "rcpt"]] as const
    ) {
      assert.strictEqual(converse(["PIPELINING"], replies.slice(0, 2)).end, undefined)
      const { end } = converse(["PIPELINING"], replies)
      assert.isTrue(end?.inStep)
      const reason = end !== undefined && Exit.isFailure(end.exit) ? end.exit.cause.reasons[0] : undefined
      assert.deepInclude(reason?._tag === "Fail" ? reason.error : {}, { _tag: "RecipientRefused", stage, code: 450 })
    }
  })

  it("ends the message of a relay that accepted DATA without a recipient", () => {
    const result = converse(["PIPELINING"], ["250 ok", "550 no", "354 go on", "554 no valid recipients"])
    assert.deepStrictEqual(result.received, [from + to + data, ".\r\n"])
    assert.deepStrictEqual(outcome(result), { tag: "RecipientRefused", inStep: true })
  })

  it("writes nothing more to a relay that refused the sender and accepted DATA", () => {
    const result = converse(["PIPELINING"], ["550 no", "503 no", "354 go on"])
    assert.deepStrictEqual(result.received, [from + to + data])
    assert.deepStrictEqual(outcome(result), { tag: "RecipientRefused", inStep: false })
  })

  it("ends at a 421, after which no replies follow", () => {
    for (
      const [replies, tag] of [
        [["421 bye"], "RelayUnavailable"],
        [["250 ok", "421 bye"], "RelayUnavailable"],
        [["450 later", "421 bye"], "RecipientRefused"]
      ] as const
    ) assert.deepStrictEqual(outcome(converse(["PIPELINING"], replies)), { tag, inStep: false })
  })

  it("adds SIZE, DSN and SMTPUTF8 parameters if the relay offers them", () => {
    const dsn = { envid: "a b+c=ü", notify: ["SUCCESS", "FAILURE"], ret: "HDRS", orcpt: "ann+x@example.com" } as const
    const sent = { ...mail, envelope: { from: "jürgen@sender.example", to: "ann@example.com", dsn } }
    assert.deepStrictEqual(converse(["SIZE", "DSN", "SMTPUTF8"], ["250 ok", "550 no"], sent).received, [
      "MAIL FROM:<jürgen@sender.example> SMTPUTF8 SIZE=24 RET=HDRS ENVID=a+20b+2Bc+3D+C3+BC\r\n",
      "RCPT TO:<ann@example.com> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ann+2Bx@example.com\r\n"
    ])
  })

  const replies = ["250 ok", "250-a\n250 b", "354 go on", "421 bye", "450 later", "503 what", "550 no", "?", ""]
  const conversations = (left: number): ReadonlyArray<ReadonlyArray<string>> =>
    left === 0 ? [[]] : conversations(left - 1).flatMap((before) => replies.map((reply) => [...before, reply]))

  it("ends at the fifth reply at the latest, and is accepted only by a 2xx to the message", () => {
    const accepted = conversations(4).flatMap((replies) =>
      [[], ["PIPELINING"]].map((offered) => {
        const result = converse(offered, [...replies, "250 after our empty message"])
        assert.isDefined(result.end)
        if (outcome(result)?.tag !== "Accepted") return 0
        assert.deepStrictEqual([result.received.at(-1), result.end?.inStep], ["(message)", true])
        assert.match(replies[3] ?? "", /^2/)
        return 1
      })
    )
    // Two positive replies each to MAIL, RCPT and the message, three to DATA, with PIPELINING and without.
    assert.strictEqual(accepted.filter((one) => one === 1).length, 2 * 2 * 3 * 2 * 2)
  })
})

const Piece = Schema.Literals(["\r\n", "\r\n", "\r\n", "\r", "\n", ".", "..", "a", "ä", "word. ", ""])
const Text = Schema.Array(Piece)

const encode = (text: string) => dotStuffed(Buffer.from(text)).toString()

/** The message that a relay reads after DATA (RFC 5321 4.5.2); undefined when bytes follow the final dot. */
const decode = (bytes: string) => {
  const lines = bytes.split("\r\n")
  const end = lines.indexOf(".")
  if (end !== lines.length - 2 || lines.at(-1) !== "") return undefined
  return lines.slice(0, end).map((line) => `${line.startsWith(".") ? line.slice(1) : line}\r\n`).join("")
}

describe("dotStuffed", () => {
  it.prop("encodes what the relay decodes to the message, with CRLF after every line", [Text], ([pieces]) => {
    const text = pieces.join("")
    const lines = text.replaceAll(/\r\n|\r|\n/g, "\r\n")
    assert.strictEqual(decode(encode(text)), lines.endsWith("\r\n") ? lines : `${lines}\r\n`, JSON.stringify(text))
  })

  it.prop("leaves no lone CR or LF, which some relays take for a line end", [Text], ([pieces]) => {
    assert.notMatch(encode(pieces.join("")), /(?<!\r)\n|\r(?!\n)/)
  })

  it("keeps the bytes of a message that needs no change, UTF-8 included", () => {
    assert.strictEqual(encode("a: ü\r\n\r\ntext\r\n"), "a: ü\r\n\r\ntext\r\n.\r\n")
  })

  it("doubles a dot at the beginning of a line, also of the first and after a lone line feed", () => {
    assert.strictEqual(encode(".a\r\n.\r\n\n.\n"), "..a\r\n..\r\n\r\n..\r\n.\r\n")
  })
})
