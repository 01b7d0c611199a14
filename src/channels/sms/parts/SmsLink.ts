import { Schema } from "effect"
import { Timestamp } from "../../../values/Timestamp.ts"

/** The connection that the service keeps to a carrier, as every account sees it. */
export const LinkState = Schema.Struct({
  status: Schema.Literals(["bound", "unbound", "paused"]).annotate({
    description: "unbound while the service tries to connect; paused while the operator has paused the service"
  }),
  since: Timestamp.annotate({ description: "when the link got its status" }),
  window: Schema.Int.annotate({ description: "the most submits without an answer" }),
  rate: Schema.Finite.annotate({
    description: "submits per second at present; lower than max_rate after the carrier throttles"
  }),
  max_rate: Schema.Finite.annotate({ description: "the most submits per second" })
}).annotate({ identifier: "SmsLinkState" })

/** The same for the operator, whose machines the reason of an error may name. */
export const SmsLink = Schema.Struct({
  ...LinkState.fields,
  /** Why the last connection ended, or was not made. */
  last_error: Schema.NullOr(Schema.Struct({ reason: Schema.String, at: Timestamp }))
})
export type SmsLink = typeof SmsLink.Type
