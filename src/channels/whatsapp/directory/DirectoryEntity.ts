import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

const NotConnected = Schema.TaggedStruct("NotConnected", {})
const Unavailable = Schema.TaggedStruct("Unavailable", {})
const Refused = Schema.TaggedStruct("Refused", {})

/** Why a request failed: the session is not connected, WhatsApp did not answer, or it refused. */
export const NotDone = Schema.Union([NotConnected, Unavailable, Refused])
export type NotDone = typeof NotDone.Type

const Change = Schema.Union([
  Schema.TaggedStruct("Rename", { name: Schema.String }),
  Schema.TaggedStruct("Describe", { description: Schema.NullOr(Schema.String) }),
  Schema.TaggedStruct("Add", { numbers: Schema.Array(Schema.String) }),
  Schema.TaggedStruct("Remove", { numbers: Schema.Array(Schema.String) })
])

/**
 * Requests over the connection of a session, keyed by the session's id. The cluster places entities by id, so it runs on
 * the session's node. Every message is volatile and never retried.
 */
export const DirectoryEntity = Entity.make("WhatsAppDirectory", [
  Rpc.make("Check", {
    payload: { number: Schema.String },
    success: Schema.Union([Schema.TaggedStruct("Checked", { whatsapp_id: Schema.NullOr(Schema.String) }), NotDone])
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("CreateGroup", {
    payload: { name: Schema.String, description: Schema.NullOr(Schema.String), numbers: Schema.Array(Schema.String) },
    success: Schema.Union([Schema.TaggedStruct("Created", { id: Schema.Int }), NotDone])
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("ChangeGroup", {
    payload: { jid: Schema.String, changes: Schema.Array(Change) },
    success: Schema.Union([Schema.TaggedStruct("Changed", {}), NotDone])
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Invite", {
    payload: { jid: Schema.String },
    success: Schema.Union([Schema.TaggedStruct("Code", { code: Schema.NullOr(Schema.String) }), NotDone])
  }).annotate(ClusterSchema.InterruptOnTermination, true)
])
