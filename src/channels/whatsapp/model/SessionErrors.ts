import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"
import { SessionStatus } from "./SessionState.ts"

/** There is no code for a session that has a phone. */
export class SessionAlreadyConnected extends Schema.TaggedError<SessionAlreadyConnected>()(
  "SessionAlreadyConnected",
  {},
  wire(409, "session_already_connected", 4093)
) {
  override get message() {
    return "This session is connected to a phone. Delete it and create another one to pair another phone."
  }
}

/** WhatsApp gave no code in time. */
export class PairingUnavailable extends Schema.TaggedError<PairingUnavailable>()(
  "PairingUnavailable",
  {},
  wire(503, "pairing_unavailable", 5031)
) {
  override get message() {
    return "WhatsApp did not answer with a code in time. Try again in a minute."
  }
}

/** Only a connected session can send, and ask for contacts and groups. */
export class SessionNotConnected extends Schema.TaggedError<SessionNotConnected>()(
  "SessionNotConnected",
  { session_status: SessionStatus },
  wire(409, "session_not_connected", 4091)
) {
  override get message() {
    return `The session is ${this.session_status}, and this needs it connected. Scan the code of GET /v1/whatsapp/sessions/{id}/qr, or wait for session.connected.`
  }
}
