import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Audit, byOwner } from "../accounts/Audit.ts"
import type { ErasureStep } from "../accounts/Erasure.ts"
import type { Notice } from "../accounts/notices/Notice.ts"
import { Notices } from "../accounts/notices/Notices.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { AccountId, ApiKeyId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import { type Mode, modeOf, shadowOf } from "../values/TestMode.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import type { ApiKey, CreatedApiKey } from "./ApiKey.ts"
import type { NewApiKey } from "./ApiKeysApi.ts"
import { ApiKeysRepo, type UncountedRow } from "./ApiKeysRepo.ts"

/** The prefix of API keys by their mode. The next 4 characters stay visible after creation. */
export const keyPrefixes: Readonly<Record<Mode, string>> = { live: "sk_live_", test: "sk_test_" }

/** The characters of a key that stay visible, with the prefix. */
export const shownLength = 12

/** API keys that a plan allows (spec section 8). Undefined means no limit. */
const apiKeyLimit: Readonly<Record<Plan, number | undefined>> = {
  starter: 1,
  growth: 3,
  business: 10,
  enterprise: undefined
}

/** Plans without a limit, whose keys are created without waiting for each other. */
const unlimited = Plan.literals.filter((plan) => apiKeyLimit[plan] === undefined)

interface OwnedKey {
  readonly accountId: AccountId
  readonly id: ApiKeyId
  readonly name: string
}

/** For a key created by a request, because a stolen key or session may have created it. */
const keyCreatedNotice = ({ accountId, id, name }: OwnedKey): Notice => ({
  accountId,
  kind: "key_created",
  subject: `A new API key was created: ${name}`,
  body: `The API key ${id}, "${name}", was created for your account.\n\n`
    + `If this was not you, revoke it (DELETE /v1/api-keys/${id}), then every other key that you do not recognise.`
})

/** For a revoked key, which is refused from now on. */
const keyRevokedNotice = ({ accountId, id, name }: OwnedKey): Notice => ({
  accountId,
  kind: "key_revoked",
  subject: `An API key was revoked: ${name}`,
  body: `The API key ${id}, "${name}", was revoked. Requests with it are refused from now on.\n\n`
    + "If this was not you, check your other keys (GET /v1/api-keys) and set another password."
})

/** The API keys of an account (spec 2.2, 3.5, 4.1). */
export class ApiKeys extends Context.Service<ApiKeys, {
  /** Newest first, with the test keys of a live account. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<ApiKey>>
  readonly find: (accountId: AccountId, id: ApiKeyId) => Effect.Effect<ApiKey, NotFound>
  /**
   * Creates a key within the plan's limit, which holds for concurrent requests too. Test keys have their own limit. The
   * first one creates the shadow account.
   */
  readonly create: (
    creator: AccountId,
    key: NewApiKey
  ) => Effect.Effect<CreatedApiKey, PlanLimitExceeded | ValidationFailed>
  /** Whether a key with this end, or without one, lives longer than a credential with the other end. */
  readonly endsAfter: (end: string | null, other: Timestamp) => Effect.Effect<boolean>
  /** Once it returns, no node accepts the key: every request looks it up. */
  readonly revoke: (accountId: AccountId, id: ApiKeyId) => Effect.Effect<void, NotFound>
}>()("messaging-service/api-keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const audit = yield* Audit
      const notices = yield* Notices
      const repo = yield* ApiKeysRepo

      /**
       * Creates keys of an account one after the other, because the limit must hold. Runs in the caller's transaction.
       */
      const counted = Effect.fnUntraced(function*(accountId: AccountId, row: UncountedRow) {
        const { plan } = yield* repo.lockAccount(accountId)
        const limit = apiKeyLimit[plan] ?? Number.POSITIVE_INFINITY
        const { usable } = yield* repo.countUsable(accountId)
        if (usable >= limit) return yield* new PlanLimitExceeded({ limit, current: usable, resource: "api_keys" })
        return yield* Effect.orDie(Effect.fromOption(yield* repo.insert({ ...row, plans: [plan] })))
      })

      const create = Effect.fn("ApiKeys.create")(function*(creator: AccountId, wanted: NewApiKey) {
        const mode = wanted.mode ?? modeOf(creator)
        const accountId = mode === "test" ? shadowOf(creator) : creator
        const expires_at = wanted.expires_at ?? null
        if (expires_at !== null && (yield* repo.isPast(expires_at)).past) {
          return yield* ValidationFailed.of("expires_at", "must be in the future")
        }
        const key = Tokens.mint(keyPrefixes[mode])
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
          if (accountId !== creator) yield* repo.openShadow(creator)
          const inserted = Option.getOrUndefined(yield* repo.insert({ ...row, plans: unlimited })) ??
            (yield* counted(accountId, row))
          const { id, name } = inserted
          const data = { name, ...(mode === "test" && { mode }) }
          yield* audit.record({ accountId: creator, action: "key.created", target: `key ${id}`, data })
          if (mode === "live" && (yield* byOwner)) yield* notices.enqueue(keyCreatedNotice({ accountId, id, name }))
          return inserted
        }))
        const { is_active: _, last_used_at: __, ...shown } = made
        return { ...shown, key }
      })

      return ApiKeys.of({
        create,
        list: (accountId) => repo.list(accountId),
        endsAfter: (end, other) => Effect.map(repo.endsAfter({ end, other }), ({ later }) => later),
        find: Effect.fn("ApiKeys.find")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        revoke: Effect.fn("ApiKeys.revoke")(function*(accountId, id) {
          yield* transaction(Effect.gen(function*() {
            const gone = yield* repo.revoke({ accountId, id })
            if (Option.isNone(gone)) return yield* new NotFound()
            const { mode, name } = gone.value
            yield* audit.record({ accountId, action: "key.revoked", target: `key ${id}`, data: { name } })
            if (mode === "live") yield* notices.enqueue(keyRevokedNotice({ accountId, id, name }))
          }))
        })
      })
    })
  ).pipe(Layer.provide(ApiKeysRepo.layer))
}

const revokeAll: ErasureStep["some"] = Effect.fnUntraced(function*(accountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Query.rowCount(
    sql`with gone as (delete from api_keys where account_id = ${accountId} returning key_hash)
    insert into revoked_api_keys (key_hash) select key_hash from gone
    on conflict (key_hash) do update set revoked_at = now() returning 1`
  )
})

/** Deletes the keys with the account. Their hashes stay for 30 days, marked as revoked. */
export const apiKeysErasure: ErasureStep = {
  name: "API keys",
  atOnce: (accountId) => Effect.asVoid(revokeAll(accountId)),
  some: revokeAll
}
