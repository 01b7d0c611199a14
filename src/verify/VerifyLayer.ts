import { Effect, Layer } from "effect"
import { makeEmailCodes } from "./EmailCodes.ts"
import { PumpingGuard } from "./PumpingGuard.ts"
import { makeSmsCodes } from "./SmsCodes.ts"
import { VerificationExpiry } from "./VerificationExpiry.ts"
import { Verifications } from "./Verifications.ts"
import { VerificationFallback } from "./VerificationTasks.ts"
import { VerifyChannels } from "./VerifyChannel.ts"
import { VerifyHttp } from "./VerifyHttp.ts"
import { makeWhatsAppCodes } from "./WhatsAppCodes.ts"

const ChannelsLayer = Layer.effect(
  VerifyChannels,
  Effect.all({ sms: makeSmsCodes, whatsapp: makeWhatsAppCodes, email: makeEmailCodes })
)

/** One-time codes with their endpoints, what looks after them, and the guard against pumping. */
export const VerifyLayer = Layer.mergeAll(
  VerifyHttp.pipe(Layer.provide(Verifications.layer)),
  VerificationExpiry,
  VerificationFallback,
  PumpingGuard
).pipe(Layer.provide(ChannelsLayer))
