import { Context, Effect, Layer, Option, Redacted, Result } from "effect"
import { Audit, type AuditEntry } from "../accounts/Audit.ts"
import type { Notice } from "../accounts/notices/Notice.ts"
import { Notices } from "../accounts/notices/Notices.ts"
import { PlanLimits } from "../accounts/PlanLimits.ts"
import { Vault } from "../platform/crypto/Vault.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, type PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { parseHttpsUrl } from "../values/HttpsUrl.ts"
import type { AccountId, WebhookId } from "../values/Ids.ts"
import type { PageOf, Window } from "../values/Page.ts"
import { WakeUps } from "./delivery/WakeUps.ts"
import type { Webhook } from "./endpoint/Webhook.ts"
import { decodeHeaders, encodeHeaders, maskedValue, type WebhookHeaders } from "./endpoint/WebhookHeaders.ts"
import * as WebhookSecret from "./endpoint/WebhookSecret.ts"
import { WebhooksRepo } from "./endpoint/WebhooksRepo.ts"
import { WebhookUrlRules } from "./endpoint/WebhookUrlRules.ts"
import type { NewWebhook, SecretRotation, WebhookChange } from "./WebhooksApi.ts"

const shownLength = 12

const loopbackHint = "; the operator can allow this machine with WEBHOOK_ALLOW_LOOPBACK=true"

/** Whether the setting would allow a URL that is refused without it. */
const wouldPass = (url: string) => Result.isSuccess(parseHttpsUrl(url, { allowLoopback: true }))

/** Replaces each masked value by the one that is stored under its name. */
const mergeMasked = (
  given: WebhookHeaders,
  stored: WebhookHeaders
): Result.Result<WebhookHeaders, ValidationFailed> => {
  const entries = Object.entries(given).map(([name, value]) =>
    [name, value !== maskedValue ? value : Object.hasOwn(stored, name) ? stored[name] : undefined] as const
  )
  const unknown = entries.find(([, value]) => value === undefined)
  return unknown === undefined
    ? Result.succeed(Object.fromEntries(entries.map(([name, value]) => [name, value ?? ""])))
    : Result.fail(ValidationFailed.of(`headers.${unknown[0]}`, "no value is stored under this name, so send the value"))
}

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
    window: Window
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
          onFailure: ({ kind, message }) =>
            Effect.fail(ValidationFailed.of("url", `${message}${wouldPass(url) ? loopbackHint : ""}`, kind))
        })

      const sealedHeaders = (id: WebhookId, headers: WebhookHeaders) => {
        const names = Object.keys(headers)
        return {
          header_names: names,
          headers: names.length === 0
            ? null
            : vault.seal(WebhookSecret.headersPurpose(id), Buffer.from(encodeHeaders(headers)))
        }
      }

      const storedHeaders = Effect.fnUntraced(function*(accountId: AccountId, id: WebhookId) {
        const row = yield* repo.lockHeaders({ accountId, id })
        if (Option.isNone(row)) return yield* new NotFound()
        const { headers } = row.value
        if (headers === null) return {}
        const opened = yield* Effect.orDie(vault.open(WebhookSecret.headersPurpose(id), headers))
        return decodeHeaders(Buffer.from(opened).toString("utf8"))
      })

      /** The headers of a request, with the stored value for each that is masked: responses show no other. */
      const unmasked = Effect.fnUntraced(
        function*(given: WebhookHeaders, stored: Effect.Effect<WebhookHeaders, NotFound>) {
          if (!Object.values(given).includes(maskedValue)) return given
          const known = yield* stored
          return yield* Effect.fromResult(mergeMasked(given, known))
        }
      )

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
        const { channels = [], events, headers = {}, is_active = true, retry_policy = "standard", tags = [] } = webhook
        const url = yield* checkedUrl(webhook.url)
        const shownHeaders = yield* unmasked(headers, Effect.succeed({}))
        const { id } = yield* repo.nextId()
        const options = { retry_policy, channels, tags, ...sealedHeaders(id, shownHeaders) }
        const { columns, shown } = newSecret(id)
        const row = yield* recorded(
          { accountId, action: "webhook.created", target: `webhook ${id}`, data: { events } },
          Effect.andThen(
            limits.requireCapacity(accountId, "webhooks", Effect.map(repo.count(accountId), ({ total }) => total)),
            Effect.asSome(repo.insert({ id, accountId, events, is_active, url, ...options, ...columns }))
          )
        )
        return { ...row, secret: shown }
      }, Effect.catchTag("NotFound", Effect.die))

      const update = Effect.fn("Webhooks.update")(
        function*(accountId: AccountId, id: WebhookId, change: WebhookChange) {
          const url = change.url === undefined ? null : yield* checkedUrl(change.url)
          const { channels = null, events = null, headers, is_active = null, retry_policy = null, tags = null } = change
          const row = yield* recorded(
            { accountId, action: "webhook.changed", target: `webhook ${id}`, data: { changed: Object.keys(change) } },
            Effect.gen(function*() {
              const sealed = headers === undefined
                ? { header_names: null, headers: null }
                : sealedHeaders(id, yield* unmasked(headers, storedHeaders(accountId, id)))
              return yield* repo.update({
                accountId,
                id,
                url,
                events,
                is_active,
                retry_policy,
                channels,
                tags,
                ...sealed
              })
            })
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
        list: Effect.fn("Webhooks.list")((accountId, window) =>
          Query.windowOf({ count: () => repo.count(accountId), list: repo.list }, { accountId, ...window })
        ),
        find: Effect.fn("Webhooks.find")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(WebhooksRepo.layer))
}
