import { Schema } from "effect"
import { wire } from "../platform/http/ApiError.ts"
import { TimestampInput } from "../values/Timestamp.ts"

/** A message that has ended, or has already left. */
export class MessageOver extends Schema.TaggedError<MessageOver>()(
  "MessageOver",
  { status: Schema.String },
  wire(409, "message_over", 4099)
) {
  override get message() {
    return `The message is ${this.status}, so it cannot be changed.`
  }
}

/** The error of a message that a cancel did not find waiting: a queued one has begun. */
export const notCanceled = ({ status }: { readonly status: string }): MessageOver =>
  new MessageOver({ status: status === "queued" ? "being sent" : status })

/** The body of a request that gives a scheduled message or batch another time. */
export const Reschedule = Schema.Struct({
  send_at: TimestampInput.annotate({ description: "10 seconds to 60 days ahead" })
}).annotate({ identifier: "Reschedule" })
