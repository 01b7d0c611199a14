import { Schema } from "effect"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

const id = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/** A group in the API; at WhatsApp it has another name, `…@g.us`. */
export const GroupId = id.pipe(Schema.brand("WhatsAppGroupId"))
export type GroupId = typeof GroupId.Type

const Participant = Schema.Struct({
  phone: Schema.NullOr(Schema.String).annotate({ description: "null where WhatsApp hides the number" }),
  role: Schema.Literals(["member", "admin", "superadmin"])
})

/** A group that a session is in (spec 2.9). */
export const Group = Schema.Struct({
  id: GroupId,
  session_id: WhatsAppSessionId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  participants: Schema.Array(Participant),
  participant_count: Schema.Int,
  invite_link: Schema.NullOr(Schema.String).annotate({ description: "only admins of a group are told of it" }),
  created_at: Timestamp
})
export type Group = typeof Group.Type
