import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"
import { UpstreamOutages } from "../../platform/work/UpstreamOutages.ts"
import { ActiveBatches } from "./bulk/ActiveBatches.ts"
import { BatchActor, BatchPoll } from "./bulk/BatchActor.ts"
import { BatchDispatch } from "./bulk/BatchDispatch.ts"
import { BatchMailer } from "./bulk/BatchMailer.ts"
import { BatchTimes } from "./bulk/BatchTimes.ts"
import { BulkEmail } from "./bulk/BulkEmail.ts"
import { BulkEmailHttp } from "./bulk/BulkEmailHttp.ts"
import { EmailResends } from "./bulk/EmailResends.ts"
import { ScheduledBatches } from "./bulk/ScheduledBatches.ts"
import { NoticeSender } from "./notices/NoticeSender.ts"
import { BulkThrottle } from "./recipients/BulkThrottle.ts"
import { DeliveryReports } from "./recipients/DeliveryReports.ts"
import { DueChecks } from "./recipients/DueChecks.ts"
import { MessageProgress } from "./recipients/MessageProgress.ts"
import { RecipientOutcomes } from "./recipients/RecipientOutcomes.ts"
import { BounceListener } from "./reports/BounceListener.ts"
import { ReportIntake } from "./reports/ReportIntake.ts"
import { ReturnPaths } from "./reports/ReturnPaths.ts"
import { DefaultSender, NoticeAddress } from "./request/DefaultSender.ts"
import { DeliverabilityWarnings } from "./request/DeliverabilityWarnings.ts"
import { EmailChanges } from "./single/EmailChanges.ts"
import { EmailHttp } from "./single/EmailHttp.ts"
import { EmailMailer } from "./single/EmailMailer.ts"
import { Emails } from "./single/Emails.ts"
import { EmailSender } from "./single/EmailSender.ts"
import { EmailSources } from "./single/EmailSources.ts"
import { ScheduledEmails } from "./single/ScheduledEmails.ts"
import { Smtp } from "./smtp/Smtp.ts"
import { Suppressions } from "./suppressions/Suppressions.ts"
import { SuppressionsHttp } from "./suppressions/SuppressionsHttp.ts"
import { UnsubscribeHttp, UnsubscribeLinks } from "./suppressions/Unsubscribe.ts"
import { Tracking } from "./tracking/Tracking.ts"
import { TrackingHttp } from "./tracking/TrackingHttp.ts"
import { TrackingLinks } from "./tracking/TrackingLinks.ts"

/** Tells all nodes while the circuit of this one is open. Once a probe is due, only the next mail can tell. */
const RelayWatch = Layer.effectDiscard(Effect.gen(function*() {
  const { admission } = yield* Smtp
  const { watch } = yield* UpstreamOutages
  const reaches = { Pass: "works", Refused: "away", Probe: "unknown" } as const
  yield* watch("relay", Effect.map(admission(), ({ _tag }) => reaches[_tag]))
}))

/**
 * The email channel: its endpoints, actors and senders, the bounce listener, and the notice sender. It requires `Smtp`,
 * the relay.
 */
export const EmailLayer = Layer.mergeAll(
  RelayWatch,
  BulkEmailHttp.pipe(Layer.provide([BatchTimes.layer, EmailResends.layer])),
  SuppressionsHttp,
  UnsubscribeHttp,
  TrackingHttp.pipe(Layer.provide(Tracking.layer)),
  NoticeSender,
  BounceListener.layer.pipe(Layer.provideMerge(ReportIntake.layer), Layer.provide(DeliveryReports.layer)),
  Layer.mergeAll(BatchActor, BatchPoll).pipe(Layer.provide(ActiveBatches.layer)),
  ScheduledBatches,
  Layer.merge(EmailHttp.pipe(Layer.provideMerge([EmailChanges.layer, EmailSources.layer])), ScheduledEmails).pipe(
    Layer.provideMerge(Emails.layer),
    Layer.provide(EmailSender.layer),
    Layer.provide(EmailMailer.layer)
  )
).pipe(
  Layer.provideMerge(BulkEmail.layer),
  Layer.provide(MessageProgress.layer),
  Layer.provide(BatchDispatch.layer),
  Layer.provide([BatchMailer.layer, RecipientOutcomes.layer]),
  Layer.provide([DeliverabilityWarnings.layer, DueChecks.layer]),
  Layer.provideMerge(Suppressions.layer),
  Layer.provide([
    BulkThrottle.layer,
    DefaultSender.layer,
    NoticeAddress.layer,
    ReturnPaths.layer,
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
      where account_id = ${accountId} and batch_id is null and status in ('scheduled', 'queued')`
  }, Effect.orDie),
  some: eraseRows("email_messages", "email_contents", "email_batches", "email_bodies", "suppressions", "plain_refusals")
}
