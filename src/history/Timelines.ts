import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { SummaryChannel } from "../messages/MessageSummary.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import type { CodeTimelineEntry, TimelineEntry } from "./Timeline.ts"
import { eventEntries, inOrder, requestOf, timelineOf } from "./timelineOf.ts"
import { type Copy, type FailoverFacts, type One, type StepFacts, TimelineRepo, type Whole } from "./TimelineRepo.ts"

const isOver = ({ ended_at, status }: Copy) => ended_at !== null && status !== "queued" && status !== "scheduled"

/** The last time at which an attempt of these copies may have ended; null while one may follow. */
const endOf = (copies: ReadonlyArray<Copy>) =>
  copies.every(isOver)
    ? copies.reduce<Timestamp | null>(
      (latest, { ended_at }) => latest === null || (ended_at ?? "") > latest ? ended_at : latest,
      null
    )
    : null

const failoverEntries = (
  { canceled_at, completed_at, status, updated_at: at, ...facts }: FailoverFacts,
  steps: ReadonlyArray<StepFacts>
): ReadonlyArray<TimelineEntry> => [
  ...requestOf(facts),
  ...steps.flatMap(({ begun_at: at, error, message_id, recipient: to }) =>
    message_id === null
      ? [{ at, kind: "status", detail: { status: "failed", source: "service", to, error } } as const]
      : []
  ),
  ...(canceled_at === null ? [] : [{ at: canceled_at, kind: "canceled", detail: { to: null } } as const]),
  ...(completed_at === null || status === "queued" || status === "processing" || status === "canceled"
    ? []
    : [{ at, kind: "status", detail: { status, source: "service", to: null, error: null } } as const])
]

/** What happened to each message. */
export class Timelines extends Context.Service<Timelines, {
  /** Oldest first. */
  readonly read: (message: One) => Effect.Effect<ReadonlyArray<TimelineEntry>, NotFound>
  /** With those of its steps on these channels, and of the messages that they became. */
  readonly ofFailover: (
    failover: Whole,
    channels: ReadonlySet<SummaryChannel>
  ) => Effect.Effect<ReadonlyArray<TimelineEntry>, NotFound>
  /** With those of the messages that carried its codes. */
  readonly ofVerification: (verification: Whole) => Effect.Effect<ReadonlyArray<CodeTimelineEntry>, NotFound>
}>()("messaging-service/history/Timelines") {
  static readonly layer = Layer.effect(
    Timelines,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const repo = yield* TimelineRepo

      const readOne = Effect.fnUntraced(function*(message: One) {
        const copies = yield* repo.copies(message)
        const [record] = copies
        if (record === undefined) return yield* new NotFound()
        const span = { from: record.created_at, until: endOf(copies) }
        const attempts = record.direction === "in" ? [] : yield* repo.attempts(message, span)
        const events = yield* repo.events(message, span)
        const deliveries = events.length === 0 ? [] : yield* repo.deliveries(events, span)
        return timelineOf({ channel: message.channel, copies, attempts, events, deliveries })
      })

      /** The entries of several messages, each with its path. Retention may have deleted some of them. */
      const readAll = Effect.fnUntraced(function*(messages: ReadonlyArray<One>) {
        const found = yield* Effect.forEach(
          messages,
          (one) =>
            Effect.map(Effect.option(readOne(one)), (entries) =>
              Option.getOrElse(entries, () => [])
                .filter(({ kind }) => kind !== "accepted")
                .map((entry) => ({ ...entry, message: `/v1/${one.channel}/messages/${one.id}` })))
        )
        return found.flat()
      })

      const eventsOf = Effect.fnUntraced(function*(whole: Whole, from: Timestamp) {
        const events = yield* repo.eventsOf(whole, from)
        return eventEntries(events, events.length === 0 ? [] : yield* repo.deliveries(events, { from, until: null }))
      })

      // In one snapshot: an outcome that commits between two reads would show its attempt and not its status.
      const inSnapshot = <A>(read: Effect.Effect<A, NotFound>) =>
        Effect.provideService(
          transaction(read),
          SqlClient.BeginTransaction,
          "begin isolation level repeatable read, read only"
        )

      const failover = Effect.fnUntraced(function*(whole: Whole, channels: ReadonlySet<SummaryChannel>) {
        const facts = Option.getOrUndefined(yield* repo.failover(whole))
        if (facts === undefined) return yield* new NotFound()
        const steps = (yield* repo.steps(whole)).filter(({ channel }) => channels.has(channel))
        const messages = steps.flatMap(({ channel, message_id: id }) =>
          id === null ? [] : [{ accountId: whole.accountId, channel, id }]
        )
        const own = [...failoverEntries(facts, steps), ...(yield* eventsOf(whole, facts.created_at))]
        return inOrder([...own, ...(yield* readAll(messages))])
      })

      const verification = Effect.fnUntraced(function*(whole: Whole) {
        const facts = Option.getOrUndefined(yield* repo.verification(whole))
        if (facts === undefined) return yield* new NotFound()
        const { created_at, ended_at, messages, status } = facts
        const end: ReadonlyArray<CodeTimelineEntry> = ended_at === null
          ? []
          : [{ at: ended_at, kind: "verification", detail: { status } }]
        const own = [...requestOf(facts), ...end, ...(yield* eventsOf(whole, created_at))]
        const { accountId } = whole
        return inOrder([...own, ...(yield* readAll(messages.map((message) => ({ accountId, ...message }))))])
      })

      return Timelines.of({
        read: Effect.fn("Timelines.read")((message) => inSnapshot(readOne(message))),
        ofFailover: Effect.fn("Timelines.ofFailover")((whole, channels) => inSnapshot(failover(whole, channels))),
        ofVerification: Effect.fn("Timelines.ofVerification")((whole) => inSnapshot(verification(whole)))
      })
    })
  ).pipe(Layer.provide(TimelineRepo.layer))
}
