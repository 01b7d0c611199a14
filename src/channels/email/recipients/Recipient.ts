import { Schema } from "effect"

/** The status of one recipient's message, as the API shows it. A message that is being sent shows as queued. */
export const RecipientStatus = Schema.Literals([
  "queued",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "canceled"
])
export type RecipientStatus = typeof RecipientStatus.Type
