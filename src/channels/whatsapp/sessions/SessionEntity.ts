import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { PairingCode, ShownCode } from "../model/Session.ts"

/** No code: the session is connected or deleted, WhatsApp sent none in time, or another node owns the session now. */
const NoCode = Schema.TaggedStruct("NoCode", { why: Schema.Literals(["connected", "gone", "unavailable", "moved"]) })
export type NoCode = typeof NoCode.Type

/**
 * The actor of one session, keyed by its id. All messages are volatile. `Wake` starts the session if its row wants a
 * connection, and looks for messages to send. `Try` makes a failed session retry its credentials. `Qr` and `Pair` answer
 * with a code, and start an idle session; while a caller waits, a failed connection is followed by the next one. `LogOut` answers once the device is
 * logged out and the connection is closed. `Unlink` also erases the credentials: the session stays, without a phone.
 */
export const SessionEntity = Entity.make("WhatsAppSession", [
  Rpc.make("Wake").annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Try").annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Qr", { success: Schema.Union([Schema.TaggedStruct("Code", ShownCode.fields), NoCode]) })
    .annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Pair", {
    payload: { phoneNumber: Schema.String },
    success: Schema.Union([Schema.TaggedStruct("PairingCode", PairingCode.fields), NoCode])
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("LogOut").annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Unlink", { success: Schema.Union([Schema.TaggedStruct("Unlinked", {}), NoCode]) })
    .annotate(ClusterSchema.InterruptOnTermination, true)
])
