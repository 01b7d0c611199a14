import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { AccountId } from "../../values/Ids.ts"
import * as Query from "../database/Query.ts"

/** A request with an `Idempotency-Key`. */
const Name = Schema.Struct({ scope: Schema.String, key: Schema.String })

/** The request by which a repetition is recognised, and its answer. The body is encrypted. */
const Stored = Schema.Struct({
  fingerprint: Schema.Uint8Array,
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.Uint8Array
})
export type Stored = typeof Stored.Type

const NewRecord = Schema.Struct({ ...Name.fields, ...Stored.fields, account_id: AccountId })

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const find = Query.findOneOption({
    Request: Name,
    Result: Stored,
    execute: ({ key, scope }) =>
      sql`select fingerprint, status, headers, body from idempotency_records
          where scope = ${scope} and key = ${key} and created_at > now() - interval '24 hours'`
  })

  const tryLock = Query.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ acquired: Schema.Boolean }),
    execute: (name) => sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as acquired`
  })

  /** Returns nothing if another request has stored an answer within the last 24 hours. That one stays. */
  const store = Query.findOneOption({
    Request: NewRecord,
    Result: Name,
    execute: ({ headers, ...row }) =>
      sql`insert into idempotency_records as r ${sql.insert({ ...row, headers: sql.json(headers) })}
          on conflict (scope, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
            headers = excluded.headers, body = excluded.body, created_at = now()
            where r.created_at <= now() - interval '24 hours'
          returning scope, key`
  })

  const dropExpiredClaims = Query.run(sql`delete from idempotency_claims where expires_at <= now()`)

  /** Nothing if another request holds the claim. It outlasts the longest request: a webhook test, of up to 63 seconds. */
  const claim = Query.findOneOption({
    Request: Name,
    Result: Schema.Struct({ holder: Schema.String }),
    execute: ({ key, scope }) =>
      sql`insert into idempotency_claims (scope, key, expires_at)
          values (${scope}, ${key}, now() + interval '90 seconds') on conflict do nothing returning holder`
  })

  const release = (holder: string) => Query.run(sql`delete from idempotency_claims where holder = ${holder}::uuid`)

  return { find, tryLock, store, dropExpiredClaims, claim, release }
})

/** SQL of `idempotency_records` and `idempotency_claims`. */
export class IdempotencyRepo
  extends Context.Service<IdempotencyRepo>()("messaging-service/platform/http/IdempotencyRepo", { make })
{
  static readonly layer = Layer.effect(IdempotencyRepo, make)
}
