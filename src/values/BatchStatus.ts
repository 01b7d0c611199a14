import { Schema } from "effect"

/** The progress of a batch of any channel (spec 3.4). failed: nothing of it could be sent. */
export const BatchStatus = Schema.Literals(["queued", "processing", "completed", "failed", "canceled"])
