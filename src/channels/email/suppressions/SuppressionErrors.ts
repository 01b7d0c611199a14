import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"

/** No address in it: the caller has it, and logs keep none. */
export class ComplaintNotRemovable extends Schema.TaggedError<ComplaintNotRemovable>()(
  "ComplaintNotRemovable",
  {},
  wire(409, "complaint_not_removable", 4098)
) {
  override get message() {
    return "The owner of this address reported your mail as spam, so it stays suppressed. Do not write to it again."
  }
}
