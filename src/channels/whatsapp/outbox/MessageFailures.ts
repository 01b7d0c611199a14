/** Explains why a message failed: `error_code` and `error_message` of the message and of its event. */
export interface MessageFailure {
  readonly code: string
  readonly message: string
}

const failure = (code: string, message: string): MessageFailure => ({ code, message })

export const recipientNotOnWhatsApp = failure(
  "recipient_not_on_whatsapp",
  "The recipient does not use WhatsApp under this number."
)
export const groupUnknown = failure("group_unknown", "The group does not exist, or this session is not a member.")
export const sessionDeleted = failure("session_deleted", "The session was deleted before the message was sent.")
export const sessionLoggedOut = failure(
  "session_logged_out",
  "The phone removed this session before the message was sent."
)
export const notAcknowledged = failure(
  "not_acknowledged",
  "WhatsApp did not acknowledge the message after several attempts. It may have arrived."
)
export const unreachable = failure(
  "not_composed",
  "In several attempts, WhatsApp did not answer or did not accept the file. Send it again later."
)
export const mediaFailed = (reason: string, detail: string) =>
  failure(`media_${reason}`, `The file could not be sent: ${detail}.`)
export const contentGone = failure("content_gone", "The content of the message no longer exists.")

const known: Readonly<Record<string, string>> = {
  "463": "WhatsApp restricts this number: for now it cannot start new chats.",
  "479": "WhatsApp rejected the message as malformed."
}

/** The server's refusal of a message, with the server's own code. */
export const refusedByServer = (code: string): MessageFailure =>
  failure(code, known[code] ?? `WhatsApp rejected the message with code ${code}.`)
