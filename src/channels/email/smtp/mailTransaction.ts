import { Exit } from "effect"
import { failureOfReply } from "./relayFailure.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown, RecipientRefused } from "./SmtpErrors.ts"
import type { SendFailure, SmtpStage } from "./SmtpErrors.ts"
import { parseReply, printableLine } from "./SmtpReply.ts"

// oxlint-disable-next-line no-control-regex
const breaksCommand = /[\u0000-\u0020<>\u007f]/
// oxlint-disable-next-line no-control-regex
const notAscii = /[^\u0000-\u007f]/

const refuse = (code: number, enhanced: string, text: string) =>
  new RecipientRefused({
    stage: "client",
    permanent: true,
    code,
    enhanced,
    response: `${code} ${enhanced} ${text} (not sent)`
  })

/**
 * Refuses a message that must not be sent: its address would break a command, or it is larger than the relay accepts. The
 * codes are those that a relay would use (RFC 5321 4.2.3, 6531 3.5, 1870 6.1).
 */
export const refuseLocally = (
  { envelope, message }: SmtpMail,
  offered: SmtpCapabilities
): RecipientRefused | undefined => {
  if (envelope.to === "" || breaksCommand.test(envelope.to) || breaksCommand.test(envelope.from)) {
    return refuse(553, "5.1.3", "address is not valid in an SMTP command")
  }
  if (notAscii.test(envelope.to + envelope.from) && !offered.extensions.includes("SMTPUTF8")) {
    return refuse(553, "5.6.7", "the relay does not offer SMTPUTF8 for a non-ASCII address")
  }
  if (offered.maxSize !== undefined && message.length > offered.maxSize) {
    return refuse(552, "5.3.4", `message is larger than the relay's limit of ${offered.maxSize} bytes`)
  }
  return undefined
}

const xtextByte = (byte: number): string =>
  byte > 32 && byte < 127 && byte !== 43 && byte !== 61
    ? String.fromCharCode(byte)
    : `+${byte.toString(16).toUpperCase().padStart(2, "0")}`

/** RFC 3461 4. */
const xtext = (value: string): string =>
  /^[!-*,-<>-~]*$/.test(value) ? value : Array.from(Buffer.from(value), xtextByte).join("")

/** The commands of a transaction, each with its line end and the parameters that the relay supports. */
const commandsFor = ({ envelope: { dsn, from, to }, message }: SmtpMail, offered: ReadonlyArray<string>) => {
  let mail = `MAIL FROM:<${from}>`
  let rcpt = `RCPT TO:<${to}>`
  if (notAscii.test(from + to)) mail += " SMTPUTF8"
  if (offered.includes("SIZE")) mail += ` SIZE=${message.length}`
  if (dsn !== undefined && offered.includes("DSN")) {
    mail += ` RET=${dsn.ret} ENVID=${xtext(dsn.envid)}`
    rcpt += ` NOTIFY=${dsn.notify.join(",")} ORCPT=rfc822;${xtext(dsn.orcpt)}`
  }
  return { mail: `${mail}\r\n`, rcpt: `${rcpt}\r\n`, data: "DATA\r\n" }
}

const needsChange = /(?<!\r)\n|\r(?!\n)|\n\./

/** Whether the message can be sent as it is: every line, also the last, ends with CRLF, and none begins with a dot. */
const isReadyForData = (text: string): boolean =>
  text.endsWith("\n") && !text.startsWith(".") && !needsChange.test(text)

const finalDot = Buffer.from(".\r\n")

/**
 * Encodes a message for DATA (RFC 5321 4.5.2), with the final dot: it doubles a dot at the beginning of a line. A lone
 * CR or LF becomes CRLF, because some relays take `<LF>.<LF>` for the end of the message.
 */
export const dotStuffed = (message: Buffer): Buffer => {
  const text = message.toString("latin1")
  if (isReadyForData(text)) return Buffer.concat([message, finalDot])
  const lines = text.replaceAll(/\r\n|\r|\n/g, "\r\n").replaceAll(/(?<=^|\n)\./g, "..")
  return Buffer.from(`${lines}${lines.endsWith("\n") ? "" : "\r\n"}.\r\n`, "latin1")
}

/**
 * The next action of the client: write commands, write the message, or await a further reply. `refused` is the final
 * result of the transaction, whatever the remaining replies are.
 */
export type Step =
  | { readonly _tag: "WriteCommands"; readonly commands: string; readonly refused?: SendFailure | undefined }
  | { readonly _tag: "WriteMessage" }
  | { readonly _tag: "AwaitReply"; readonly refused: SendFailure | undefined }

/** The result of a transaction. If both sides are in step, the connection can carry another one. */
export interface TransactionEnd {
  readonly exit: Exit.Exit<Accepted, SendFailure>
  readonly inStep: boolean
}

const writeMessage: Step = { _tag: "WriteMessage" }

/** After a refusal the relay expects the next transaction. Any other failure ends the connection. */
const endWith = (failure: SendFailure): TransactionEnd => ({
  exit: Exit.fail(failure),
  inStep: failure._tag === "RecipientRefused"
})

const refusalIn = (reply: string, stage: SmtpStage): SendFailure | undefined =>
  reply.startsWith("2") ? undefined : failureOfReply(reply, stage)

const endWithReplyToMessage = (reply: string): TransactionEnd => {
  if (!reply.startsWith("2")) return endWith(failureOfReply(reply, "message"))
  const accepted = parseReply(reply)
  return accepted === undefined
    ? endWith(new OutcomeUnknown({ reason: printableLine(`not an SMTP reply: ${reply}`) }))
    : { exit: Exit.succeed({ response: accepted.response }), inStep: true }
}

const isRefusal = (failure: SendFailure | undefined): boolean => failure?._tag === "RecipientRefused"

/**
 * The mail transaction of one message to one recipient (RFC 5321 3.3). It yields each step and receives one reply after
 * it. A relay with PIPELINING gets all commands at once and answers each, also after it refused the first (RFC 2920).
 */
export function* mailTransaction(
  mail: SmtpMail,
  offered: ReadonlyArray<string>
): Generator<Step, TransactionEnd, string> {
  const pipelined = offered.includes("PIPELINING")
  const commands = commandsFor(mail, offered)
  const first = pipelined ? commands.mail + commands.rcpt + commands.data : commands.mail
  const next = (command: string, refused?: SendFailure): Step =>
    pipelined ? { _tag: "AwaitReply", refused } : { _tag: "WriteCommands", commands: command }

  const bySender = refusalIn(yield { _tag: "WriteCommands", commands: first }, "mail")
  if (bySender !== undefined && !(pipelined && isRefusal(bySender))) return endWith(bySender)
  const byRecipient = refusalIn(yield next(commands.rcpt, bySender), "rcpt")
  const refused = bySender ?? byRecipient
  if (byRecipient !== undefined && !(pipelined && isRefusal(byRecipient))) {
    return { exit: Exit.fail(refused ?? byRecipient), inStep: isRefusal(byRecipient) }
  }
  const reply = yield next(commands.data, refused)
  if (refused !== undefined) {
    if (!reply.startsWith("3")) return endWith(refused)
    // A relay must not accept DATA without a recipient. After an accepted MAIL an empty message ends it; after a refused
    // MAIL the relay's state is unclear, so the connection closes.
    if (bySender === undefined) yield { _tag: "WriteCommands", commands: ".\r\n", refused }
    return { exit: Exit.fail(refused), inStep: bySender === undefined }
  }
  if (!/^[23]/.test(reply)) return endWith(failureOfReply(reply, "data"))
  return endWithReplyToMessage(yield writeMessage)
}
