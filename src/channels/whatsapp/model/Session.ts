import { Schema } from "effect"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { SessionReason, SessionStatus } from "./SessionState.ts"

const common = {
  id: WhatsAppSessionId,
  session_key: Schema.String.annotate({ description: "internal identifier; callers normally do not need it" }),
  name: Schema.String,
  status: SessionStatus,
  phone_number: Schema.NullOr(Schema.String).annotate({ description: "digits; null until a phone was paired" }),
  created_at: Timestamp
}

const qr_code = Schema.String.annotate({ description: "data URL of a PNG: to be scanned with the phone" })

/** A session in a list (spec 4.2). */
export const Session = Schema.Struct({ ...common, messages_count: Schema.Int })
export type Session = typeof Session.Type

/** A session by itself: with why it is not connected, and when it last became so. */
export const SessionDetail = Schema.Struct({
  ...Session.fields,
  reason: Schema.NullOr(SessionReason).annotate({ description: "why it is disconnected or failed, else null" }),
  connected_at: Schema.NullOr(Timestamp)
})
export type SessionDetail = typeof SessionDetail.Type

/** A session that waits for a phone, whoever it belongs to. A failed one begins anew when it is asked for its code. */
export const PendingSession = Schema.Struct({
  id: WhatsAppSessionId,
  account_id: AccountId,
  name: Schema.String,
  status: SessionStatus
})
export type PendingSession = typeof PendingSession.Type

/** A new session with its first code. */
export const CreatedSession = Schema.Struct({ ...common, qr_code })
export type CreatedSession = typeof CreatedSession.Type

/** A code to be scanned. */
export const QrCode = Schema.Struct({
  qr_code,
  expires_at: Timestamp.annotate({ description: "when the next one takes its place" })
})
export type QrCode = typeof QrCode.Type

/** A code with what its picture says, which is what a phone reads off it. */
export const ShownCode = Schema.Struct({ ...QrCode.fields, text: Schema.String })
export type ShownCode = typeof ShownCode.Type

/** A code to be typed into the phone. */
export const PairingCode = Schema.Struct({ code: Schema.String, expires_at: Timestamp })
export type PairingCode = typeof PairingCode.Type
