import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { PartStatusUpdates } from "./PartStatusUpdates.ts"

/** Reads again the receipts that came before the answer to their submit was written down, for ten minutes. */
export const ReceiptMatching = PeriodicTask.make(
  "SmsReceiptMatching",
  "1 second",
  Effect.gen(function*() {
    yield* (yield* PartStatusUpdates).match
    const sql = yield* SqlClient.SqlClient
    yield* sql`delete from sms_unmatched_receipts where received_at < now() - interval '10 minutes'`
  })
)
