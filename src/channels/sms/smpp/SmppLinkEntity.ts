import { Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { SmsLink } from "../parts/SmsLink.ts"

/** The name of the bind, in rows and receipts, and the key of its actor. */
export const bindName = "smpp"

/**
 * The actor of one bind, keyed by its name. `Wake` is volatile: it starts the bind and makes its sender poll. `Cancel` is
 * volatile: it answers once the batch is canceled and none of its claimed parts that has not begun will begin. `CancelOne`
 * does the same for a message, and answers whether it is canceled. `State` answers how the bind is.
 */
export const SmppLinkEntity = Entity.make("SmppLink", [
  Rpc.make("Wake"),
  Rpc.make("Cancel", { payload: { batchId: MessageBatchId } }),
  Rpc.make("CancelOne", { payload: { id: MessageId }, success: Schema.Boolean }),
  Rpc.make("State", { success: SmsLink })
])
