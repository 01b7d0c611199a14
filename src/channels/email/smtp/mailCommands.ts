import { clientRefusals } from "./relayFailure.ts"
import type { SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import type { RecipientRefused } from "./SmtpErrors.ts"

// oxlint-disable-next-line no-control-regex
const breaksCommand = /[\u0000-\u0020<>\u007f]/
// oxlint-disable-next-line no-control-regex
const notAscii = /[^\u0000-\u007f]/

/** Why a message may not be begun: an address that would break a command, or more than the relay has said it takes. */
export const refusalByUs = (
  { envelope, message }: SmtpMail,
  offered: SmtpCapabilities
): RecipientRefused | undefined => {
  if (envelope.to === "" || breaksCommand.test(envelope.to) || breaksCommand.test(envelope.from)) {
    return clientRefusals.badAddress()
  }
  if (notAscii.test(envelope.to + envelope.from) && !offered.extensions.includes("SMTPUTF8")) {
    return clientRefusals.notAscii()
  }
  if (offered.maxSize !== undefined && message.length > offered.maxSize) {
    return clientRefusals.tooLarge(offered.maxSize)
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

/** The commands of a mail transaction, each with its line end, with the parameters that the relay knows. */
export const mailCommands = ({ envelope: { dsn, from, to }, message }: SmtpMail, offered: ReadonlyArray<string>) => {
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
