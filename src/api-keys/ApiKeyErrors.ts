import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** `expires_at` is the end of the login session. */
export class FreshLoginRequired extends Schema.TaggedError<FreshLoginRequired>()(
  "FreshLoginRequired",
  { expires_at: Timestamp },
  wire(403, "fresh_login_required", 4036)
) {
  override get message() {
    return `The login is older than 15 minutes, and this key would outlive it. Send current_password, log in again, or set expires_at to ${this.expires_at} or earlier.`
  }
}

/** `expires_at` is the end of the key that asked. */
export class KeyOutlivesCaller extends Schema.TaggedError<KeyOutlivesCaller>()(
  "KeyOutlivesCaller",
  { expires_at: Timestamp },
  wire(403, "key_outlives_caller", 4037)
) {
  override get message() {
    return `The key of this request ends at ${this.expires_at} and cannot create one that ends later. Set expires_at to that time or earlier, or log in and use the login.`
  }
}

/** A key is rotated once, and before its end. */
export class KeyNotRotatable extends Schema.TaggedError<KeyNotRotatable>()(
  "KeyNotRotatable",
  { reason: Schema.Literals(["rotated", "expired"]) },
  wire(409, "key_not_rotatable", 4194)
) {
  override get message() {
    return this.reason === "rotated"
      ? "Another key has replaced this one already. Rotate that one, or create a key."
      : "The key has expired. Create another one."
  }
}
