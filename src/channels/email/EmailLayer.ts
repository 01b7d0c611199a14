import { Layer } from "effect"
import { BatchActor } from "./BatchActor.ts"
import { BatchCompletion } from "./BatchCompletion.ts"
import { BatchMailer } from "./BatchMailer.ts"
import { BatchSweeper } from "./BatchSweeper.ts"
import { BulkEmail } from "./BulkEmail.ts"
import { BulkEmailHttp } from "./BulkEmailHttp.ts"
import { BulkPace } from "./BulkPace.ts"
import { DefaultSender } from "./DefaultSender.ts"
import { EmailMailer } from "./EmailMailer.ts"
import { EmailMessages } from "./EmailMessages.ts"
import { EmailMessagesHttp } from "./EmailMessagesHttp.ts"
import { EmailSender } from "./EmailSender.ts"
import { BounceListener } from "./inbound/BounceListener.ts"
import { ReportIntake } from "./inbound/ReportIntake.ts"
import { MessageNews } from "./MessageNews.ts"
import { NoticeSender } from "./NoticeSender.ts"
import { RecipientOutcomes } from "./RecipientOutcomes.ts"
import { ReturnPaths } from "./ReturnPaths.ts"
import { SuppressionList } from "./SuppressionList.ts"
import { Suppressions } from "./Suppressions.ts"
import { SuppressionsHttp } from "./SuppressionsHttp.ts"
import { Tracking } from "./tracking/Tracking.ts"
import { TrackingHttp } from "./tracking/TrackingHttp.ts"
import { TrackingLinks } from "./tracking/TrackingLinks.ts"
import { UnsubscribeHttp } from "./UnsubscribeHttp.ts"
import { UnsubscribeLinks } from "./UnsubscribeLinks.ts"

/**
 * The email channel with its endpoints, actors and senders, the listener for bounces, and the sender of notices; it
 * asks for `Smtp`, the relay.
 */
export const EmailLayer = Layer.mergeAll(
  BulkEmailHttp,
  SuppressionsHttp.pipe(Layer.provide(SuppressionList.layer)),
  UnsubscribeHttp,
  TrackingHttp.pipe(Layer.provide(Tracking.layer)),
  BatchSweeper,
  NoticeSender,
  BounceListener.layer.pipe(Layer.provide(ReportIntake.layer), Layer.provide(MessageNews.layer)),
  BatchActor.pipe(Layer.provide(BatchMailer.layer)),
  EmailMessagesHttp.pipe(
    Layer.provideMerge(EmailMessages.layer),
    Layer.provide(EmailSender.layer),
    Layer.provide(EmailMailer.layer)
  )
).pipe(
  Layer.provide(BulkEmail.layer),
  Layer.provide(RecipientOutcomes.layer),
  Layer.provide([
    BatchCompletion.layer,
    BulkPace.layer,
    DefaultSender.layer,
    ReturnPaths.layer,
    Suppressions.layer,
    TrackingLinks.layer,
    UnsubscribeLinks.layer
  ])
)
