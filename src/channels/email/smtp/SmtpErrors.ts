import { Schema } from "effect"

/**
 * The command whose reply refused a message. `client`: this node refused it without asking the relay (an invalid
 * address, a message above the relay's size limit); `message`: the reply to the final dot.
 */
export const SmtpStage = Schema.Literals(["client", "mail", "rcpt", "data", "message"])
export type SmtpStage = typeof SmtpStage.Type

/**
 * The relay refused this one message. `permanent` follows the reply code alone (5xx). `classifyReply` decides whether it
 * is a hard or soft bounce and whether the address is suppressed.
 */
export class RecipientRefused extends Schema.TaggedError<RecipientRefused>()("RecipientRefused", {
  stage: SmtpStage,
  permanent: Schema.Boolean,
  code: Schema.Int,
  /** RFC 3463 status, present only when its class agrees with `code`. */
  enhanced: Schema.optionalKey(Schema.String),
  /** The reply as one printable line of at most 500 characters. */
  response: Schema.String
}) {}

/**
 * Why the relay accepted nothing: `connect` (DNS, TCP, greeting, EHLO), `tls`, `auth`, `reply` (421 to MAIL, or
 * "authenticate first"), `dismissed` (421 to a later command), `lost` (the connection ended before the final dot),
 * `paused` (the circuit breaker is open), `closing` (this node is shutting down).
 */
export const RelayFault = Schema.Literals(["connect", "tls", "auth", "reply", "dismissed", "lost", "paused", "closing"])
export type RelayFault = typeof RelayFault.Type

/** The relay is unavailable, and the message was certainly not delivered. The recipient is not the cause. */
export class RelayUnavailable extends Schema.TaggedError<RelayUnavailable>()("RelayUnavailable", {
  fault: RelayFault,
  reason: Schema.String,
  /** Milliseconds until the next probe; until then every send fails at once. */
  retryInMillis: Schema.Int
}) {}

/**
 * The relay received the whole message and gave no valid reply, so it may have accepted it (RFC 5321 4.5.3.2.6, RFC
 * 1047). A retry must send the same bytes with the same Message-ID.
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  reason: Schema.String
}) {}

/** Everything `Smtp.send` fails with. */
export type SendFailure = RecipientRefused | RelayUnavailable | OutcomeUnknown
