import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"

/** The file has expired at WhatsApp, or the keys that open it are gone. */
export class MediaGone extends Schema.TaggedError<MediaGone>()("MediaGone", {}, wire(410, "media_gone", 4106)) {
  override get message() {
    return "This file is no longer available. WhatsApp keeps files for some weeks, and only the session's keys open them."
  }
}
