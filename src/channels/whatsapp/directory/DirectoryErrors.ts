import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"

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
