import { assert, describe, it } from "@effect/vitest"
import { Exit } from "effect"
import { mailTransaction } from "../../../../src/channels/email/smtp/mailTransaction.ts"
import type { SmtpMail } from "../../../../src/channels/email/smtp/Smtp.ts"

const mail: SmtpMail = {
  envelope: { from: "news@sender.example", to: "ann@example.com" },
  message: Buffer.from("Subject: test\r\n\r\nhello\r\n"),
  priority: "bulk"
}

/** A conversation with a relay that gives these replies, one to each command, and what it heard until the end. */
const converse = (offered: ReadonlyArray<string>, replies: ReadonlyArray<string>, sent: SmtpMail = mail) => {
  const transaction = mailTransaction(sent, offered)
  const heard: Array<string> = []
  let turn = transaction.next()
  for (const reply of replies) {
    if (turn.done === true) break
    if (turn.value._tag === "Say") heard.push(turn.value.commands)
    if (turn.value._tag === "SayMessage") heard.push("(message)")
    turn = transaction.next(reply)
  }
  return { heard, end: turn.done === true ? turn.value : undefined }
}

const tagOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>) => {
  const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
  return reason?._tag === "Fail" ? reason.error._tag : "Accepted"
}

const outcome = ({ end }: ReturnType<typeof converse>) => end && { tag: tagOf(end.exit), inStep: end.inStep }

const from = "MAIL FROM:<news@sender.example>\r\n"
const to = "RCPT TO:<ann@example.com>\r\n"
const data = "DATA\r\n"

describe("a mail transaction", () => {
  it("says one command after the other", () => {
    const { end, heard } = converse([], ["250 ok", "250 ok", "354 go on", "250 2.0.0 queued as 1"])
    assert.deepStrictEqual(heard, [from, to, data, "(message)"])
    assert.deepStrictEqual(end, { exit: Exit.succeed({ response: "250 2.0.0 queued as 1" }), inStep: true })
  })

  it("says all commands at once where the relay offers PIPELINING, and the message after the answer to DATA", () => {
    const talk = converse(["PIPELINING"], ["250 ok", "250 ok", "354 go on", "250 queued"])
    assert.deepStrictEqual(talk.heard, [from + to + data, "(message)"])
    assert.deepStrictEqual(outcome(talk), { tag: "Accepted", inStep: true })
  })

  it("stops at a refusal, having said no more", () => {
    for (const replies of [["550 no"], ["250 ok", "550 no"], ["250 ok", "250 ok", "451 later"]]) {
      const talk = converse([], [...replies, "250 of the next transaction"])
      assert.deepStrictEqual(outcome(talk), { tag: "RecipientRefused", inStep: true })
      assert.deepStrictEqual(talk.heard, [from, to, data].slice(0, replies.length))
    }
  })

  it("hears the answers to all that it said before it ends, and the first refusal is the reason", () => {
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

  it("ends the message of a relay that took DATA for nobody", () => {
    const talk = converse(["PIPELINING"], ["250 ok", "550 no", "354 go on", "554 no valid recipients"])
    assert.deepStrictEqual(talk.heard, [from + to + data, ".\r\n"])
    assert.deepStrictEqual(outcome(talk), { tag: "RecipientRefused", inStep: true })
  })

  it("says nothing more to a relay that refused the sender and took DATA", () => {
    const talk = converse(["PIPELINING"], ["550 no", "503 no", "354 go on"])
    assert.deepStrictEqual(talk.heard, [from + to + data])
    assert.deepStrictEqual(outcome(talk), { tag: "RecipientRefused", inStep: false })
  })

  it("ends at a goodbye, whose other answers will not come", () => {
    for (
      const [replies, tag] of [
        [["421 bye"], "RelayUnavailable"],
        [["250 ok", "421 bye"], "RelayUnavailable"],
        [["450 later", "421 bye"], "RecipientRefused"]
      ] as const
    ) assert.deepStrictEqual(outcome(converse(["PIPELINING"], replies)), { tag, inStep: false })
  })

  it("names the size, the notifications and that an address is not ASCII where the relay knows of them", () => {
    const dsn = { envid: "a b+c=ü", notify: ["SUCCESS", "FAILURE"], ret: "HDRS", orcpt: "ann+x@example.com" } as const
    const sent = { ...mail, envelope: { from: "jürgen@sender.example", to: "ann@example.com", dsn } }
    assert.deepStrictEqual(converse(["SIZE", "DSN", "SMTPUTF8"], ["250 ok", "550 no"], sent).heard, [
      "MAIL FROM:<jürgen@sender.example> SMTPUTF8 SIZE=24 RET=HDRS ENVID=a+20b+2Bc+3D+C3+BC\r\n",
      "RCPT TO:<ann@example.com> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ann+2Bx@example.com\r\n"
    ])
  })

  const replies = ["250 ok", "250-a\n250 b", "354 go on", "421 bye", "450 later", "503 what", "550 no", "?", ""]
  const talks = (left: number): ReadonlyArray<ReadonlyArray<string>> =>
    left === 0 ? [[]] : talks(left - 1).flatMap((before) => replies.map((reply) => [...before, reply]))

  it("comes to an end at the fifth reply at the latest, and is accepted only by a 2xx to the message", () => {
    const accepted = talks(4).flatMap((replies) =>
      [[], ["PIPELINING"]].map((offered) => {
        const talk = converse(offered, [...replies, "250 after our empty message"])
        assert.isDefined(talk.end)
        if (outcome(talk)?.tag !== "Accepted") return 0
        assert.deepStrictEqual([talk.heard.at(-1), talk.end?.inStep], ["(message)", true])
        assert.match(replies[3] ?? "", /^2/)
        return 1
      })
    )
    // Two ways to agree to MAIL, RCPT and the message, three to DATA, with PIPELINING and without.
    assert.strictEqual(accepted.filter((one) => one === 1).length, 2 * 2 * 3 * 2 * 2)
  })
})
