import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { Audit, type AuditEntry } from "../accounts/Audit.ts"
import type { Notice } from "../accounts/notices/Notice.ts"
import { Notices } from "../accounts/notices/Notices.ts"
import { PlanLimits } from "../accounts/PlanLimits.ts"
import { Vault } from "../platform/crypto/Vault.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound, type PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { parseHttpsUrl } from "../values/HttpsUrl.ts"
import type { AccountId, WebhookId } from "../values/Ids.ts"
import type { PageOf } from "../values/Page.ts"
import { WakeUps } from "./delivery/WakeUps.ts"
import type { Webhook } from "./endpoint/Webhook.ts"
import * as WebhookSecret from "./endpoint/WebhookSecret.ts"
import { WebhooksRepo } from "./endpoint/WebhooksRepo.ts"
import { WebhookUrlRules } from "./endpoint/WebhookUrlRules.ts"
import type { NewWebhook, SecretRotation, WebhookChange } from "./WebhooksApi.ts"

const shownLength = 12

/** Warns the owner, because anyone with the new secret can sign events. */
const secretRotatedNotice = (accountId: AccountId, id: WebhookId): Notice => ({
  accountId,
  kind: "webhook_secret_rotated",
  subject: `The secret of webhook ${id} was changed`,
  body: `Webhook ${id} has a new signing secret. Give it to the endpoint before the overlap ends.\n\n`
    + `If it was not you, rotate it again (POST /v1/webhooks/${id}/rotate-secret) and revoke the API keys that you do not `
    + "know (GET /v1/api-keys)."
})

/** The webhooks of an account (spec 2.6, 4.5). */
export class Webhooks extends Context.Service<Webhooks, {
  /** Newest first, each secret cut to its first characters. */
  readonly list: (
    accountId: AccountId,
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<Webhook>>
  readonly find: (accountId: AccountId, id: WebhookId) => Effect.Effect<Webhook, NotFound>
  /** Within the plan's limit. The only response besides a rotation that has the whole secret. */
  readonly create: (
    accountId: AccountId,
    webhook: NewWebhook
  ) => Effect.Effect<Webhook, ValidationFailed | PlanLimitExceeded>
  readonly update: (
    accountId: AccountId,
    id: WebhookId,
    change: WebhookChange
  ) => Effect.Effect<Webhook, NotFound | ValidationFailed>
  /** Gives the webhook a new secret, shown whole. The previous one signs as well until the overlap ends. */
  readonly rotateSecret: (
    accountId: AccountId,
    id: WebhookId,
    rotation: SecretRotation
  ) => Effect.Effect<Webhook, NotFound>
  /** Removes the webhook. No attempt starts any more, and its deliveries are deleted within minutes. */
  readonly remove: (accountId: AccountId, id: WebhookId) => Effect.Effect<void, NotFound>
}>()("messaging-service/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const vault = yield* Vault
      const audit = yield* Audit
      const notices = yield* Notices
      const limits = yield* PlanLimits
      const rules = yield* WebhookUrlRules
      const { announceChange } = yield* WakeUps.make
      const repo = yield* WebhooksRepo

      const checkedUrl = (url: string) =>
        Result.match(parseHttpsUrl(url, rules), {
          onSuccess: Effect.succeed,
          onFailure: ({ kind, message }) => Effect.fail(ValidationFailed.of("url", message, kind))
        })

      /** Makes a change and records it in the audit log, both or neither. */
      const recorded = <A, E = never>(entry: AuditEntry, change: Effect.Effect<Option.Option<A>, E>) =>
        transaction(Effect.gen(function*() {
          const changed = yield* change
          if (Option.isNone(changed)) return yield* new NotFound()
          yield* audit.record(entry)
          return changed.value
        }))

      /** A new secret, as its owner sees it and as its row stores it. */
      const newSecret = (id: WebhookId) => {
        const shown = Redacted.value(WebhookSecret.generate())
        const secret = vault.seal(WebhookSecret.purpose(id), Buffer.from(shown))
        return { shown, columns: { secret, secret_prefix: shown.slice(0, shownLength) } }
      }

      const create = Effect.fn("Webhooks.create")(function*(accountId: AccountId, webhook: NewWebhook) {
        const { events, is_active = true } = webhook
        const url = yield* checkedUrl(webhook.url)
        const { id } = yield* repo.nextId()
        const { columns, shown } = newSecret(id)
        const row = yield* recorded(
          { accountId, action: "webhook.created", target: `webhook ${id}`, data: { events } },
          Effect.andThen(
            limits.requireCapacity(accountId, "webhooks", repo.count(accountId)),
            Effect.asSome(repo.insert({ id, accountId, events, is_active, url, ...columns }))
          )
        )
        return { ...row, secret: shown }
      }, Effect.catchTag("NotFound", Effect.die))

      const update = Effect.fn("Webhooks.update")(
        function*(accountId: AccountId, id: WebhookId, change: WebhookChange) {
          const url = change.url === undefined ? null : yield* checkedUrl(change.url)
          const { events = null, is_active = null } = change
          const row = yield* recorded(
            { accountId, action: "webhook.changed", target: `webhook ${id}`, data: { changed: Object.keys(change) } },
            repo.update({ accountId, id, url, events, is_active })
          )
          yield* afterCommit(announceChange(id))
          return row
        }
      )

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(
        function*(accountId: AccountId, id: WebhookId, { overlap_seconds }: SecretRotation) {
          const { columns, shown } = newSecret(id)
          const row = yield* recorded(
            { accountId, action: "webhook.secret_rotated", target: `webhook ${id}`, data: { overlap_seconds } },
            Effect.tap(
              repo.rotateSecret({ accountId, id, overlap_seconds, ...columns }),
              (rotated) => Option.isSome(rotated) ? notices.enqueue(secretRotatedNotice(accountId, id)) : Effect.void
            )
          )
          yield* afterCommit(announceChange(id))
          return { ...row, secret: shown }
        }
      )

      const remove = Effect.fn("Webhooks.remove")(function*(accountId: AccountId, id: WebhookId) {
        yield* recorded(
          { accountId, action: "webhook.removed", target: `webhook ${id}` },
          repo.remove({ accountId, id })
        )
        yield* afterCommit(announceChange(id))
      })

      return Webhooks.of({
        create,
        update,
        rotateSecret,
        remove,
        list: Effect.fn("Webhooks.list")(function*(accountId, window) {
          return { rows: yield* repo.list({ accountId, ...window }), total: yield* repo.count(accountId) }
        }),
        find: Effect.fn("Webhooks.find")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(WebhooksRepo.layer))
}
