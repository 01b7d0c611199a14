import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"
import { SessionStatus } from "./SessionState.ts"

/** A connected session has no pairing code. */
export class SessionAlreadyConnected extends Schema.TaggedError<SessionAlreadyConnected>()(
  "SessionAlreadyConnected",
  {},
  wire(409, "session_already_connected", 4093)
) {
  override get message() {
    return "This session is connected to a phone. To pair another phone, log the session out first."
  }
}

/** WhatsApp sent no code before the timeout, or the node has no page for a pairing link. */
export class PairingUnavailable extends Schema.TaggedError<PairingUnavailable>()(
  "PairingUnavailable",
  { reason: Schema.optionalKey(Schema.Literal("console_off")) },
  wire(503, "pairing_unavailable", 5031)
) {
  override get message() {
    return this.reason === "console_off"
      ? "This node serves no console, which has the page of the link. Pair with a QR code or a pairing code."
      : "WhatsApp sent no code in time. Try again in a minute."
  }
}

/** Sending, and requests about contacts and groups, need a connected session. */
export class SessionNotConnected extends Schema.TaggedError<SessionNotConnected>()(
  "SessionNotConnected",
  { session_status: SessionStatus },
  wire(409, "session_not_connected", 4091)
) {
  override get message() {
    return `The session is ${this.session_status}. Scan the code of GET /v1/whatsapp/sessions/{id}/qr, or wait for session.connected.`
  }
}
