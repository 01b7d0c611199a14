import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { OwnedSession } from "../model/Session.ts"
import { SessionReason, SessionStatus } from "../model/SessionState.ts"

const State = {
  status: SessionStatus,
  is_paired: Schema.Boolean,
  is_replaced: Schema.Boolean,
  failures: Schema.Int,
  reason: Schema.NullOr(SessionReason)
}

const ClaimedSession = Schema.Struct({
  epoch: Schema.Int,
  account_id: AccountId,
  desired: Schema.Literals(["on", "off", "removed"]),
  ...State
})

/** A session as its new owner finds it. */
export type ClaimedSession = typeof ClaimedSession.Type

const Change = Schema.Struct({
  ...OwnedSession.fields,
  ...State,
  desired: Schema.Literals(["on", "off"]),
  /** Null keeps the known number. */
  phone_number: Schema.NullOr(Schema.String),
  has_connected: Schema.Boolean,
  /** The credentials of this failed session may work again later. */
  retry_later: Schema.Boolean
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Makes the caller the owner. The new epoch refuses writes of every former owner. */
  const claim = Query.findOneOption({
    Request: WhatsAppSessionId,
    Result: ClaimedSession,
    execute: (id) =>
      sql`update whatsapp_sessions set epoch = epoch + 1 where id = ${id} and desired <> 'removed'
        returning epoch, account_id, desired, status, is_paired, is_replaced, failures, reason`
  })

  /** A pending session has no phone, so starting over clears the previous number. */
  const change = Query.findOneOption({
    Request: Change,
    Result: Schema.Struct({ phone_number: Schema.NullOr(Schema.String) }),
    execute: (row) => {
      const isNew = row.status === "pending" && !row.is_paired
      return sql`update whatsapp_sessions set status = ${row.status},
          status_since = case when status = ${row.status} then status_since else now() end, is_paired = ${row.is_paired},
          is_replaced = ${row.is_replaced}, failures = ${row.failures}, reason = ${row.reason},
          desired = ${row.desired},
          phone_number = case when not ${isNew} then coalesce(${row.phone_number}::text, phone_number) end,
          connected_at = case when ${row.has_connected} then now() when not ${isNew} then connected_at end,
          retry_at = case when ${row.retry_later} then now() + interval '1 hour' end,
          updated_at = now()
        where id = ${row.id} and epoch = ${row.epoch} and desired <> 'removed' returning phone_number`
    }
  })

  /** Locks the row if the caller still owns it. The owner cannot change until the transaction ends. */
  const lock = Query.findOneOption({
    Request: OwnedSession,
    Result: Schema.Struct({ is_confirmed: Schema.Boolean }),
    execute: ({ epoch, id }) =>
      sql`select is_confirmed from whatsapp_sessions where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share`
  })

  /** The next epoch of the same owner. It refuses late writes of the previous connection. */
  const nextEpoch = Query.findOneOption({
    Request: OwnedSession,
    Result: Schema.Struct({ epoch: Schema.Int }),
    execute: ({ epoch, id }) =>
      sql`update whatsapp_sessions set epoch = epoch + 1
        where id = ${id} and epoch = ${epoch} and desired <> 'removed' returning epoch`
  })

  /**
   * Deletes all keys and replaces the data key. Messages accepted for this pairing do not belong to the next one. The
   * caller has locked the row, so no write is in progress.
   */
  const eraseKeys = Query.findOne({
    Request: Schema.Struct({ id: WhatsAppSessionId, data_key: Schema.Uint8Array }),
    Result: Schema.Struct({ epoch: Schema.Int }),
    execute: ({ data_key, id }) =>
      sql`with deleted as (delete from whatsapp_keys where session_id = ${id})
        update whatsapp_sessions set data_key = ${data_key}, epoch = epoch + 1, pairing = pairing + 1
        where id = ${id} returning epoch`
  })

  return { claim, change, lock, nextEpoch, eraseKeys }
})

/** SQL of a session's row for its actor. The epoch refuses writes of former owners. */
export class SessionRowRepo
  extends Context.Service<SessionRowRepo>()("messaging-service/channels/whatsapp/sessions/SessionRowRepo", { make })
{
  static readonly layer = Layer.effect(SessionRowRepo, make)
}
