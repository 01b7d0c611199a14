import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { windowFields } from "../../../values/Page.ts"
import { PastState, PendingSession, Session, SessionDetail } from "../model/Session.ts"
import { SessionStatus } from "../model/SessionState.ts"

const One = Schema.Struct({ accountId: AccountId, id: WhatsAppSessionId })
const Id = Schema.Struct({ id: WhatsAppSessionId })

const Filter = Schema.Struct({
  accountId: AccountId,
  status: Schema.NullOr(SessionStatus),
  ...windowFields
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(`id, session_key, name, status, phone_number, created_at,
    coalesce((select c.messages_count from whatsapp_message_counts c where c.session_id = whatsapp_sessions.id), 0)
      as messages_count`)
  const shown = sql.literal("is_confirmed and desired <> 'removed'")

  const matching = ({ accountId, status }: typeof Filter.Encoded) =>
    sql`account_id = ${accountId} and ${shown} and ${status === null ? sql`true` : sql`status = ${status}`}`

  const list = Query.findAll({
    Request: Filter,
    Result: Session,
    execute: (filter) =>
      sql`select ${columns} from whatsapp_sessions where ${matching(filter)} and ${Query.afterId(sql, "id", filter)}
        order by id desc limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from whatsapp_sessions where ${matching(filter)}`
  })

  const find = Query.findOneOption({
    Request: One,
    Result: SessionDetail,
    execute: ({ accountId, id }) =>
      sql`select ${columns}, reason, connected_at from whatsapp_sessions
        where id = ${id} and account_id = ${accountId} and ${shown}`
  })

  const pairing = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ is_paired: Schema.Boolean }),
    execute: ({ accountId, id }) =>
      sql`select is_paired from whatsapp_sessions where id = ${id} and account_id = ${accountId} and ${shown}`
  })

  const rename = Query.findOneOption({
    Request: Schema.Struct({ ...One.fields, name: Schema.String }),
    Result: SessionDetail,
    execute: ({ accountId, id, name }) =>
      sql`update whatsapp_sessions set name = ${name}, updated_at = now()
        where id = ${id} and account_id = ${accountId} and ${shown}
        returning ${columns}, reason, connected_at`
  })

  const states = Query.findAll({
    Request: Schema.Struct({ ...One.fields, limit: windowFields.limit, after: windowFields.after }),
    Result: PastState,
    // States of one transaction have one time, so their other columns decide.
    execute: ({ accountId, after, id, limit }) =>
      sql`select h.since, h.status, h.reason from whatsapp_session_states h
        join whatsapp_sessions s on s.id = h.session_id
        where s.id = ${id} and s.account_id = ${accountId} and ${
        after === null
          ? sql`true`
          : sql`(h.since, h.status, coalesce(h.reason, ''))
            < (${after[0]}::timestamptz, ${after[1]}::text, ${after[2]}::text)`
      } order by h.since desc, h.status desc, coalesce(h.reason, '') desc limit ${limit}`
  })

  /** Includes sessions whose creation is not answered yet. */
  const countAll = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ current: Schema.Int }),
    execute: (accountId) =>
      sql`select count(*) as current from whatsapp_sessions where account_id = ${accountId} and desired <> 'removed'`
  })

  const nextId = Query.findOne({
    Request: Schema.Void,
    Result: Id,
    execute: () => sql`select nextval(pg_get_serial_sequence('whatsapp_sessions', 'id')) as id`
  })

  const insert = Query.findOne({
    Request: Schema.Struct({
      ...One.fields,
      session_key: Schema.String,
      name: Schema.String,
      data_key: Schema.Uint8Array
    }),
    Result: Session,
    execute: (row) =>
      sql`insert into whatsapp_sessions (id, account_id, session_key, name, data_key) overriding system value
        values (${row.id}, ${row.accountId}, ${row.session_key}, ${row.name}, ${row.data_key})
        returning ${columns}`
  })

  /** Shows the session to its account: its creation is answered. */
  const confirm = (id: WhatsAppSessionId) =>
    Query.run(sql`update whatsapp_sessions set is_confirmed = true where id = ${id} and desired <> 'removed'`)

  /** Hides the session from its account. {@link leftovers} finds it until it is erased. */
  const markRemoved = Query.findOneOption({
    Request: One,
    Result: Id,
    execute: ({ accountId, id }) =>
      sql`update whatsapp_sessions set desired = 'removed', updated_at = now()
        where id = ${id} and account_id = ${accountId} and ${shown} returning id`
  })

  /** Deletes the session with its keys. Without the data key, copies of the keys in files and backups stay closed. */
  const erase = (id: WhatsAppSessionId) => Query.run(sql`delete from whatsapp_sessions where id = ${id}`)

  /** Sessions whose removal stopped halfway, or whose creation failed before its answer. */
  const leftovers = Query.findAll({
    Request: Schema.Void,
    Result: Id,
    execute: () =>
      sql`select id from whatsapp_sessions
        where (desired = 'removed' and updated_at < now() - interval '30 seconds')
          or (not is_confirmed and created_at < now() - interval '90 seconds')`
  })

  /** Failed sessions whose retry is due. The next one is due in an hour, so that each is returned once. */
  const dueRetries = Query.findAll({
    Request: Schema.Void,
    Result: Id,
    execute: () =>
      sql`update whatsapp_sessions set retry_at = now() + interval '1 hour'
        where retry_at <= now() and desired = 'off' returning id`
  })

  /** Makes all retries due when the service starts, as the cause of their failures may be gone. */
  const retryAll = Query.run(sql`update whatsapp_sessions set retry_at = now() where retry_at > now()`)

  /** Sessions of all accounts that wait for a phone, newest first. */
  const pending = Query.findAll({
    Request: Schema.Void,
    Result: PendingSession,
    execute: () =>
      sql`select id, account_id, name, status from whatsapp_sessions
        where ${shown} and status in ('pending', 'failed') order by id desc limit 100`
  })

  /** Sessions that want a connection. */
  const desired = Query.findAll({
    Request: Schema.Void,
    Result: Id,
    execute: () => sql`select id from whatsapp_sessions where desired = 'on'`
  })

  return {
    list,
    count,
    find,
    pairing,
    states,
    rename,
    countAll,
    nextId,
    insert,
    confirm,
    markRemoved,
    erase,
    leftovers,
    dueRetries,
    retryAll,
    pending,
    desired
  }
})

/** SQL of `whatsapp_sessions` for accounts and sweepers. `SessionRowRepo.ts` has the statements of the actors. */
export class SessionsRepo
  extends Context.Service<SessionsRepo>()("messaging-service/channels/whatsapp/sessions/SessionsRepo", { make })
{
  static readonly layer = Layer.effect(SessionsRepo, make)
}
