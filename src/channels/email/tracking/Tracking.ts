import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { domainEvent, Events } from "../../../events/Events.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Database } from "../../../platform/database/Database.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { MessageProgress } from "../recipients/MessageProgress.ts"
import { isBotClick, isMachineOpen } from "./automation.ts"
import { TrackingRepo } from "./TrackingRepo.ts"
import type { Tracked } from "./TrackingToken.ts"

/** One request for a tracked link. */
export interface Click extends Tracked {
  readonly method: string
  readonly userAgent: string
  /** The link's target. */
  readonly url: string
}

/** Whether a visit is the first one, or the first by a person after visits by programs. */
const isFirst = ({ programs, total }: { readonly programs: number; readonly total: number }, isProgram: boolean) =>
  total === 1 || (!isProgram && total - programs === 1)

/**
 * Records opens and clicks. A message, its counts, its batch and its event change in one transaction. Visits by programs
 * count too, and are marked as such. An event is published for the first open of a message and the first click of each
 * link. If a program came first, the first visit by a person publishes another one.
 */
export class Tracking extends Context.Service<Tracking, {
  /** Finds the target of a link, as it was stored when its mail was accepted. */
  readonly target: (tracked: Tracked) => Effect.Effect<Option.Option<string>>
  /** Returns after the commit. Does nothing if the message no longer exists, or cannot have been sent. */
  readonly opened: (id: EmailMessageId, userAgent: string) => Effect.Effect<void>
  /** Returns after the commit. Does nothing if the message no longer exists, or cannot have been sent. */
  readonly clicked: (click: Click) => Effect.Effect<void>
}>()("messaging-service/channels/email/tracking/Tracking") {
  static readonly layer = Layer.effect(
    Tracking,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const { databaseConnections } = yield* AppConfig
      // Anyone may request a pixel, and each visit locks its message. The others wait without a connection.
      const visits = yield* Semaphore.make(Math.floor(databaseConnections / 4))
      const visit = <A>(change: Effect.Effect<A>) => visits.withPermits(1)(transaction(change))
      const events = yield* Events
      const messages = yield* MessageProgress
      const repo = yield* TrackingRepo

      /** Locks a message and reads the facts that distinguish a program from a person. */
      const lock = Effect.fnUntraced(function*(id: EmailMessageId, link: number) {
        const message = Option.getOrUndefined(yield* messages.lock(id))
        // Its source, which a key reads, has the same links. Opening them does not prove that it was sent.
        if (message?.may_be_sent !== true) return undefined
        const { at } = message
        const { is_one_of_many, millis_since_sent } = yield* repo.circumstances({ id, link, at })
        const circumstances = { millisSinceSent: millis_since_sent ?? undefined, isOneOfMany: is_one_of_many }
        return { circumstances, message }
      })

      const opened = Effect.fn("Tracking.opened")(function*(id: EmailMessageId, userAgent: string) {
        const locked = yield* lock(id, 0)
        if (locked === undefined) return
        const { circumstances, message, message: { at } } = locked
        const machine = isMachineOpen({ userAgent, ...circumstances })
        yield* messages.advance(message, { status: "opened" })
        const counts = yield* repo.countOpen({ id, at, isProgram: machine })
        if (!isFirst(counts, machine)) return
        const data = { ...message.email, opened_at: at, machine }
        yield* events.publish([domainEvent({ accountId: message.account_id, event: "email.opened", data })])
      }, visit)

      const clicked = Effect.fn("Tracking.clicked")(function*({ id, link, method, url, userAgent }: Click) {
        const locked = yield* lock(id, link)
        if (locked === undefined) return
        const { circumstances, message, message: { at } } = locked
        const bot = isBotClick({ userAgent, method, ...circumstances })
        yield* messages.advance(message, { status: "clicked" })
        const counts = yield* repo.countClick({ id, at, link, isProgram: bot })
        if (!isFirst(counts, bot)) return
        const data = { ...message.email, clicked_at: at, url, bot }
        yield* events.publish([domainEvent({ accountId: message.account_id, event: "email.clicked", data })])
      }, visit)

      return Tracking.of({
        target: Effect.fn("Tracking.target")(function*(tracked) {
          const found = yield* repo.target(tracked)
          return Option.flatMap(found, ({ url }) => Option.fromNullishOr(url))
        }),
        opened,
        clicked
      })
    })
  ).pipe(Layer.provide(TrackingRepo.layer))
}
