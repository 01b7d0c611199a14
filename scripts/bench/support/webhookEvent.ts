import { DateTime } from "effect"
import { EmailBatchId, EmailMessageId } from "../../../src/values/Ids.ts"
import { noLabels } from "../../../src/values/Labels.ts"
import { fromDateTime } from "../../../src/values/Timestamp.ts"

/** The data of the event that the benches deliver. */
export const dataOf = (index: number) => ({
  id: EmailMessageId.make(index + 1),
  batch_id: EmailBatchId.make("email_batch_01J8ZQ5V3KXW2T4N6M8P0R2S4T"),
  to: `ana${index}@recipient.example`,
  subject: "Your order 12345 has been shipped",
  ...noLabels,
  sent_at: fromDateTime(DateTime.makeUnsafe(1_700_000_000_000 + index))
})
