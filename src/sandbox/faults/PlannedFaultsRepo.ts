import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { faultHours, FaultName, SandboxFault } from "../../messages/SandboxFault.ts"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { AccountId } from "../../values/Ids.ts"

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columns = sql`id, fault, created_at, created_at + make_interval(hours => ${faultHours}::integer) as expires_at`
  /** The faults of an account that have not expired. */
  const waiting = (accountId: number) =>
    sql`account_id = ${accountId} and created_at > now() - make_interval(hours => ${faultHours}::integer)`

  const list = Query.findAll({
    Request: AccountId,
    Result: SandboxFault,
    execute: (accountId) => sql`select ${columns} from sandbox_faults where ${waiting(accountId)} order by id`
  })

  /** Makes requests that plan faults for an account wait for each other, so that each sees those of the others. */
  const lock = (accountId: AccountId) =>
    Query.run(sql`select pg_advisory_xact_lock(hashtextextended(${`sandbox_faults:${accountId}`}, 0))`)

  /** None if the account has as many as the limit. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, fault: FaultName, limit: Schema.Int }),
    Result: SandboxFault,
    execute: ({ accountId, fault, limit }) =>
      sql`insert into sandbox_faults (account_id, fault) select ${accountId}::bigint, ${fault}::text
        where (select count(*) from sandbox_faults where ${waiting(accountId)}) < ${limit}
        returning ${columns}`
  })

  const clear = (accountId: AccountId) =>
    Query.rowCount(sql`delete from sandbox_faults where ${waiting(accountId)} returning 1`)

  /** Takes the oldest of these faults. Concurrent takers pass each other, so each row has one taker. */
  const take = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, faults: Schema.Array(FaultName) }),
    Result: Schema.Struct({ fault: FaultName }),
    execute: ({ accountId, faults }) =>
      sql`delete from sandbox_faults where account_id = ${accountId} and id = (
          select id from sandbox_faults where ${waiting(accountId)} and fault = any(${column.text(faults)})
          order by id limit 1 for update skip locked
        ) returning fault`
  })

  return { list, lock, insert, clear, take }
})

/** SQL of `sandbox_faults`. */
export class PlannedFaultsRepo extends Context.Service<PlannedFaultsRepo>()(
  "messaging-service/sandbox/faults/PlannedFaultsRepo",
  { make }
) {
  static readonly layer = Layer.effect(PlannedFaultsRepo, make)
}
