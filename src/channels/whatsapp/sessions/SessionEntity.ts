import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { PairingCode, ShownCode } from "../model/Session.ts"

/** There is no code: the session has a phone, there is no such session, WhatsApp gave none, or another node has it now. */
const NoCode = Schema.TaggedStruct("NoCode", { why: Schema.Literals(["connected", "gone", "unavailable", "moved"]) })
export type NoCode = typeof NoCode.Type

/**
 * The actor of one session, keyed by its id; every message is volatile. `Wake` has it look at its row, `Try` has one
 * that has failed try its credentials. `Qr` and `Pair` answer with a code as soon as there is one, and begin anew where
 * nothing is under way; a connection that fails is followed by the next one for as long as somebody waits. `LogOut` is
 * answered when the device is logged out and the connection has ended.
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
  Rpc.make("LogOut").annotate(ClusterSchema.InterruptOnTermination, true)
])
