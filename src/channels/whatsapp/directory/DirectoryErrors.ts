import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"

/** Only admins of a group change it. */
export class NotGroupAdmin extends Schema.TaggedError<NotGroupAdmin>()(
  "NotGroupAdmin",
  {},
  wire(403, "not_group_admin", 4034)
) {
  override get message() {
    return "WhatsApp lets only admins do this. Have the session's number made an admin of the group."
  }
}

/** A file that WhatsApp has no more, or that cannot be opened any more. */
export class MediaGone extends Schema.TaggedError<MediaGone>()("MediaGone", {}, wire(410, "media_gone", 4106)) {
  override get message() {
    return "This file cannot be fetched any more: WhatsApp keeps files for some weeks, and the session's keys are needed."
  }
}
