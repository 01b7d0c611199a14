import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { EmailBatchId } from "../../../values/Ids.ts"

/**
 * The protocol of a batch's actor, keyed by the batch's id. `Wake` is a volatile wake-up: poll now, and run the batch if it
 * is not running and this node has room. A batch never runs twice at once. `Cancel` is volatile: it answers once the batch
 * is canceled and none of its recipients that has not begun will begin. Nodes of the version before persist `Run`, which
 * does the same as `Wake` here.
 */
export const BatchEntity = Entity.make("EmailBatch", [
  Rpc.make("Run", { payload: { batchId: EmailBatchId }, primaryKey: ({ batchId }) => batchId })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Wake").annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Cancel")
])
