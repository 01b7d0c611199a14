import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { emailOf, makeMessageNewsRepo } from "../recipients/MessageProgressRepo.ts"
import { advance } from "../recipients/MessageState.ts"
import { isBotClick, isMachineOpen } from "./automation.ts"
import { makeTrackingRepo } from "./TrackingRepo.ts"
import type { Tracked } from "./TrackingToken.ts"

/** One request for a link. */
export interface Click extends Tracked {
  readonly method: string
  readonly userAgent: string
  /** Where it was sent on to. */
  readonly url: string
}

/** Whether these counts are those of the first one, or of the first reader after programs. */
const isNews = ({ programs, total }: { readonly programs: number; readonly total: number }, isProgram: boolean) =>
  total === 1 || (!isProgram && total - programs === 1)

/**
 * Opens and clicks of mail. A message, its counts and its batch change and its event is published in one transaction.
 * Programs count and are told of like readers, and named as such: the first open of a message is told, and each of its
 * links once; where that was a program, the first reader after it is told as well.
 */
export class Tracking extends Context.Service<Tracking, {
  /** Where a link leads: what was stored when its mail was accepted. */
  readonly target: (tracked: Tracked) => Effect.Effect<Option.Option<string>>
  /** Returns when it is committed. Messages that are gone are no failure. */
  readonly opened: (id: EmailMessageId, userAgent: string) => Effect.Effect<void>
  /** Returns when it is committed. Messages that are gone are no failure. */
  readonly clicked: (click: Click) => Effect.Effect<void>
}>()("messaging-service/channels/email/tracking/Tracking") {
  static readonly layer = Layer.effect(
    Tracking,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const usage = yield* Usage
      const messages = yield* makeMessageNewsRepo
      const repo = yield* makeTrackingRepo

      /** The message in this transaction: what its events carry, and how it becomes opened or clicked. */
      const held = Effect.fnUntraced(function*(id: EmailMessageId, link: number) {
        const row = Option.getOrUndefined(yield* Effect.orDie(messages.lock(id)))
        if (row === undefined) return undefined
        const at = fromDateTime(yield* DateTime.now)
        const { account_id: accountId, batch_id } = row
        const { is_one_of_many, millis_since_sent } = yield* Effect.orDie(repo.circumstances({ id, link, at }))
        const email = emailOf(row)
        const becomes = Effect.fnUntraced(function*(news: "opened" | "clicked") {
          const advanced = advance(row.status, news)
          if (advanced === undefined) return
          yield* Effect.orDie(messages.advance(id, { advanced, at }))
          if (advanced.countsAsSent && batch_id !== null) yield* Effect.orDie(messages.countSent(batch_id))
          if (!row.was_sent) yield* usage.count([{ accountId, metric: "email_sent", count: 1, at }])
          if (advanced.impliesSent) {
            yield* events.publish([domainEvent({ accountId, event: "email.sent", data: { ...email, sent_at: at } })])
          }
        })
        const circumstances = { millisSinceSent: millis_since_sent ?? undefined, isOneOfMany: is_one_of_many }
        return { accountId, at, becomes, circumstances, email }
      })

      const open = Effect.fnUntraced(function*(id: EmailMessageId, userAgent: string) {
        const message = yield* held(id, 0)
        if (message === undefined) return
        const { accountId, at, becomes, circumstances, email } = message
        const machine = isMachineOpen({ userAgent, ...circumstances })
        yield* becomes("opened")
        const counts = yield* Effect.orDie(repo.countOpen({ id, at, isProgram: machine }))
        if (!isNews(counts, machine)) return
        const data = { ...email, opened_at: at, machine }
        yield* events.publish([domainEvent({ accountId, event: "email.opened", data })])
      })

      const click = Effect.fnUntraced(function*({ id, link, method, url, userAgent }: Click) {
        const message = yield* held(id, link)
        if (message === undefined) return
        const { accountId, at, becomes, circumstances, email } = message
        const bot = isBotClick({ userAgent, method, ...circumstances })
        yield* becomes("clicked")
        const counts = yield* Effect.orDie(repo.countClick({ id, at, link, isProgram: bot }))
        if (!isNews(counts, bot)) return
        const data = { ...email, clicked_at: at, url, bot }
        yield* events.publish([domainEvent({ accountId, event: "email.clicked", data })])
      })

      return Tracking.of({
        target: Effect.fn("Tracking.target")(function*(tracked) {
          const found = yield* Effect.orDie(repo.target(tracked))
          return Option.flatMap(found, ({ url }) => Option.fromNullishOr(url))
        }),
        opened: Effect.fn("Tracking.opened")((id: EmailMessageId, userAgent: string) =>
          Effect.provideService(transaction(open(id, userAgent)), SqlClient.SqlClient, sql)
        ),
        clicked: Effect.fn("Tracking.clicked")((one: Click) =>
          Effect.provideService(transaction(click(one)), SqlClient.SqlClient, sql)
        )
      })
    })
  )
}
