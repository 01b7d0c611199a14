import { Schema } from "effect"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** Somebody whom a session knows (spec 2.9). */
export const Contact = Schema.Struct({
  id: Schema.Int,
  session_id: WhatsAppSessionId,
  phone: Schema.NullOr(Schema.String).annotate({ description: "null where WhatsApp hides the number" }),
  name: Schema.NullOr(Schema.String).annotate({
    description: "from the address book, else what the contact calls itself"
  }),
  is_whatsapp_user: Schema.Boolean,
  created_at: Timestamp,
  updated_at: Timestamp
})
export type Contact = typeof Contact.Type

/** Whether a number has WhatsApp. */
export const NumberCheck = Schema.Struct({
  phone: Schema.String,
  is_whatsapp_user: Schema.NullOr(Schema.Boolean).annotate({
    description: "null: WhatsApp did not say; ask again later"
  }),
  whatsapp_id: Schema.NullOr(Schema.String)
})
export type NumberCheck = typeof NumberCheck.Type
