import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../platform/database/Query.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import type { AccountId } from "../values/Ids.ts"

/** What is written down when somebody does it. */
export type AuditAction =
  | "key.created"
  | "key.revoked"
  | "email.changed"
  | "password.changed"
  | "password.reset"
  | "plan.changed"
  | "webhook.created"
  | "webhook.changed"
  | "webhook.secret_rotated"
  | "webhook.removed"
  | "domain.added"
  | "domain.changed"
  | "domain.removed"

/** One change of an account. */
export interface AuditEntry {
  readonly accountId: AccountId
  readonly action: AuditAction
  /** What was changed, such as `webhook 7`. */
  readonly target?: string
  /** Never a secret, nor a part of one. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Whether the request in hand is of the account's owner or of a program of his; else it is the operator's. */
export const byOwner: Effect.Effect<boolean> = Effect.map(Effect.serviceOption(Principal), Option.isSome)

const actor = Effect.map(
  Effect.serviceOption(Principal),
  Option.match({
    onNone: () => "system",
    onSome: ({ keyId }) => keyId === undefined ? "session" : `key ${keyId}`
  })
)

/** The book of what was changed about accounts, and by whom. */
export class Audit extends Context.Service<Audit, {
  /** Writes an entry in the caller's transaction; who it was is read from the request in hand. */
  readonly record: (entry: AuditEntry) => Effect.Effect<void>
}>()("messaging-service/accounts/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const record = Effect.fn("Audit.record")(function*({ accountId, action, data = {}, target }: AuditEntry) {
        const { clientAddress } = yield* RequestContext
        yield* Query.run(sql`insert into audit_entries (account_id, actor, action, target, client_address, data)
          values (${accountId}, ${yield* actor}, ${action}, ${target ?? null},
            ${clientAddress === "" ? null : clientAddress}, ${sql.json(data)})`)
      })
      return Audit.of({ record })
    })
  )
}
