import { Schema } from "effect"
import { withExamples } from "./withExamples.ts"

const Session = { session_id: Schema.Int }
const session = { session_id: 12 }

/** `phone_number` has its leading + here; session bodies of the API have the digits alone. */
export const SessionConnected = withExamples(
  Schema.Struct({ ...Session, phone_number: Schema.String.check(Schema.isPattern(/^\+\d+$/)) }),
  { ...session, phone_number: "+15550100300" }
)

/** `reconnecting`: the service tries to recover the session by itself (spec 6.5). */
export const SessionDisconnected = withExamples(
  Schema.Struct({ ...Session, reason: Schema.String, reconnecting: Schema.Boolean }),
  { ...session, reason: "connection_lost", reconnecting: true }
)

export const SessionQrUpdated = withExamples(
  Schema.Struct({ ...Session, qr_code: Schema.String }),
  { ...session, qr_code: "data:image/png;base64,iVBORw0KGgo=" }
)

const Group = { ...Session, group_id: Schema.Int, participant: Schema.String }
const group = { ...session, group_id: 34, participant: "+15550100200" }

export const GroupParticipantAdded = withExamples(
  Schema.Struct({ ...Group, added_by: Schema.String }),
  { ...group, added_by: "+15550100300" }
)

export const GroupParticipantRemoved = withExamples(
  Schema.Struct({ ...Group, removed_by: Schema.String }),
  { ...group, removed_by: "+15550100300" }
)
