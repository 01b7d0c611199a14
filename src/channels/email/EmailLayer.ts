import { Layer } from "effect"
import { BatchActor } from "./BatchActor.ts"
import { BatchCompletion } from "./BatchCompletion.ts"
import { BatchMailer } from "./BatchMailer.ts"
import { BatchOutcomes } from "./BatchOutcomes.ts"
import { BatchSweeper } from "./BatchSweeper.ts"
import { BulkEmail } from "./BulkEmail.ts"
import { BulkEmailHttp } from "./BulkEmailHttp.ts"
import { DefaultSender } from "./DefaultSender.ts"
import { Suppressions } from "./Suppressions.ts"
import { UnsubscribeHttp } from "./UnsubscribeHttp.ts"
import { UnsubscribeLinks } from "./UnsubscribeLinks.ts"

/** The email channel with its endpoints and actors; it asks for `Smtp`, the relay. */
export const EmailLayer = Layer.mergeAll(
  BulkEmailHttp,
  UnsubscribeHttp,
  BatchSweeper,
  BatchActor.pipe(Layer.provide([BatchMailer.layer, BatchOutcomes.layer]))
).pipe(
  Layer.provide(BulkEmail.layer),
  Layer.provide([BatchCompletion.layer, DefaultSender.layer, Suppressions.layer, UnsubscribeLinks.layer])
)
