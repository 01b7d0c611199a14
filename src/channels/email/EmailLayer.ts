import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"
import { ActiveBatches } from "./bulk/ActiveBatches.ts"
import { BatchActor, BatchPoll } from "./bulk/BatchActor.ts"
import { BatchDispatch } from "./bulk/BatchDispatch.ts"
import { BatchMailer } from "./bulk/BatchMailer.ts"
import { BulkEmail } from "./bulk/BulkEmail.ts"
import { BulkEmailHttp } from "./bulk/BulkEmailHttp.ts"
import { NoticeSender } from "./notices/NoticeSender.ts"
import { BulkThrottle } from "./recipients/BulkThrottle.ts"
import { DeliveryReports } from "./recipients/DeliveryReports.ts"
import { MessageProgress } from "./recipients/MessageProgress.ts"
import { RecipientOutcomes } from "./recipients/RecipientOutcomes.ts"
import { BounceListener } from "./reports/BounceListener.ts"
import { ReportIntake } from "./reports/ReportIntake.ts"
import { ReturnPaths } from "./reports/ReturnPaths.ts"
import { DefaultSender, NoticeAddress } from "./request/DefaultSender.ts"
import { DeliverabilityWarnings } from "./request/DeliverabilityWarnings.ts"
import { EmailHttp } from "./single/EmailHttp.ts"
import { EmailMailer } from "./single/EmailMailer.ts"
import { Emails } from "./single/Emails.ts"
import { EmailSender } from "./single/EmailSender.ts"
import { Suppressions } from "./suppressions/Suppressions.ts"
import { SuppressionsHttp } from "./suppressions/SuppressionsHttp.ts"
import { UnsubscribeHttp, UnsubscribeLinks } from "./suppressions/Unsubscribe.ts"
import { Tracking } from "./tracking/Tracking.ts"
import { TrackingHttp } from "./tracking/TrackingHttp.ts"
import { TrackingLinks } from "./tracking/TrackingLinks.ts"

/**
 * The email channel: its endpoints, actors and senders, the bounce listener, and the notice sender. It requires `Smtp`,
 * the relay.
 */
export const EmailLayer = Layer.mergeAll(
  BulkEmailHttp,
  SuppressionsHttp,
  UnsubscribeHttp,
  TrackingHttp.pipe(Layer.provide(Tracking.layer)),
  NoticeSender,
  BounceListener.layer.pipe(Layer.provide(ReportIntake.layer), Layer.provide(DeliveryReports.layer)),
  Layer.mergeAll(BatchActor, BatchPoll).pipe(Layer.provide(ActiveBatches.layer)),
  EmailHttp.pipe(
    Layer.provideMerge(Emails.layer),
    Layer.provide(EmailSender.layer),
    Layer.provide(EmailMailer.layer)
  )
).pipe(
  Layer.provide([BulkEmail.layer, MessageProgress.layer]),
  Layer.provide(BatchDispatch.layer),
  Layer.provide([BatchMailer.layer, RecipientOutcomes.layer]),
  Layer.provide(DeliverabilityWarnings.layer),
  Layer.provide([
    BulkThrottle.layer,
    DefaultSender.layer,
    NoticeAddress.layer,
    ReturnPaths.layer,
    Suppressions.layer,
    TrackingLinks.layer,
    UnsubscribeLinks.layer
  ])
)

/** Erases an account's emails, batches and suppressions. */
export const emailErasure: ErasureStep = {
  name: "email",
  /** No further recipient is claimed. A mail transaction in flight cannot be stopped. */
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update email_batches set status = 'canceled' where account_id = ${accountId} and completed_at is null`
    yield* sql`update email_messages set status = 'canceled', due_at = null, completed_at = now()
      where account_id = ${accountId} and batch_id is null and status = 'queued'`
  }, Effect.orDie),
  some: eraseRows("email_messages", "email_contents", "email_batches", "email_bodies", "suppressions", "plain_refusals")
}
