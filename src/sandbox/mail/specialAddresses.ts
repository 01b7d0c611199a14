/** A refusal as the sandbox's SMTP server gives it: `later` is lifted when the same message comes again. */
export interface AskedFailure {
  readonly at: "recipient" | "message" | "later"
  readonly code: number
  readonly text: string
}

/**
 * Addresses that ask for a failure, by the start of their local part, so that bounces and retries can be tried without
 * a relay that misbehaves. They are part of the documentation of the sandbox and shown in its inbox.
 */
export const askedFailures: ReadonlyArray<AskedFailure & { readonly prefix: string; readonly meaning: string }> = [
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
    at: "later",
    code: 451,
    text: "4.7.1 Greylisted, try again later",
    meaning: "is refused for now, and taken when the same message is sent again"
  }
]

/** The failure an address asks for. */
export const askedFailure = (address: string): AskedFailure | undefined => {
  const local = address.toLowerCase()
  return askedFailures.find(({ prefix }) => local.startsWith(prefix))
}
