import { Array, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { QuickReads } from "../platform/database/QuickReads.ts"
import { documentedPath } from "../platform/http/names/nearRoute.ts"
import { AccountId, ApiKeyId, LoginSessionId } from "../values/Ids.ts"
import { Permission, Scope } from "../values/Permission.ts"
import { Plan } from "../values/Plan.ts"
import { Mode, modeColumn } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { ApiKey, InsertedKey } from "./ApiKey.ts"

const One = Schema.Struct({ accountId: AccountId, id: ApiKeyId })

const NewRow = Schema.Struct({
  account_id: AccountId,
  name: Schema.String,
  key_hash: Schema.Uint8Array,
  key_prefix: Schema.String,
  scopes: Schema.Array(Schema.String),
  permissions: Schema.Array(Schema.String),
  expires_at: Schema.NullOr(Schema.String),
  plans: Schema.Array(Plan)
})

const Successor = Schema.Struct({
  name: Schema.String,
  mode: Mode,
  scopes: Schema.Array(Scope),
  permissions: Schema.Array(Permission),
  expires_at: Schema.NullOr(Timestamp)
})

/** A new key before its allowed plans are known. */
export type UncountedRow = Omit<typeof NewRow.Type, "plans">

/** The owner of a hashed credential. Null for a credential that is unknown or not usable. */
export const Credential = Schema.Struct({
  key_id: Schema.NullOr(ApiKeyId),
  session_id: Schema.NullOr(LoginSessionId),
  account_id: Schema.NullOr(AccountId),
  expires_at: Schema.NullOr(Timestamp),
  is_fresh_login: Schema.Boolean,
  scopes: Schema.NullOr(Schema.Array(Scope)),
  permissions: Schema.NullOr(Schema.Array(Permission)),
  plan: Schema.NullOr(Plan),
  trial: Schema.Literals(["none", "running", "over"]),
  awaits_confirmation: Schema.NullOr(Schema.Boolean),
  state: Schema.Literals(["usable", "unknown", "revoked", "expired"]),
  /** The credential's last use was recorded more than a minute ago. */
  is_stale: Schema.Boolean
})
export type Credential = typeof Credential.Type

/** The request that used a credential. */
export interface Use {
  readonly credential: Credential
  readonly by: { readonly ip: string; readonly endpoint: string }
}

const trial =
  "case when a.trial_ends_at is null then 'none' when a.trial_ends_at > now() then 'running' else 'over' end as trial"

/** A test key sends no sooner than a live one: its messages take space, too. */
const awaits = `case when a.shadow_of is null then a.awaits_confirmation
    else (select o.awaits_confirmation from accounts o where o.id = a.shadow_of) end as awaits_confirmation`

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const quick = yield* QuickReads.orClient
  const made = `id, name, key_prefix, ${modeColumn()}, scopes, permissions, expires_at, created_at`
  const names = `${made}, last_used_at, last_used_ip, last_used_endpoint, rotated_at,
    (expires_at is null or expires_at > now()) as is_active,
    (select json_build_object('succeeded', coalesce(sum(succeeded), 0), 'refused', coalesce(sum(refused), 0),
        'failed', coalesce(sum(failed), 0))
      from api_key_requests where key_id = api_keys.id and day > (now() at time zone 'UTC')::date - 7) as requests`

  /** Not a quick read, because an account may have many keys that have ended. */
  const list = Query.findAll({
    Request: AccountId,
    Result: ApiKey,
    execute: (accountId) =>
      sql`select ${sql.literal(names)} from api_keys
        where account_id = any(array[${accountId}::bigint, -abs(${accountId}::bigint)]) order by id desc`
  })

  const found = Query.lookup(quick, {
    Result: ApiKey,
    statement: `select ${names} from api_keys
      where id = $1 and account_id = any(array[$2::bigint, -abs($2::bigint)])`,
    values: ({ accountId, id }: typeof One.Type) => [id, accountId]
  })
  const find = (one: typeof One.Type) => Effect.map(found(one), Array.head)

  /** Creates the shadow account, unless it exists. Its plan cannot change until the transaction ends. */
  const openShadow = (owner: AccountId) =>
    Query.run(sql`insert into accounts (id, shadow_of, name, email, plan, trial_ends_at, message_retention_days,
        content_retention_days) overriding system value
      select -id, id, name, 'shadow of account ' || id, plan, trial_ends_at, message_retention_days, content_retention_days
      from accounts where id = ${owner} and deleted_at is null for share
      on conflict do nothing`)

  /** Locks the account's row, so that keys of one account are created one after the other. */
  const lockAccount = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ plan: Plan }),
    execute: (accountId) => sql`select plan from accounts where id = ${accountId} for no key update`
  })

  /** A separate statement after the lock: a statement that waits for a lock sees the rows of the time of its start. */
  const countUsable = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ usable: Schema.Int }),
    execute: (accountId) =>
      sql`select count(*) as usable from api_keys
        where account_id = ${accountId} and (expires_at is null or expires_at > now())`
  })

  const isPast = Query.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ past: Schema.Boolean }),
    execute: (instant) => sql`select ${instant}::timestamptz <= now() as past`
  })

  /** No end is later than every end. */
  const endsAfter = Query.findOne({
    Request: Schema.Struct({ end: Schema.NullOr(Schema.String), other: Timestamp }),
    Result: Schema.Struct({ later: Schema.Boolean }),
    execute: ({ end, other }) => sql`select coalesce(${end}::timestamptz > ${other}::timestamptz, true) as later`
  })

  /** Nothing if the account is on none of the plans. */
  const insert = Query.findOneOption({
    Request: NewRow,
    Result: InsertedKey,
    execute: (row) =>
      sql`insert into api_keys (account_id, name, key_hash, key_prefix, scopes, permissions, expires_at)
        select id, ${row.name}::text, ${row.key_hash}::bytea, ${row.key_prefix}::text, ${column.text(row.scopes)},
          ${column.text(row.permissions)}, ${row.expires_at}::timestamptz
        from accounts where id = ${row.account_id} and plan = any(${column.text(row.plans)})
        returning ${sql.literal(made)}`
  })

  /** What a key that replaces this one is like. It gets as much time as this one was made with, at most until the year 9999. */
  const successor = Query.findOneOption({
    Request: One,
    Result: Successor,
    execute: ({ accountId, id }) =>
      sql`select name, ${sql.literal(modeColumn())}, scopes, permissions, case when expires_at is not null
          then least(now() + (expires_at - created_at), timestamptz '9999-12-31 23:59:59Z') end as expires_at
        from api_keys where id = ${id} and account_id = any(array[${accountId}::bigint, -abs(${accountId}::bigint)])`
  })

  /**
   * Ends a key of exactly this account after the overlap, or when it would have ended. Nothing if it was rotated or has
   * ended.
   */
  const rotate = Query.findOneOption({
    Request: Schema.Struct({ ...One.fields, overlap_seconds: Schema.Int }),
    Result: Schema.Struct({ id: ApiKeyId, expires_at: Timestamp }),
    execute: ({ accountId, id, overlap_seconds }) =>
      sql`update api_keys set rotated_at = now(),
          expires_at = least(expires_at, now() + ${overlap_seconds}::integer * interval '1 second')
        where id = ${id} and account_id = ${accountId} and rotated_at is null
          and (expires_at is null or expires_at > now())
        returning id, expires_at`
  })

  /** Deletes the row and keeps its hash for 30 days, to distinguish "revoked" from "unknown". */
  const revoke = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ name: Schema.String, mode: Mode }),
    execute: ({ accountId, id }) =>
      sql`with gone as (
          delete from api_keys
          where id = ${id} and account_id = any(array[${accountId}::bigint, -abs(${accountId}::bigint)])
          returning key_hash, name, ${sql.literal(modeColumn())}
        ),
        kept as (
          insert into revoked_api_keys (key_hash) select key_hash from gone
          on conflict (key_hash) do update set revoked_at = now()
        )
        select name, mode from gone`
  })

  const usable = `select k.id as key_id, null::bigint as session_id, a.id as account_id, k.expires_at,
      false as is_fresh_login, k.scopes, k.permissions, a.plan, ${awaits}, ${trial}, 'usable' as state,
      coalesce(k.last_used_at < now() - interval '1 minute', true) as is_stale`
  const ofAccount = `(k.expires_at is null or k.expires_at > now())
      join accounts a on a.id = k.account_id and a.deleted_at is null`

  /** One row per hash of a usable key, in the same order. */
  const usableKeys = Query.lookup(quick, {
    Result: Credential,
    statement: `${usable} from unnest($1::bytea[]) with ordinality as t (hash, position)
      join api_keys k on k.key_hash = t.hash and ${ofAccount} order by position`,
    values: (hashes: ReadonlyArray<Uint8Array>) => [column.bytea(hashes)]
  })

  /** The same for one hash, which costs PostgreSQL less. */
  const usableKey = Query.lookup(quick, {
    Result: Credential,
    statement: `${usable} from (select $1::bytea as hash) t join api_keys k on k.key_hash = t.hash and ${ofAccount}`,
    values: ([hash]: ReadonlyArray<Uint8Array>) => [hash]
  })

  /** One row per hash, in the same order. */
  const credentials = Query.lookup(quick, {
    Result: Credential,
    statement: `select k.id as key_id, s.id as session_id, a.id as account_id,
        coalesce(k.expires_at, s.expires_at) as expires_at,
        coalesce(s.created_at > now() - interval '15 minutes', false) as is_fresh_login, k.scopes, k.permissions, a.plan,
        ${awaits}, ${trial},
        case when k.expires_at <= now() then 'expired' when a.id is not null then 'usable'
          when exists (select from revoked_api_keys r where r.key_hash = t.hash) then 'revoked' else 'unknown' end as state,
        coalesce(coalesce(k.last_used_at, s.last_used_at) < now() - interval '1 minute', true) as is_stale
      from unnest($1::bytea[]) with ordinality as t (hash, position)
      left join api_keys k on k.key_hash = t.hash
      left join login_sessions s on s.token_hash = t.hash and s.expires_at > now()
      left join accounts a on a.id = coalesce(k.account_id, s.account_id) and a.deleted_at is null
      order by position`,
    values: (hashes: ReadonlyArray<Uint8Array>) => [column.bytea(hashes)]
  })

  /** The same for the hashes of keys. Most are usable, and their statement costs PostgreSQL a third less. */
  const keyCredentials = (hashes: ReadonlyArray<Uint8Array>) =>
    Effect.filterOrElse(
      (hashes.length === 1 ? usableKey : usableKeys)(hashes),
      (rows) => rows.length === hashes.length,
      () => credentials(hashes)
    )

  /** Records the use of credentials. */
  const touch = (used: ReadonlyArray<Use>) => {
    const keys = used.flatMap(({ by, credential: { key_id } }) => key_id === null ? [] : [{ ...by, id: key_id }])
    const sessions = column.int8(used.flatMap(({ credential: { session_id } }) => session_id ?? []))
    return Query.run(sql`with used_sessions as (
        update login_sessions set last_used_at = now() where id = any(${sessions})
          and (last_used_at is null or last_used_at < now() - interval '1 minute')
      )
      update api_keys k set last_used_at = now(), last_used_ip = u.ip, last_used_endpoint = u.endpoint
        from unnest(${column.int8(keys.map(({ id }) => id))}, ${column.text(keys.map(({ ip }) => ip))},
          ${column.text(keys.map(({ endpoint }) => documentedPath(endpoint)))}) as u (id, ip, endpoint)
        where k.id = u.id and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute')`)
  }

  return {
    list,
    find,
    openShadow,
    lockAccount,
    countUsable,
    isPast,
    endsAfter,
    insert,
    successor,
    rotate,
    revoke,
    credentials,
    keyCredentials,
    touch
  }
})

/** SQL of `api_keys` and `revoked_api_keys`. */
export class ApiKeysRepo extends Context.Service<ApiKeysRepo>()("messaging-service/api-keys/ApiKeysRepo", { make }) {
  static readonly layer = Layer.effect(ApiKeysRepo, make)
}
