import { Schema } from "effect"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** A contact of a session (spec 2.9). */
export const Contact = Schema.Struct({
  id: Schema.Int,
  session_id: WhatsAppSessionId,
  phone: Schema.NullOr(Schema.String).annotate({ description: "null if WhatsApp hides the number" }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "From the address book, or else the contact's own name"
  }),
  is_whatsapp_user: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "WhatsAppContact" })
export type Contact = typeof Contact.Type

/** Whether a number has WhatsApp. */
export const NumberCheck = Schema.Struct({
  phone: Schema.String,
  is_whatsapp_user: Schema.NullOr(Schema.Boolean).annotate({
    description: "null: WhatsApp did not answer; try again later"
  }),
  whatsapp_id: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WhatsAppNumberCheck" })
export type NumberCheck = typeof NumberCheck.Type
