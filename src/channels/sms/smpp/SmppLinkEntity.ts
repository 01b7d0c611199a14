import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/** The actor of one bind, keyed by its name. `Wake` is volatile: have the bind, and look at the rows now. */
export const SmppLinkEntity = Entity.make("SmppLink", [Rpc.make("Wake")])
