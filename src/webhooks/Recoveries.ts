import { Context, DateTime, Effect, Layer, Option } from "effect"
import { Audit } from "../accounts/Audit.ts"
import { resolveTopic } from "../events/EventNames.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { RecoveryId, WebhookId } from "../values/Ids.ts"
import type { PageOf, Window } from "../values/Page.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import { maxConcurrency } from "./delivery/InFlightDeliveries.ts"
import { WakeUps } from "./delivery/WakeUps.ts"
import { WebhookNotActive } from "./endpoint/Webhook.ts"
import { type WebhookKey, WebhooksRepo } from "./endpoint/WebhooksRepo.ts"
import {
  RecoverableStatus,
  type Recovery,
  RecoveryEnded,
  RecoveryInProgress,
  type RecoveryPreview
} from "./recovery/Recovery.ts"
import { RecoveryRepo } from "./recovery/RecoveryRepo.ts"

/** What to recover: the events of a time, how their deliveries ended, and a filter. */
export interface RecoverySpan {
  readonly since: string
  readonly until?: string | undefined
  readonly status?: ReadonlyArray<RecoverableStatus> | undefined
  readonly event?: string | undefined
  /** Of the last attempt: a status, or a class such as `5xx`. */
  readonly response_code?: string | undefined
}

/** One node's share of the statements that record outcomes: a faster endpoint waits for these. */
const fastest = 2_000

const paceOf = (durationMs: number | null) =>
  durationMs === null ? null : Math.min(fastest, Math.round(maxConcurrency * 100_000 / Math.max(1, durationMs)) / 100)

/** Recoveries of webhooks: they send again, in the order of events, what failed or was skipped during an outage. */
export class Recoveries extends Context.Service<Recoveries, {
  /** Starts a recovery of an active webhook. Its actor queues the events in portions, as fast as the endpoint answers. */
  readonly start: (
    webhook: WebhookKey,
    span: RecoverySpan
  ) => Effect.Effect<Recovery, NotFound | ValidationFailed | WebhookNotActive | RecoveryInProgress>
  /** Counts what a recovery would send, and estimates how long that takes. */
  readonly preview: (
    webhook: WebhookKey,
    span: RecoverySpan
  ) => Effect.Effect<RecoveryPreview, NotFound | ValidationFailed>
  /** Newest first. */
  readonly list: (
    webhook: WebhookKey,
    window: Window
  ) => Effect.Effect<PageOf<Recovery>, NotFound>
  readonly find: (webhook: WebhookKey, id: RecoveryId) => Effect.Effect<Recovery, NotFound>
  /** Queues no further events. Those that are queued are sent. */
  readonly cancel: (webhook: WebhookKey, id: RecoveryId) => Effect.Effect<Recovery, NotFound | RecoveryEnded>
}>()("messaging-service/webhooks/Recoveries") {
  static readonly layer = Layer.effect(
    Recoveries,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const { eventRetentionDays } = yield* AppConfig
      const { announceChange } = yield* WakeUps.make
      const audit = yield* Audit
      const webhooks = yield* WebhooksRepo
      const repo = yield* RecoveryRepo

      const spanOf = Effect.fnUntraced(
        function*(webhookId: WebhookId, span: RecoverySpan) {
          const { event, response_code = null, since, status = RecoverableStatus.literals, until } = span
          const now = yield* DateTime.now
          const from = DateTime.makeUnsafe(since)
          if (DateTime.isGreaterThan(from, now)) return yield* ValidationFailed.of("since", "must not be in the future")
          if (until !== undefined && !DateTime.isLessThan(from, DateTime.makeUnsafe(until))) {
            return yield* ValidationFailed.of("until", "must be after since")
          }
          // Partitions of events are dropped a day at a time.
          const retentionDays = eventRetentionDays + 1
          return {
            webhookId,
            since,
            until: until ?? null,
            statuses: [...new Set(status)],
            event: event === undefined ? null : resolveTopic(event)?.event ?? event,
            response_code,
            retentionDays
          }
        }
      )

      const found = <A>(row: Option.Option<A>) => Effect.mapError(Effect.fromOption(row), () => new NotFound())

      /** The other recovery may end between the two statements; then the next try succeeds. */
      const insert = Effect.fnUntraced(function*(request: Effect.Success<ReturnType<typeof spanOf>>) {
        for (;;) {
          const inserted = yield* repo.insert(request)
          if (Option.isSome(inserted)) return inserted.value.id
          const running = yield* repo.findRunning(request.webhookId)
          if (Option.isSome(running)) return yield* new RecoveryInProgress({ recovery_id: running.value.id })
        }
      })

      const start = Effect.fnUntraced(function*({ accountId, id }: WebhookKey, span: RecoverySpan) {
        const { status } = yield* Effect.flatMap(webhooks.lock({ accountId, id }), found)
        const request = yield* spanOf(id, span)
        if (status !== "active") return yield* new WebhookNotActive({ status })
        const recovery = yield* insert(request)
        yield* repo.countMore(id)
        yield* audit.record({
          accountId,
          action: "webhook.recovery_started",
          target: `webhook ${id}`,
          data: { recovery }
        })
        yield* afterCommit(announceChange(id))
        return yield* Effect.orDie(Effect.flatMap(repo.find({ webhookId: id, id: recovery }), found))
      })

      const cancel = Effect.fnUntraced(function*({ accountId, id }: WebhookKey, recovery: RecoveryId) {
        yield* webhooks.require({ accountId, id })
        const canceled = yield* repo.cancel({ webhookId: id, id: recovery })
        if (Option.isSome(canceled)) {
          yield* audit.record({
            accountId,
            action: "webhook.recovery_canceled",
            target: `webhook ${id}`,
            data: { recovery }
          })
          return canceled.value
        }
        const { status } = yield* Effect.flatMap(repo.find({ webhookId: id, id: recovery }), found)
        return yield* status === "running" ? Effect.die("it was running") : new RecoveryEnded({ status })
      })

      return Recoveries.of({
        start: Effect.fn("Recoveries.start")((webhook, span) => transaction(start(webhook, span))),
        cancel: Effect.fn("Recoveries.cancel")((webhook, id) => transaction(cancel(webhook, id))),
        preview: Effect.fn("Recoveries.preview")(function*(webhook, span) {
          yield* webhooks.require(webhook)
          const { duration_ms, ...counted } = yield* repo.preview(yield* spanOf(webhook.id, span))
          const per_second = paceOf(duration_ms)
          const end = per_second === null
            ? null
            : DateTime.add(yield* DateTime.now, { seconds: Math.ceil(counted.total / per_second) })
          return { ...counted, order: "event", per_second, estimated_end_at: end === null ? null : fromDateTime(end) }
        }),
        list: Effect.fn("Recoveries.list")(function*(webhook, window) {
          yield* webhooks.require(webhook)
          return yield* Query.windowOf(repo, { webhookId: webhook.id, ...window })
        }),
        find: Effect.fn("Recoveries.find")(function*(webhook, id) {
          yield* webhooks.require(webhook)
          return yield* Effect.flatMap(repo.find({ webhookId: webhook.id, id }), found)
        })
      })
    })
  ).pipe(Layer.provide([WebhooksRepo.layer, RecoveryRepo.layer]))
}
