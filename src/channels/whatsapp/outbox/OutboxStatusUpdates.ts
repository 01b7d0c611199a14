import { Cause, Clock, Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { makeBatchCounts } from "../../../messages/BatchCounts.ts"
import { group } from "../../../platform/database/coalesce.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { advance, type Heard } from "./OutboxState.ts"
import { type LockedMessage, makeOutboxNewsRepo, type Moments, type News, type Step } from "./OutboxStatusRepo.ts"

/** News with the moment at which it came, by the clock of this node: what is written is how long ago that was. */
interface HeardNews extends News {
  readonly at: number
}

/** A message that goes on: what was heard of it last, what is told of it, and whether it leaves its batch's queue. */
interface Moved {
  readonly message: LockedMessage
  readonly news: HeardNews
  readonly told: ReadonlyArray<Heard>
  readonly leavesQueue: boolean
}

const nameOf = (sessionId: WhatsAppSessionId, whatsappId: string) => `${sessionId}/${whatsappId}`

const domainEventOf = ({ message, news: { error } }: Moved, { delivered_at, read_at }: Moments) => (heard: Heard) => {
  const { account_id: accountId, message_id, recipient: to, session_id, type } = message
  const about = { accountId, channel: "whatsapp" } as const
  const data = { channel: "whatsapp", message_id, session_id } as const
  switch (heard) {
    case "sent":
      return domainEvent({ ...about, event: "message.sent", data: { ...data, to, type, status: "sent" } })
    case "delivered":
      return domainEvent({ ...about, event: "message.delivered", data: { ...data, delivered_at } })
    case "read":
      return domainEvent({ ...about, event: "message.read", data: { ...data, read_at } })
    case "failed": {
      const failed = { error_code: error?.code ?? "failed", error_message: error?.message ?? "" }
      return domainEvent({ ...about, event: "message.failed", data: { ...data, ...failed } })
    }
  }
}

const stepOf = ({ message, news: { at, error, heard }, told }: Moved, now: number): Step => {
  const when = (name: Heard) => told.includes(name) ? Math.max(now - at, 0) : null
  return {
    id: message.message_id,
    status: heard,
    sent: when("sent"),
    delivered: when("delivered"),
    read: when("read"),
    failed: when("failed"),
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null
  }
}

const sentCounts = (moved: ReadonlyArray<Moved>) => {
  const counts = new Map<WhatsAppSessionId, number>()
  for (const { message: { session_id }, told } of moved) {
    if (told.includes("sent")) counts.set(session_id, (counts.get(session_id) ?? 0) + 1)
  }
  return counts
}

/** News about messages in rounds: in each, every message goes one step of its way. */
const movesOf = (locked: ReadonlyArray<LockedMessage>, all: ReadonlyArray<HeardNews>): ReadonlyArray<Moved> => {
  const messages = new Map(locked.map((message) => [nameOf(message.session_id, message.whatsapp_id), message]))
  const moved: Array<Moved> = []
  for (const news of all) {
    const name = nameOf(news.sessionId, news.whatsappId)
    const message = messages.get(name)
    const advanced = message === undefined ? undefined : advance(message.status, news.heard)
    if (message === undefined || advanced === undefined) continue
    messages.set(name, { ...message, status: advanced.status })
    moved.push({ message, news, told: advanced.told, leavesQueue: advanced.leavesQueue })
  }
  return moved
}

/** The steps of each message as one: its last status, with the moments of all of them. */
const lastSteps = (moved: ReadonlyArray<Moved>, now: number): ReadonlyArray<Step> => {
  const steps = new Map<number, Step>()
  for (const one of moved) {
    const step = stepOf(one, now)
    const before = steps.get(step.id)
    steps.set(
      step.id,
      before === undefined ? step : {
        ...step,
        sent: before.sent ?? step.sent,
        delivered: before.delivered ?? step.delivered
      }
    )
  }
  return [...steps.values()]
}

/**
 * The one writer of what becomes of WhatsApp messages on a node: outbox, messages, counts and events of many at a time in
 * one transaction.
 */
export class OutboxStatusUpdates extends Context.Service<OutboxStatusUpdates, {
  /** Says what was heard; it is written down soon, and while the database is away it waits. */
  readonly tell: (news: News) => void
  /** The same for what must be written down before the caller goes on. */
  readonly write: (news: ReadonlyArray<News>) => Effect.Effect<void>
}>()("messaging-service/channels/whatsapp/outbox/OutboxStatusUpdates") {
  static readonly layer = Layer.effect(
    OutboxStatusUpdates,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const repo = yield* makeOutboxNewsRepo
      const countBatches = yield* makeBatchCounts
      const context = yield* Effect.context<never>()
      const clock = yield* Clock.Clock

      const record = Effect.fnUntraced(function*(news: ReadonlyArray<HeardNews>) {
        const moved = movesOf(yield* Effect.orDie(repo.lock(news)), news)
        if (moved.length === 0) return
        const written = yield* Effect.orDie(repo.step(lastSteps(moved, clock.currentTimeMillisUnsafe())))
        const moments = new Map(written.map((row) => [row.id, row]))
        yield* countBatches(moved.map(({ leavesQueue, message: { batch_id: batchId }, news: { heard } }) => ({
          batchId,
          to: !leavesQueue ? undefined : heard === "failed" ? "failed" : "sent"
        })))
        const counts = sentCounts(moved)
        if (counts.size > 0) yield* Effect.orDie(repo.countSent(counts))
        yield* events.publish(moved.flatMap((one) => {
          const written = moments.get(one.message.message_id)
          return written === undefined ? [] : one.told.map(domainEventOf(one, written))
        }))
      })

      const write = (news: ReadonlyArray<HeardNews>) =>
        retryWhileUnavailable(transaction(record(news))).pipe(Effect.provideService(SqlClient.SqlClient, sql))

      const submit = yield* group({
        most: 500,
        concurrency: 1,
        // Three for each message, which come apart.
        rest: "15 millis",
        run: (news: ReadonlyArray<HeardNews>) => Effect.as(write(news), news)
      })
      const heardNow = (news: News): HeardNews => ({ ...news, at: clock.currentTimeMillisUnsafe() })
      const unrecorded = Effect.runForkWith(context)

      return OutboxStatusUpdates.of({
        tell: (news) =>
          submit(heardNow(news), (exit) => {
            // Sent messages are sent again under the same name, and later news implies what was not written down.
            if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
              unrecorded(Effect.logError("what became of a WhatsApp message could not be recorded", exit.cause))
            }
          }),
        write: (news) => Effect.suspend(() => write(news.map(heardNow)))
      })
    })
  )
}
