import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Batch } from "../../../../src/channels/email/bulk/Batch.ts"
import { BatchTimes } from "../../../../src/channels/email/bulk/BatchTimes.ts"
import { BulkEmail } from "../../../../src/channels/email/bulk/BulkEmail.ts"
import { AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const id = EmailBatchId.make(`email_batch_${"0".repeat(26)}`)

const batch: Batch = {
  batch_id: id,
  status: "scheduled",
  total: 1,
  queued: 1,
  sent: 0,
  failed: 0,
  suppressed: 0,
  canceled: 0,
  ...noLabels,
  mode: "live",
  send_at: null,
  created_at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
  started_at: null,
  completed_at: null,
  resent_as: null
}

const reads: Array<Batch["status"]> = ["scheduled", "processing"]

/** A batch that is released after its first read. */
const Released = Layer.mock(BulkEmail)({
  find: () => Effect.sync(() => ({ ...batch, status: reads.shift() ?? "processing" }))
})

layer(BatchTimes.layer.pipe(Layer.provide(Released), Layer.provideMerge(TestDatabase.layer)))("BatchTimes", (it) => {
  it.effect("refuses a batch that is released at the same time with the status that it has then", () =>
    Effect.gen(function*() {
      const { reschedule } = yield* BatchTimes
      const refused = yield* Effect.flip(reschedule(AccountId.make(1), id, "1970-01-02T00:00:00Z"))
      assert.strictEqual(refused.message, "The message is processing, so it cannot be changed.")
    }))
})
