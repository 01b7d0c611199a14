/**
 * Addresses that fail or report on purpose, by the start of their local part. They let developers try bounces, retries
 * and complaints without a mail server on the internet. The sandbox's inbox lists them.
 */

/** A refusal by the sandbox's SMTP server. With `once`, the server accepts the same message when it comes again. */
export interface Refusal {
  readonly at: "recipient" | "message" | "once"
  readonly code: number
  readonly text: string
}

/** The kind of a report about an accepted mail. */
export type ReportKind = "bounce" | "soft bounce" | "delay" | "delivery" | "complaint"

interface Special {
  readonly prefix: string
  readonly meaning: string
}

const refusing: ReadonlyArray<Special & Refusal> = [
  {
    prefix: "bounce",
    at: "recipient",
    code: 550,
    text: "5.1.1 No such user here",
    meaning: "does not exist: a hard bounce that suppresses the address"
  },
  {
    prefix: "mailboxfull",
    at: "recipient",
    code: 552,
    text: "5.2.2 Mailbox full",
    meaning: "has a full mailbox: a soft bounce"
  },
  {
    prefix: "blocked",
    at: "message",
    code: 554,
    text: "5.7.1 Message refused by policy",
    meaning: "refuses the message after its body: a hard bounce that suppresses nothing"
  },
  {
    prefix: "defer",
    at: "once",
    code: 451,
    text: "4.7.1 Greylisted, try again later",
    meaning: "refuses the first attempt and accepts the second"
  }
]

const reporting: ReadonlyArray<Special & { readonly kind: ReportKind }> = [
  {
    prefix: "latebounce",
    kind: "bounce",
    meaning:
      "accepts the mail, then reports that it does not exist: sent, then a hard bounce that suppresses the address"
  },
  {
    prefix: "latemailboxfull",
    kind: "soft bounce",
    meaning: "accepts the mail, then reports a full mailbox: sent, then a soft bounce"
  },
  { prefix: "delayed", kind: "delay", meaning: "accepts the mail and reports a delay: the status stays sent" },
  { prefix: "delivered", kind: "delivery", meaning: "accepts the mail and confirms its delivery" },
  {
    prefix: "complain",
    kind: "complaint",
    meaning: "accepts the mail and reports it as spam: a complaint that suppresses the address"
  }
]

const find = <A extends Special>(table: ReadonlyArray<A>, address: string): A | undefined => {
  const local = address.toLowerCase()
  return table.find(({ prefix }) => local.startsWith(prefix))
}

/** All special addresses, as the inbox lists them. */
export const specialAddresses: ReadonlyArray<Special> = [...refusing, ...reporting]

/** The refusal of mail to an address, if it is special. */
export const refusalOf = (address: string): Refusal | undefined => find(refusing, address)

/** The report about accepted mail to an address, if it is special. */
export const reportOf = (address: string): ReportKind | undefined => find(reporting, address)?.kind
