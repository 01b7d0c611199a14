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
import type { ApiKey, CreatedApiKey, RotatedApiKey } from "./ApiKey.ts"
import { KeyNotRotatable } from "./ApiKeyErrors.ts"
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

/** For a key that replaces another one, like a new key. */
const keyRotatedNotice = ({ accountId, id, name }: OwnedKey, previous: RotatedApiKey["previous"]): Notice => ({
  accountId,
  kind: "key_created",
  subject: `An API key was rotated: ${name}`,
  body:
    `The API key ${id} replaces the key ${previous.id}, "${name}", which is refused from ${previous.expires_at} on.\n\n`
    + `If this was not you, revoke both (DELETE /v1/api-keys/${id}), then every other key that you do not recognise.`
})

/** For a revoked key, which is refused from now on. */
const keyRevokedNotice = ({ accountId, id, name }: OwnedKey): Notice => ({
  accountId,
  kind: "key_revoked",
  subject: `An API key was revoked: ${name}`,
  body: `The API key ${id}, "${name}", was revoked. Requests with it are refused from now on.\n\n`
    + "If this was not you, check your other keys (GET /v1/api-keys) and set another password."
})

interface Rotation {
  readonly id: ApiKeyId
  readonly overlap_seconds: number
  readonly wanted: NewApiKey
}

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
  /** What a key that replaces this one is like, unless the caller wants another end. */
  readonly successorOf: (accountId: AccountId, id: ApiKeyId) => Effect.Effect<NewApiKey, NotFound>
  /**
   * Creates a key in the place of another one, which ends after the overlap. Only one of concurrent rotations does. The
   * account may have one usable key more than its plan allows, so that even an account with one key can rotate it.
   */
  readonly rotate: (
    caller: AccountId,
    rotation: Rotation
  ) => Effect.Effect<RotatedApiKey, KeyNotRotatable | NotFound | PlanLimitExceeded | ValidationFailed>
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

      /** The keys of a plan's account that are usable, and how many it may have. Called under the lock of the account. */
      const counted = Effect.fnUntraced(function*(accountId: AccountId, plan: Plan) {
        const limit = apiKeyLimit[plan] ?? Number.POSITIVE_INFINITY
        const { usable } = yield* repo.countUsable(accountId)
        return { limit, current: usable, resource: "api_keys" } as const
      })

      /** Creates a key on a plan that the account's lock keeps. */
      const insert = Effect.fnUntraced(function*(row: UncountedRow, plan: Plan) {
        return yield* Effect.orDie(Effect.fromOption(yield* repo.insert({ ...row, plans: [plan] })))
      })

      /**
       * Creates keys of an account one after the other, because the limit must hold. Runs in the caller's transaction.
       */
      const insertCounted = Effect.fnUntraced(function*(row: UncountedRow) {
        const { plan } = yield* repo.lockAccount(row.account_id)
        const count = yield* counted(row.account_id, plan)
        if (count.current >= count.limit) return yield* new PlanLimitExceeded(count)
        return yield* insert(row, plan)
      })

      /** A new secret with the row that keeps its hash. */
      const mint = Effect.fnUntraced(function*(creator: AccountId, wanted: NewApiKey) {
        const mode = wanted.mode ?? modeOf(creator)
        const expires_at = wanted.expires_at ?? null
        if (expires_at !== null && (yield* repo.isPast(expires_at)).past) {
          return yield* ValidationFailed.of("expires_at", "must be in the future")
        }
        const key = Tokens.mint(keyPrefixes[mode])
        const row: UncountedRow = {
          account_id: mode === "test" ? shadowOf(creator) : creator,
          name: wanted.name,
          key_hash: Tokens.hash(key),
          key_prefix: key.slice(0, shownLength),
          scopes: [...new Set(wanted.scopes)],
          permissions: [...new Set(wanted.permissions)],
          expires_at
        }
        return { key, mode, row }
      })

      const create = Effect.fn("ApiKeys.create")(function*(creator: AccountId, wanted: NewApiKey) {
        const { key, mode, row } = yield* mint(creator, wanted)
        const accountId = row.account_id
        const made = yield* transaction(Effect.gen(function*() {
          if (accountId !== creator) yield* repo.openShadow(creator)
          const inserted = Option.getOrUndefined(yield* repo.insert({ ...row, plans: unlimited })) ??
            (yield* insertCounted(row))
          const { id, name } = inserted
          const data = { name, ...(mode === "test" && { mode }) }
          yield* audit.record({ accountId: creator, action: "key.created", target: `key ${id}`, data })
          if (mode === "live" && (yield* byOwner)) yield* notices.enqueue(keyCreatedNotice({ accountId, id, name }))
          return inserted
        }))
        return { ...made, key }
      })

      const find = Effect.fn("ApiKeys.find")(function*(accountId: AccountId, id: ApiKeyId) {
        const row = yield* repo.find({ accountId, id })
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const rotate = Effect.fn("ApiKeys.rotate")(
        function*(caller: AccountId, { id: old, overlap_seconds, wanted }: Rotation) {
          const { key, mode, row } = yield* mint(caller, wanted)
          const accountId = row.account_id
          return yield* transaction(Effect.gen(function*() {
            const { plan } = yield* repo.lockAccount(accountId)
            const ended = yield* repo.rotate({ accountId, id: old, overlap_seconds })
            if (Option.isNone(ended)) {
              const { rotated_at } = yield* find(caller, old)
              return yield* new KeyNotRotatable({ reason: rotated_at === null ? "expired" : "rotated" })
            }
            const previous = ended.value
            const count = yield* counted(accountId, plan)
            // Without an overlap, there are as many keys as before.
            if (overlap_seconds > 0 && count.current > count.limit) return yield* new PlanLimitExceeded(count)
            const made = yield* insert(row, plan)
            const { id, name } = made
            const data = { name, successor: id, ends_at: previous.expires_at, ...(mode === "test" && { mode }) }
            yield* audit.record({ accountId: caller, action: "key.rotated", target: `key ${old}`, data })
            if (mode === "live" && (yield* byOwner)) {
              yield* notices.enqueue(keyRotatedNotice({ accountId, id, name }, previous))
            }
            return { ...made, key, previous }
          }))
        }
      )

      return ApiKeys.of({
        create,
        list: (accountId) => repo.list(accountId),
        endsAfter: (end, other) => Effect.map(repo.endsAfter({ end, other }), ({ later }) => later),
        find,
        rotate,
        successorOf: Effect.fn("ApiKeys.successorOf")(function*(accountId, id) {
          const row = yield* repo.successor({ accountId, id })
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
