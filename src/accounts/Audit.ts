import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../platform/database/Query.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import type { AccountId, PersonId } from "../values/Ids.ts"

/** The changes that the audit log records. */
export type AuditAction =
  | "login"
  | "session.ended"
  | "key.created"
  | "key.rotated"
  | "key.revoked"
  | "address.confirmed"
  | "email.requested"
  | "email.changed"
  | "email.restored"
  | "password.changed"
  | "password.reset"
  | "password.reset_asked"
  | "passkey.added"
  | "passkey.removed"
  | "passkey.renamed"
  | "authenticator.added"
  | "authenticator.removed"
  | "recovery_codes.renewed"
  | "notifications.changed"
  | "plan.changed"
  | "retention.changed"
  | "webhook.created"
  | "webhook.changed"
  | "webhook.secret_rotated"
  | "webhook.removed"
  | "webhook.recovery_started"
  | "webhook.recovery_canceled"
  | "domain.added"
  | "domain.changed"
  | "domain.removed"

/** One change of an account. */
export interface AuditEntry {
  readonly accountId: AccountId
  readonly action: AuditAction
  /** Replaces the {@link actor} of the request: a page of a person has no credential of the account. */
  readonly person?: PersonId
  /** The changed object, such as `webhook 7`. */
  readonly target?: string
  /** Never contains a secret or a part of one. */
  readonly data?: Readonly<Record<string, unknown>>
}

/** Whether the request comes from the account (its owner or their program), not from the operator. */
export const byOwner: Effect.Effect<boolean> = Effect.map(Effect.serviceOption(Principal), Option.isSome)

/** `key 5`, `session 7`, `person 3`, `anonymous` for a request without a credential, or `system` outside of requests. */
export const actor: Effect.Effect<string> = Effect.gen(function*() {
  const principal = yield* Effect.serviceOption(Principal)
  if (Option.isNone(principal)) return (yield* RequestContext).clientAddress === "" ? "system" : "anonymous"
  const { keyId, person, sessionId } = principal.value
  if (person !== undefined) return `person ${person.id}`
  return keyId === undefined ? `session ${sessionId}` : `key ${keyId}`
})

/** The audit log: who changed what of an account. */
export class Audit extends Context.Service<Audit, {
  /** Writes an entry in the caller's transaction. The actor comes from the current request. */
  readonly record: (entry: AuditEntry) => Effect.Effect<void>
}>()("messaging-service/accounts/Audit") {
  static readonly layer = Layer.effect(
    Audit,
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const record = Effect.fn("Audit.record")(function*({ accountId, action, data = {}, person, target }: AuditEntry) {
        const { clientAddress } = yield* RequestContext
        yield* Query.run(sql`insert into audit_entries (account_id, actor, action, target, client_address, data)
          values (${accountId}, ${person === undefined ? yield* actor : `person ${person}`}, ${action}, ${
          target ?? null
        },
            ${clientAddress === "" ? null : clientAddress}, ${sql.json(data)})`)
      })
      return Audit.of({ record })
    })
  )
}
