/** Why a message was not sent: `error_code` and `error_message` of the message and of its event. */
export interface MessageFailure {
  readonly code: string
  readonly message: string
}

const failure = (code: string, message: string): MessageFailure => ({ code, message })

export const recipientNotOnWhatsApp = failure(
  "recipient_not_on_whatsapp",
  "The recipient does not use WhatsApp under this number."
)
export const groupUnknown = failure("group_unknown", "There is no such group, or this session is not in it.")
export const sessionDeleted = failure("session_deleted", "The session was deleted before the message was sent.")
export const sessionLoggedOut = failure(
  "session_logged_out",
  "The phone removed this session before the message was sent."
)
export const notAcknowledged = failure(
  "not_acknowledged",
  "WhatsApp did not acknowledge the message, although it was sent several times. It may have arrived."
)
export const unreachable = failure("not_composed", "WhatsApp did not take what the message needs, several times.")
export const mediaFailed = (reason: string, detail: string) => failure(`media_${reason}`, `The file of url: ${detail}.`)
export const contentGone = failure("content_gone", "What the message was to be made of is not there any more.")

const known: Readonly<Record<string, string>> = {
  "463": "WhatsApp restricts this number: it may not begin new chats for now.",
  "479": "WhatsApp refused the message as malformed."
}

/** What the server says of a message in the place of an acknowledgement, under its own code. */
export const refusedByServer = (code: string): MessageFailure =>
  failure(code, known[code] ?? `WhatsApp refused the message with the code ${code}.`)
