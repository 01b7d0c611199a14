import { Context, DateTime, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { EventData } from "../../../events/EventData.ts"
import { domainEvent, Events } from "../../../events/Events.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { fromDateTime, type Timestamp } from "../../../values/Timestamp.ts"
import type { Suppress } from "../smtp/classifyReply.ts"
import { makeSuppressionsRepo } from "../suppressions/SuppressionsRepo.ts"
import { emailOf, makeMessageNewsRepo } from "./MessageProgressRepo.ts"
import { advance } from "./MessageState.ts"

/** What somebody else's mail server says of a message that it was given. */
export type Told =
  | { readonly news: "delivered" }
  | { readonly news: "complained" }
  | {
    readonly news: "bounced"
    readonly bounceType: "hard" | "soft"
    /** One printable line. */
    readonly error: string
    readonly suppress: Suppress
  }

/** What a report came to: `known` when it said nothing that was not known, or nothing about this message. */
export type Noted = "changed" | "known" | "unknown_message"

/** What all events of a message carry. */
type Email = Omit<EventData<"email.sent">, "sent_at">

const domainEventOf = (
  accountId: AccountId,
  email: Email,
  { at, told }: { readonly at: Timestamp; readonly told: Told }
) => {
  switch (told.news) {
    case "delivered":
      return domainEvent({ accountId, event: "email.delivered", data: { ...email, delivered_at: at } })
    case "complained":
      return domainEvent({ accountId, event: "email.complained", data: { ...email, complained_at: at } })
    case "bounced": {
      const bounce = { bounced_at: at, bounce_type: told.bounceType, error: told.error }
      return domainEvent({ accountId, event: "email.bounced", data: { ...email, ...bounce } })
    }
  }
}

/**
 * What is learnt of messages after they were handed over. A message changes, its batch counts, its address is suppressed
 * and its events are published in one transaction, or nothing of it. News may come before our own record that the relay
 * has the message, which is then implied: email.sent is published first. The same news again change nothing.
 */
export class DeliveryReports extends Context.Service<DeliveryReports, {
  /**
   * Returns when it is committed. `read` says what the report means for this recipient. An address that a message of the
   * account bounced from or was complained about from is suppressed for the account.
   */
  readonly note: (id: EmailMessageId, read: (recipient: string) => Told | undefined) => Effect.Effect<Noted>
}>()("messaging-service/channels/email/recipients/DeliveryReports") {
  static readonly layer = Layer.effect(
    DeliveryReports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      const usage = yield* Usage
      const repo = yield* makeMessageNewsRepo
      const suppressions = yield* makeSuppressionsRepo

      const write = Effect.fnUntraced(function*(
        id: EmailMessageId,
        read: (recipient: string) => Told | undefined
      ): Effect.fn.Return<Noted> {
        const row = Option.getOrUndefined(yield* Effect.orDie(repo.lock(id)))
        if (row === undefined) return "unknown_message"
        const { account_id: accountId, batch_id, email_id, recipient: to } = row
        const told = read(to)
        const advanced = told === undefined ? undefined : advance(row.status, told.news)
        if (told === undefined || advanced === undefined) return "known"
        const at = fromDateTime(yield* DateTime.now)
        const bounce = told.news === "bounced" ? told : undefined
        yield* Effect.orDie(repo.advance(id, { advanced, at, bounce }))
        if (advanced.countsAsSent && batch_id !== null) yield* Effect.orDie(repo.countSent(batch_id))
        if (bounce !== undefined) {
          yield* Effect.orDie(suppressions.bounced([{ id: email_id, accountId, to, suppress: bounce.suppress }]))
        }
        if (told.news === "complained") yield* Effect.orDie(suppressions.complained({ id: email_id, accountId, to }))
        const email = emailOf(row)
        const sent = domainEvent({ accountId, event: "email.sent", data: { ...email, sent_at: at } })
        const news = domainEventOf(accountId, email, { at, told })
        yield* events.publish(advanced.impliesSent ? [sent, news] : [news])
        if (!row.was_sent) yield* usage.count([{ accountId, metric: "email_sent", count: 1, at }])
        return "changed"
      })

      return DeliveryReports.of({
        note: Effect.fn("DeliveryReports.note")((id: EmailMessageId, read: (recipient: string) => Told | undefined) =>
          Effect.provideService(transaction(write(id, read)), SqlClient.SqlClient, sql)
        )
      })
    })
  )
}
