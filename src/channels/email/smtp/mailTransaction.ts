import { Exit } from "effect"
import { mailCommands } from "./mailCommands.ts"
import { parseReply, printableLine } from "./parseReply.ts"
import { refusedWith } from "./relayFailure.ts"
import type { Accepted, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown } from "./SmtpErrors.ts"
import type { SendFailure, SmtpStage } from "./SmtpErrors.ts"

/**
 * What to do before the next reply: say commands, say the message, or just listen, as a further reply is due. `refused` is
 * how the transaction ends already, however the rest of the conversation goes.
 */
export type Turn =
  | { readonly _tag: "Say"; readonly commands: string; readonly refused?: SendFailure | undefined }
  | { readonly _tag: "SayMessage" }
  | { readonly _tag: "Listen"; readonly refused: SendFailure | undefined }

/** How a transaction ended, and whether both sides are still at the same place of the conversation. */
export interface TransactionEnd {
  readonly exit: Exit.Exit<Accepted, SendFailure>
  readonly inStep: boolean
}

const sayMessage: Turn = { _tag: "SayMessage" }

/** After a refusal the relay waits for the next transaction; whatever else goes wrong ends the conversation. */
const endedBy = (failure: SendFailure): TransactionEnd => ({
  exit: Exit.fail(failure),
  inStep: failure._tag === "RecipientRefused"
})

const refusal = (reply: string, stage: SmtpStage): SendFailure | undefined =>
  reply.startsWith("2") ? undefined : refusedWith(reply, stage)

const answerToMessage = (reply: string): TransactionEnd => {
  if (!reply.startsWith("2")) return endedBy(refusedWith(reply, "message"))
  const accepted = parseReply(reply)
  return accepted === undefined
    ? endedBy(new OutcomeUnknown({ reason: printableLine(`not an SMTP reply: ${reply}`) }))
    : { exit: Exit.succeed({ response: accepted.response }), inStep: true }
}

const isRefusal = (failure: SendFailure | undefined): boolean => failure?._tag === "RecipientRefused"

/**
 * The mail transaction of one message to one recipient (RFC 5321 3.3): yields what to do, takes one reply after each. A
 * relay with PIPELINING hears all commands at once and answers each of them, whatever it said to the first (RFC 2920).
 */
export function* mailTransaction(
  mail: SmtpMail,
  offered: ReadonlyArray<string>
): Generator<Turn, TransactionEnd, string> {
  const atOnce = offered.includes("PIPELINING")
  const commands = mailCommands(mail, offered)
  const first = atOnce ? commands.mail + commands.rcpt + commands.data : commands.mail
  const next = (command: string, refused?: SendFailure): Turn =>
    atOnce ? { _tag: "Listen", refused } : { _tag: "Say", commands: command }

  const bySender = refusal(yield { _tag: "Say", commands: first }, "mail")
  if (bySender !== undefined && !(atOnce && isRefusal(bySender))) return endedBy(bySender)
  const byRecipient = refusal(yield next(commands.rcpt, bySender), "rcpt")
  const refused = bySender ?? byRecipient
  if (byRecipient !== undefined && !(atOnce && isRefusal(byRecipient))) {
    return { exit: Exit.fail(refused ?? byRecipient), inStep: isRefusal(byRecipient) }
  }
  const reply = yield next(commands.data, refused)
  if (refused !== undefined) {
    if (!reply.startsWith("3")) return endedBy(refused)
    // It must not take DATA for nobody. If it knows a sender, an empty message ends that; without one, who knows.
    if (bySender === undefined) yield { _tag: "Say", commands: ".\r\n", refused }
    return { exit: Exit.fail(refused), inStep: bySender === undefined }
  }
  if (!/^[23]/.test(reply)) return endedBy(refusedWith(reply, "data"))
  return answerToMessage(yield sayMessage)
}
