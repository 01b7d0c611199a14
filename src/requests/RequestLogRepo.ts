import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId, ApiKeyId } from "../values/Ids.ts"
import { windowFields } from "../values/Page.ts"
import { LoggedRequest, RequestId } from "./RequestRecord.ts"

/** A request to store. */
export interface NewRow extends LoggedRequest {
  readonly accountId: AccountId
  /** The hashes of the recipients of a refused send. */
  readonly recipients: ReadonlyArray<Uint8Array>
}

const Filter = Schema.Struct({
  accountId: AccountId,
  id: Schema.NullOr(RequestId),
  /** The first id of the time, and the first one after it. */
  from: Schema.NullOr(RequestId),
  to: Schema.NullOr(RequestId),
  isRefused: Schema.Boolean,
  lowest: Schema.Int,
  highest: Schema.Int,
  errorType: Schema.NullOr(Schema.String),
  method: Schema.NullOr(Schema.String),
  path: Schema.NullOr(Schema.String),
  keyId: Schema.NullOr(ApiKeyId),
  /** The hash of one. */
  recipient: Schema.NullOr(Schema.Uint8Array),
  ...windowFields
})
export type RequestFilter = typeof Filter.Type

/** A value of type `bytea[]`; null for none. */
const arrayOf = (hashes: ReadonlyArray<Uint8Array>) =>
  hashes.length === 0 ? null : `{${hashes.map((hash) => `"\\\\x${Buffer.from(hash).toString("hex")}"`).join(",")}}`

/** Most requests that a filter looks at. */
const mostSearched = 100_000

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(
    "id::text as id, method, path, route, status, error, made, duration_ms, key_id, key_prefix, person_id, ip"
  )

  const list = Query.findAll({
    Request: Filter,
    Result: LoggedRequest,
    execute: (
      { accountId, after, errorType, from, highest, id, isRefused, keyId, limit, lowest, method, path, recipient, to }
    ) =>
      sql`select ${columns} from (
          select * from request_log where account_id = ${accountId}
            and ${id === null ? sql`true` : sql`id = ${id}::uuid`}
            and ${from === null ? sql`true` : sql`id >= ${from}::uuid`}
            and ${to === null ? sql`true` : sql`id < ${to}::uuid`}
            and ${after === null ? sql`true` : sql`id < ${after[0]}::uuid`}
            and ${isRefused ? sql`status >= 400` : sql`true`}
            and ${recipient === null ? sql`true` : sql`recipients @> array[${recipient}::bytea]`}
          order by id desc limit ${mostSearched}
        ) as newest
        where status between ${lowest} and ${highest}
          and ${errorType === null ? sql`true` : sql`error ->> 'type' = ${errorType}`}
          and ${method === null ? sql`true` : sql`method = ${method}`}
          and ${path === null ? sql`true` : sql`starts_with(path, ${path})`}
          and ${keyId === null ? sql`true` : sql`key_id = ${keyId}`}
        order by newest.id desc limit ${limit}`
  })

  const find = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, id: RequestId }),
    Result: LoggedRequest,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from request_log where account_id = ${accountId} and id = ${id}::uuid`
  })

  /** Requests of deleted accounts go without a trace. A group that was stored already changes nothing. */
  const insert = (rows: ReadonlyArray<NewRow>) => {
    const texts = (of: (row: NewRow) => string | null) => column.text(rows.map(of))
    const numbers = (of: (row: NewRow) => number | null) => column.int8(rows.map(of))
    return Query.run(sql`insert into request_log (account_id, id, method, path, route, status, duration_ms, key_id,
        key_prefix, person_id, ip, made, error, recipients)
      select t.account_id, t.id::uuid, t.method, t.path, t.route, t.status, t.duration_ms, t.key_id, t.key_prefix,
        t.person_id, t.ip, t.made, t.error::jsonb, t.recipients::bytea[]
      from unnest(${numbers(({ accountId }) => accountId)}, ${texts(({ id }) => id)}, ${texts(({ method }) => method)},
          ${texts(({ path }) => path)}, ${texts(({ route }) => route)}, ${numbers(({ status }) => status)},
          ${numbers(({ duration_ms }) => duration_ms)}, ${numbers(({ key_id }) => key_id)},
          ${texts(({ key_prefix }) => key_prefix)}, ${numbers(({ person_id }) => person_id)}, ${texts(({ ip }) => ip)},
          ${texts(({ made }) => made)}, ${texts(({ error }) => error === null ? null : JSON.stringify(error))},
          ${texts(({ recipients }) => arrayOf(recipients))})
        as t (account_id, id, method, path, route, status, duration_ms, key_id, key_prefix, person_id, ip, made, error,
          recipients)
      join accounts a on a.id = t.account_id and a.deleted_at is null
      on conflict do nothing`)
  }

  return { list, find, insert }
})

/** SQL of `request_log`. */
export class RequestLogRepo extends Context.Service<RequestLogRepo>()("messaging-service/requests/RequestLogRepo", {
  make
}) {
  static readonly layer = Layer.effect(RequestLogRepo, make)
}
