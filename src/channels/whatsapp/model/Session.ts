import { Schema } from "effect"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { SessionReason, SessionStatus } from "./SessionState.ts"

/** A session and the epoch of its owner. The database refuses writes with an older epoch. */
export const OwnedSession = Schema.Struct({ id: WhatsAppSessionId, epoch: Schema.Int })
export type OwnedSession = typeof OwnedSession.Type

const common = {
  id: WhatsAppSessionId,
  session_key: Schema.String.annotate({ description: "internal identifier; callers normally do not need it" }),
  name: Schema.String,
  status: SessionStatus,
  phone_number: Schema.NullOr(Schema.String).annotate({ description: "digits; null until a phone is paired" }),
  created_at: Timestamp
}

const qr_code = Schema.String.annotate({ description: "data URL of a PNG, to scan with the phone" })

const messages_count = Schema.Int.annotate({ description: "messages that were sent through the session" })

/** A session in a list (spec 4.2). */
export const Session = Schema.Struct({ ...common, messages_count }).annotate({ identifier: "WhatsAppSession" })
export type Session = typeof Session.Type

/** One session, with the time of its last connection and the reason why it is not connected. */
export const SessionDetail = Schema.Struct({
  ...Session.fields,
  reason: Schema.NullOr(SessionReason).annotate({ description: "why it is disconnected or failed, else null" }),
  connected_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "WhatsAppSessionDetail" })
export type SessionDetail = typeof SessionDetail.Type

/** A state that a session had, until the next one. */
export const PastState = Schema.Struct({
  since: Timestamp.annotate({ description: "when the session got this status or reason" }),
  status: SessionStatus,
  reason: Schema.NullOr(SessionReason).annotate({ description: "why it was disconnected or failed, else null" })
}).annotate({ identifier: "WhatsAppSessionState" })
export type PastState = typeof PastState.Type

/** What a session has sent lately, and what waits. */
export const SessionFigures = Schema.Struct({
  status_since: Timestamp.annotate({ description: "when the session got its status" }),
  reason: Schema.NullOr(SessionReason).annotate({ description: "why it is disconnected or failed, else null" }),
  last_minute: Schema.Int.annotate({
    description: "messages that were written to WhatsApp in the last minute"
  }),
  last_day: Schema.Int.annotate({ description: "messages that were written to WhatsApp in the last 24 hours" }),
  queued: Schema.Int.annotate({ description: "messages that wait for their turn" })
})
export type SessionFigures = typeof SessionFigures.Type

const limit = Schema.NullOr(Schema.Int)

/** The figures of a session with the limits that apply to it. */
export const LimitedFigures = Schema.Struct({
  ...SessionFigures.fields,
  limit_per_minute: limit.annotate({ description: "the most messages in a minute; null means no limit" }),
  limit_per_day: limit.annotate({ description: "the most messages in 24 hours; null means no limit" }),
  counted_up_to: Schema.Int.annotate({ description: "each count ends here: such a count means this many or more" })
}).annotate({ identifier: "WhatsAppSessionFigures" })
export type LimitedFigures = typeof LimitedFigures.Type

/** A session of any account that waits for a phone. A failed one starts over when its code is requested. */
export const PendingSession = Schema.Struct({
  id: WhatsAppSessionId,
  account_id: AccountId,
  name: Schema.String,
  status: SessionStatus
})
export type PendingSession = typeof PendingSession.Type

/** A new session with its first code. */
export const CreatedSession = Schema.Struct({ ...common, qr_code }).annotate({ identifier: "CreatedWhatsAppSession" })
export type CreatedSession = typeof CreatedSession.Type

/** A code to scan. */
export const QrCode = Schema.Struct({
  qr_code,
  expires_at: Timestamp.annotate({ description: "when the next code replaces it" })
}).annotate({ identifier: "WhatsAppQrCode" })
export type QrCode = typeof QrCode.Type

/** A code with the text that its picture encodes. */
export const ShownCode = Schema.Struct({ ...QrCode.fields, text: Schema.String })
export type ShownCode = typeof ShownCode.Type

/** A page that shows the codes of a session to the person who holds the phone. */
export const PairingLink = Schema.Struct({
  url: Schema.String.annotate({ description: "page that pairs this session without a sign-in" }),
  expires_at: Timestamp
}).annotate({ identifier: "WhatsAppPairingLink" })
export type PairingLink = typeof PairingLink.Type

/** A code to type into the phone. */
export const PairingCode = Schema.Struct({ code: Schema.String, expires_at: Timestamp }).annotate({
  identifier: "PairingCode"
})
export type PairingCode = typeof PairingCode.Type
