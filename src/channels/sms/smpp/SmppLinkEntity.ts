import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/** The name of the bind, in rows and receipts, and the key of its actor. */
export const bindName = "smpp"

/** The actor of one bind, keyed by its name. `Wake` is volatile: it starts the bind and makes its sender poll. */
export const SmppLinkEntity = Entity.make("SmppLink", [Rpc.make("Wake")])
