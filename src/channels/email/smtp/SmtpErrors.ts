import { Schema } from "effect"

/**
 * The moment of the SMTP conversation an answer belongs to. `client`: refused by us before anything was said to the
 * relay (an address it cannot carry, a message above its announced size); `message`: the answer to the final dot.
 */
export const SmtpStage = Schema.Literals(["client", "mail", "rcpt", "data", "message"])
export type SmtpStage = typeof SmtpStage.Type

/**
 * The relay answered, and the answer refuses this one message. `permanent` follows the reply code alone (5xx); whether
 * it is a hard or soft bounce, and whether the address is suppressed, is `classifyReply`'s business.
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
 * What kept the relay from taking the message: `connect` (DNS, TCP, greeting, EHLO), `tls`, `auth`, `reply` (421 to
 * MAIL, or "authenticate first"), `dismissed` (421 to anything that followed MAIL), `lost` (connection gone before the
 * final dot), `paused` (failed fast because an earlier attempt failed), `closing` (this node is shutting down).
 */
export const RelayFault = Schema.Literals(["connect", "tls", "auth", "reply", "dismissed", "lost", "paused", "closing"])
export type RelayFault = typeof RelayFault.Type

/** The relay could not be used, and the message was surely not delivered: no recipient is to blame. */
export class RelayUnavailable extends Schema.TaggedError<RelayUnavailable>()("RelayUnavailable", {
  fault: RelayFault,
  reason: Schema.String,
  /** Milliseconds until the relay is tried again; until then every send fails at once. */
  retryInMillis: Schema.Int
}) {}

/**
 * The body was complete and no valid answer came: the message may have been delivered (RFC 5321 4.5.3.2.6, RFC 1047).
 * Sending the same bytes with the same Message-ID again is the only honest repair.
 */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {
  reason: Schema.String
}) {}

/** Everything `Smtp.send` fails with. */
export type SendFailure = RecipientRefused | RelayUnavailable | OutcomeUnknown
