import { Schema } from "effect"

/** How far a batch of any channel is (spec 3.4); failed: none of it could be sent. */
export const BatchStatus = Schema.Literals(["queued", "processing", "completed", "failed", "canceled"])
