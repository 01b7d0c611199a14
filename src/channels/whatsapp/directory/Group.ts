import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

const id = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/** The id of a group in the API. Its id at WhatsApp is another one, `…@g.us`. */
export const GroupId = id.pipe(Schema.brand("WhatsAppGroupId"))
export type GroupId = typeof GroupId.Type

const Participant = Schema.Struct({
  phone: Schema.NullOr(Schema.String).annotate({ description: "null if WhatsApp hides the number" }),
  role: Schema.Literals(["member", "admin", "superadmin"])
})

/** A group of a session (spec 2.9). */
export const Group = Schema.Struct({
  id: GroupId,
  session_id: WhatsAppSessionId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  participants: Schema.Array(Participant),
  participant_count: Schema.Int,
  invite_link: Schema.NullOr(Schema.String).annotate({ description: "null unless WhatsApp shows it to the session" }),
  created_at: Timestamp
}).annotate({ identifier: "WhatsAppGroup" })
export type Group = typeof Group.Type

/** The session is not an admin of the group. */
export class NotGroupAdmin extends Schema.TaggedError<NotGroupAdmin>()(
  "NotGroupAdmin",
  {},
  wire(403, "not_group_admin", 4034)
) {
  override get message() {
    return "Only admins can do this. Make the session's number an admin of the group."
  }
}
