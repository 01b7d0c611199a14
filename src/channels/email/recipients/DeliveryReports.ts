import { Context, Effect, Layer, Option } from "effect"
import { domainEvent } from "../../../events/Events.ts"
import { Database } from "../../../platform/database/Database.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { type Bounce, type LockedMessage, MessageProgress } from "./MessageProgress.ts"

/** The final part of another mail server's report about a message. */
type FinalReport = Bounce | { readonly status: "delivered" | "complained" }

/** Another mail server's report about a message. delayed: it keeps the message and tries again. */
export type DeliveryReport = FinalReport | { readonly status: "delayed"; readonly error: string }

/** The effect of a report: `known` if it changed nothing. */
export type ReportOutcome = "changed" | "known" | "unknown_message"

const eventOf = ({ account_id: accountId, at, email }: LockedMessage, report: FinalReport) => {
  switch (report.status) {
    case "delivered":
      return domainEvent({ accountId, event: "email.delivered", data: { ...email, delivered_at: at } })
    case "complained":
      return domainEvent({ accountId, event: "email.complained", data: { ...email, complained_at: at } })
    case "bounced": {
      const bounce = { bounced_at: at, bounce_type: report.bounceType, error: report.error }
      return domainEvent({ accountId, event: "email.bounced", data: { ...email, ...bounce } })
    }
  }
}

/**
 * Applies mail servers' reports to messages. The message, its batch's count, the suppression of its address and its
 * events change in one transaction. A report may arrive before the relay's acceptance is recorded. The same report
 * again changes nothing.
 */
export class DeliveryReports extends Context.Service<DeliveryReports, {
  /** Returns after the commit. `read` interprets the report for the message's recipient. */
  readonly apply: (
    id: EmailMessageId,
    read: (recipient: string) => DeliveryReport | undefined
  ) => Effect.Effect<ReportOutcome>
}>()("messaging-service/channels/email/recipients/DeliveryReports") {
  static readonly layer = Layer.effect(
    DeliveryReports,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const messages = yield* MessageProgress

      const apply = Effect.fn("DeliveryReports.apply")(
        function*(
          id: EmailMessageId,
          read: (recipient: string) => DeliveryReport | undefined
        ): Effect.fn.Return<ReportOutcome> {
          const message = Option.getOrUndefined(yield* messages.lock(id))
          if (message === undefined) return "unknown_message"
          const report = read(message.recipient)
          if (report === undefined) return "known"
          const hasChanged = report.status === "delayed"
            ? yield* messages.delay(message, report.error)
            : yield* messages.advance(message, report, eventOf(message, report))
          return hasChanged ? "changed" : "known"
        },
        transaction
      )

      return DeliveryReports.of({ apply })
    })
  )
}
