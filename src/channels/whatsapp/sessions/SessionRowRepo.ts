import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { repository } from "../../../platform/database/repository.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { SessionReason, SessionStatus } from "../model/SessionState.ts"

const Owned = Schema.Struct({ id: WhatsAppSessionId, epoch: Schema.Int })

const State = {
  status: SessionStatus,
  is_paired: Schema.Boolean,
  is_replaced: Schema.Boolean,
  failures: Schema.Int,
  reason: Schema.NullOr(SessionReason)
}

const SessionRow = Schema.Struct({
  epoch: Schema.Int,
  account_id: AccountId,
  desired: Schema.Literals(["on", "off", "removed"]),
  ...State
})

/** A session as its actor takes it over. */
export type SessionRow = typeof SessionRow.Type

const Change = Schema.Struct({
  ...Owned.fields,
  ...State,
  desired: Schema.Literals(["on", "off"]),
  /** Null leaves the one that is known. */
  phone_number: Schema.NullOr(Schema.String),
  has_connected: Schema.Boolean,
  /** A failed session whose credentials may work again. */
  try_again: Schema.Boolean
})

/** SQL of one session's row in the hands of its actor. What a former owner writes finds no row. */
export const makeSessionRowRepo = repository(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Makes the caller the owner: nobody before it can write any more. */
  const takeOver = SqlSchema.findOneOption({
    Request: WhatsAppSessionId,
    Result: SessionRow,
    execute: (id) =>
      sql`update whatsapp_sessions set epoch = epoch + 1 where id = ${id} and desired <> 'removed'
        returning epoch, account_id, desired, status, is_paired, is_replaced, failures, reason`
  })

  /** A session that waits for a phone has none: what is known of the one before it goes when it begins anew. */
  const change = SqlSchema.findOneOption({
    Request: Change,
    Result: Schema.Struct({ phone_number: Schema.NullOr(Schema.String) }),
    execute: (row) => {
      const isNew = row.status === "pending" && !row.is_paired
      return sql`update whatsapp_sessions set status = ${row.status}, is_paired = ${row.is_paired},
          is_replaced = ${row.is_replaced}, failures = ${row.failures}, reason = ${row.reason},
          desired = ${row.desired},
          phone_number = case when not ${isNew} then coalesce(${row.phone_number}::text, phone_number) end,
          connected_at = case when ${row.has_connected} then now() when not ${isNew} then connected_at end,
          retry_at = case when ${row.try_again} then now() + interval '1 hour' end,
          updated_at = now()
        where id = ${row.id} and epoch = ${row.epoch} and desired <> 'removed' returning phone_number`
    }
  })

  /** Finds it where the caller is still the owner; until the transaction ends nobody else becomes it. */
  const hold = SqlSchema.findOneOption({
    Request: Owned,
    Result: Schema.Struct({ is_confirmed: Schema.Boolean }),
    execute: ({ epoch, id }) =>
      sql`select is_confirmed from whatsapp_sessions where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share`
  })

  /** The next epoch of the same owner: what its connection before this one still wants to write comes too late. */
  const renew = SqlSchema.findOneOption({
    Request: Owned,
    Result: Schema.Struct({ epoch: Schema.Int }),
    execute: ({ epoch, id }) =>
      sql`update whatsapp_sessions set epoch = epoch + 1
        where id = ${id} and epoch = ${epoch} and desired <> 'removed' returning epoch`
  })

  /**
   * Everything that was encrypted under the data key, and the key itself, which another one takes the place of. What was
   * accepted for this pairing is of none that follows. The caller holds the row, so nobody is in the middle of writing.
   */
  const eraseKeys = SqlSchema.findOne({
    Request: Schema.Struct({ id: WhatsAppSessionId, data_key: Schema.Uint8Array }),
    Result: Schema.Struct({ epoch: Schema.Int }),
    execute: ({ data_key, id }) =>
      sql`with gone as (delete from whatsapp_keys where session_id = ${id})
        update whatsapp_sessions set data_key = ${data_key}, epoch = epoch + 1, pairing = pairing + 1
        where id = ${id} returning epoch`
  })

  return { takeOver, change, hold, renew, eraseKeys }
}))
