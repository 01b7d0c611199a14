import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Vault } from "../platform/crypto/Vault.ts"
import { afterCommit, transaction } from "../platform/database/transaction.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { parseHttpsUrl } from "../values/HttpsUrl.ts"
import type { AccountId, WebhookId } from "../values/Ids.ts"
import { makeDeliveriesRepo } from "./DeliveriesRepo.ts"
import { sealedSecret } from "./sealedSecret.ts"
import { generateSecret } from "./sign.ts"
import type { Webhook } from "./Webhook.ts"
import { WebhookEntity } from "./WebhookEntity.ts"
import type { NewWebhook, WebhookChange } from "./WebhooksApi.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"
import { WebhookUrlRules } from "./WebhookUrlRules.ts"

const shownLength = 12

/** A nudge for the actor of a dead node waits until another one has its shard; the others are told meanwhile. */
const patience = "2 seconds"

/** The webhooks of an account (spec 2.6, 4.5). */
export class Webhooks extends Context.Service<Webhooks, {
  /** Newest first, secrets cut to their beginning. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Webhook>>
  readonly find: (accountId: AccountId, id: WebhookId) => Effect.Effect<Webhook, NotFound>
  /** The only answer with the whole secret. */
  readonly create: (accountId: AccountId, webhook: NewWebhook) => Effect.Effect<Webhook, ValidationFailed>
  readonly update: (
    accountId: AccountId,
    id: WebhookId,
    change: WebhookChange
  ) => Effect.Effect<Webhook, NotFound | ValidationFailed>
  /** Removes the webhook and its deliveries. */
  readonly remove: (accountId: AccountId, id: WebhookId) => Effect.Effect<void, NotFound>
  /** Nudges the actors of these webhooks, wherever they run; nothing depends on it. */
  readonly wake: (ids: ReadonlyArray<WebhookId>) => Effect.Effect<void>
}>()("messaging-service/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const rules = yield* WebhookUrlRules
      const actor = yield* WebhookEntity.client
      const repo = yield* makeWebhooksRepo
      const deliveries = yield* makeDeliveriesRepo

      const checkedUrl = (url: string) =>
        Result.match(parseHttpsUrl(url, rules), {
          onSuccess: Effect.succeed,
          onFailure: (problem) =>
            Effect.fail(
              ValidationFailed.of("url", problem, problem.includes("not public") ? "blocked_address" : "invalid")
            )
        })

      const wake = (ids: ReadonlyArray<WebhookId>) =>
        Effect.forEach(
          ids,
          (id) =>
            Effect.ignoreCause(Effect.timeoutOption(actor(String(id)).Wake(undefined, { discard: true }), patience)),
          { concurrency: "unbounded", discard: true }
        )

      const create = Effect.fn("Webhooks.create")(function*(accountId: AccountId, { events, url }: NewWebhook) {
        const target = yield* checkedUrl(url)
        const secret = Redacted.value(generateSecret())
        const { id } = yield* Effect.orDie(repo.nextId())
        const row = yield* Effect.orDie(repo.insert({
          id,
          accountId,
          events,
          url: target,
          secret: vault.seal(sealedSecret(id), Buffer.from(secret)),
          secret_prefix: secret.slice(0, shownLength)
        }))
        return { ...row, secret }
      })

      const update = Effect.fn("Webhooks.update")(
        function*(accountId: AccountId, id: WebhookId, change: WebhookChange) {
          const url = change.url === undefined ? null : yield* checkedUrl(change.url)
          const row = yield* Effect.orDie(repo.update({
            accountId,
            id,
            url,
            events: change.events ?? null,
            is_active: change.is_active ?? null
          }))
          if (Option.isNone(row)) return yield* new NotFound()
          yield* afterCommit(wake([id]))
          return row.value
        }
      )

      const remove = Effect.fn("Webhooks.remove")(
        (accountId: AccountId, id: WebhookId) =>
          transaction(Effect.gen(function*() {
            const gone = yield* Effect.orDie(repo.remove({ accountId, id }))
            if (Option.isNone(gone)) return yield* new NotFound()
            yield* Effect.orDie(deliveries.removeAll(id))
          })),
        Effect.provideService(SqlClient.SqlClient, sql)
      )

      return Webhooks.of({
        wake,
        create,
        update,
        remove,
        list: (accountId) => Effect.orDie(repo.list(accountId)),
        find: Effect.fn("Webhooks.find")(function*(accountId, id) {
          const row = yield* Effect.orDie(repo.find({ accountId, id }))
          return Option.isSome(row) ? row.value : yield* new NotFound()
        })
      })
    })
  )
}
