import { Context, Effect, Layer, Option } from "effect"
import { Audit, byOwner } from "../accounts/Audit.ts"
import { Notices } from "../accounts/Notices.ts"
import { apiKeyLimit } from "../accounts/planLimits.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { AccountId, ApiKeyId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import type { ApiKey, CreatedApiKey } from "./ApiKey.ts"
import type { NewApiKey } from "./ApiKeysApi.ts"
import { ApiKeysRepo, type UncountedRow } from "./ApiKeysRepo.ts"
import { keyCreatedNotice, keyRevokedNotice } from "./keyNotices.ts"

/** What every API key begins with; the next 4 characters are still shown after creation. */
export const keyPrefix = "sk_live_"

const shownLength = 12

/** Plans whose keys need not be counted, so that they are made without waiting for each other. */
const unlimited = Plan.literals.filter((plan) => apiKeyLimit[plan] === undefined)

/** The API keys of an account (spec 2.2, 3.5, 4.1). */
export class ApiKeys extends Context.Service<ApiKeys, {
  /** Newest first. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<ApiKey>>
  readonly find: (accountId: AccountId, id: ApiKeyId) => Effect.Effect<ApiKey, NotFound>
  /** Makes a key within the limit of the plan, exactly, however many are asked for at once. */
  readonly create: (
    accountId: AccountId,
    key: NewApiKey
  ) => Effect.Effect<CreatedApiKey, PlanLimitExceeded | ValidationFailed>
  /** When it returns, no node takes the key any more: every request looks its key up. */
  readonly revoke: (accountId: AccountId, id: ApiKeyId) => Effect.Effect<void, NotFound>
}>()("messaging-service/api-keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const notices = yield* Notices
      const repo = yield* ApiKeysRepo

      /** One after the other, as the limit must hold; in the caller's transaction. */
      const counted = Effect.fnUntraced(function*(accountId: AccountId, row: UncountedRow) {
        const { plan } = yield* repo.lockAccount(accountId)
        const limit = apiKeyLimit[plan] ?? Number.POSITIVE_INFINITY
        const { usable } = yield* repo.countUsable(accountId)
        if (usable >= limit) return yield* new PlanLimitExceeded({ limit, current: usable, resource: "api_keys" })
        return yield* Effect.orDie(Effect.fromOption(yield* repo.insert({ ...row, plans: [plan] })))
      })

      const create = Effect.fn("ApiKeys.create")(function*(accountId: AccountId, wanted: NewApiKey) {
        const expires_at = wanted.expires_at ?? null
        if (expires_at !== null && (yield* repo.isPast(expires_at)).past) {
          return yield* ValidationFailed.of("expires_at", "must be in the future")
        }
        const key = Tokens.mint(keyPrefix)
        const row = {
          account_id: accountId,
          name: wanted.name,
          key_hash: Tokens.hash(key),
          key_prefix: key.slice(0, shownLength),
          scopes: [...new Set(wanted.scopes)],
          permissions: [...new Set(wanted.permissions)],
          expires_at
        }
        const made = yield* transaction(Effect.gen(function*() {
          const inserted = Option.getOrUndefined(yield* repo.insert({ ...row, plans: unlimited })) ??
            (yield* counted(accountId, row))
          const { id, name } = inserted
          yield* audit.record({ accountId, action: "key.created", target: `key ${id}`, data: { name } })
          if (yield* byOwner) yield* notices.tell(keyCreatedNotice({ accountId, id, name }))
          return inserted
        }))
        const { is_active: _, last_used_at: __, ...shown } = made
        return { ...shown, key }
      })

      return ApiKeys.of({
        create,
        list: (accountId) => repo.list(accountId),
        find: Effect.fn("ApiKeys.find")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        revoke: Effect.fn("ApiKeys.revoke")(function*(accountId, id) {
          yield* transaction(Effect.gen(function*() {
            const gone = yield* repo.revoke({ accountId, id })
            if (Option.isNone(gone)) return yield* new NotFound()
            const { name } = gone.value
            yield* audit.record({ accountId, action: "key.revoked", target: `key ${id}`, data: { name } })
            yield* notices.tell(keyRevokedNotice({ accountId, id, name }))
          }))
        })
      })
    })
  ).pipe(Layer.provide(ApiKeysRepo.layer))
}
