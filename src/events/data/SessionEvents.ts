import { Schema } from "effect"
import { withExamples } from "./withExamples.ts"

const Session = { session_id: Schema.Int }
const session = { session_id: 12 }

/** Session bodies of the API contain only the digits. */
const phone_number = Schema.String.check(Schema.isPattern(/^\+\d+$/)).annotate({ description: "with its leading +" })

export const SessionConnected = withExamples(
  Schema.Struct({ ...Session, phone_number }),
  { ...session, phone_number: "+15550100300" }
)

/** Spec 6.5. */
const reconnecting = Schema.Boolean.annotate({ description: "whether the service reconnects automatically" })

export const SessionDisconnected = withExamples(
  Schema.Struct({ ...Session, reason: Schema.String, reconnecting }),
  { ...session, reason: "connection_lost", reconnecting: true }
)

export const SessionQrUpdated = withExamples(
  Schema.Struct({ ...Session, qr_code: Schema.String.annotate({ description: "a picture as a data: URL" }) }),
  { ...session, qr_code: "data:image/png;base64,iVBORw0KGgo=" }
)

const Member = Schema.NullOr(Schema.String).annotate({
  description: "a phone number with +; null if WhatsApp hides it"
})

const Group = { ...Session, group_id: Schema.Int, participant: Member }
const group = { ...session, group_id: 34, participant: "+15550100200" }

export const GroupParticipantAdded = withExamples(
  Schema.Struct({ ...Group, added_by: Member }),
  { ...group, added_by: "+15550100300" }
)

export const GroupParticipantRemoved = withExamples(
  Schema.Struct({ ...Group, removed_by: Member }),
  { ...group, removed_by: "+15550100300" }
)
