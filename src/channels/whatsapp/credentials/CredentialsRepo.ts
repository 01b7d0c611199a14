import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { OwnedSession } from "../model/Session.ts"

const KeyWrite = Schema.Struct({
  ...OwnedSession.fields,
  entries: Schema.Array(
    Schema.Struct({ type: Schema.String, key: Schema.String, value: Schema.NullOr(Schema.Uint8Array) })
  )
})

/** One owner's write: encrypted values, or null to delete. */
export type KeyWrite = typeof KeyWrite.Type

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const dataKey = Query.findOneOption({
    Request: OwnedSession,
    Result: Schema.Struct({ data_key: Schema.Uint8Array }),
    execute: ({ epoch, id }) => sql`select data_key from whatsapp_sessions where id = ${id} and epoch = ${epoch}`
  })

  const read = Query.findAll({
    Request: Schema.Struct({ id: WhatsAppSessionId, type: Schema.String, keys: Schema.Array(Schema.String) }),
    Result: Schema.Struct({ key: Schema.String, value: Schema.Uint8Array }),
    execute: ({ id, keys, type }) =>
      sql`select key, value from whatsapp_keys
        where session_id = ${id} and type = ${type} and key = any(${column.text(keys)})`
  })

  /**
   * Writes for many sessions in one statement. Answers with the positions of the writes whose epoch is still current. The
   * row lock makes a new owner wait, so it finds every write of its predecessor, and none follows.
   */
  const write = Query.findAll({
    Request: Schema.Array(KeyWrite),
    Result: Schema.Struct({ position: Schema.Int }),
    execute: (writes) => {
      const rows = writes.flatMap(({ entries }, position) => entries.map((entry) => ({ ...entry, position })))
      return sql`with owned as (
          select w.position, s.id
          from unnest(${column.int8(writes.map((_, position) => position))}, ${
        column.int8(writes.map(({ id }) => id))
      }, ${column.int8(writes.map(({ epoch }) => epoch))}) as w (position, id, epoch)
          join whatsapp_sessions s on s.id = w.id and s.epoch = w.epoch for share of s
        ), entries as (
          select o.id, e.type, e.key, e.value
          from unnest(${column.int8(rows.map(({ position }) => position))}, ${
        column.text(rows.map(({ type }) => type))
      }, ${column.text(rows.map(({ key }) => key))}, ${
        column.bytea(rows.map(({ value }) => value))
      }) as e (position, type, key, value)
          join owned o on o.position = e.position
        ), deleted as (
          delete from whatsapp_keys k using entries e
          where e.value is null and k.session_id = e.id and k.type = e.type and k.key = e.key
        ), put as (
          insert into whatsapp_keys (session_id, type, key, value)
          select id, type, key, value from entries where value is not null
          on conflict (session_id, type, key) do update set value = excluded.value
        )
        select position from owned`
    }
  })

  return { dataKey, read, write }
})

/** SQL of `whatsapp_keys`. */
export class CredentialsRepo
  extends Context.Service<CredentialsRepo>()("messaging-service/channels/whatsapp/credentials/CredentialsRepo", {
    make
  })
{
  static readonly layer = Layer.effect(CredentialsRepo, make)
}
