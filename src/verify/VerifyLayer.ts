import { Effect, Layer } from "effect"
import { CodeSender } from "./CodeSender.ts"
import * as EmailCodes from "./EmailCodes.ts"
import { PumpingGuard } from "./PumpingGuard.ts"
import * as SmsCodes from "./SmsCodes.ts"
import { Verifications } from "./Verifications.ts"
import { VerificationExpiry, VerificationFallback } from "./VerificationTasks.ts"
import { VerifyChannels } from "./VerifyChannel.ts"
import { VerifyHttp } from "./VerifyHttp.ts"
import * as WhatsAppCodes from "./WhatsAppCodes.ts"

const ChannelsLayer = Layer.effect(
  VerifyChannels,
  Effect.all({ sms: SmsCodes.make, whatsapp: WhatsAppCodes.make, email: EmailCodes.make })
)

/** One-time codes with their endpoints, periodic tasks and the guard against pumping. */
export const VerifyLayer = Layer.mergeAll(
  VerifyHttp.pipe(Layer.provide(Verifications.layer)),
  VerificationExpiry,
  VerificationFallback,
  PumpingGuard
).pipe(Layer.provide(CodeSender.layer), Layer.provide(ChannelsLayer))
