import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { created } from "../platform/http/RequestContext.ts"
import { CodeSender } from "./CodeSender.ts"
import * as EmailCodes from "./EmailCodes.ts"
import { PumpingGuard } from "./PumpingGuard.ts"
import * as SmsCodes from "./SmsCodes.ts"
import { Verifications } from "./Verifications.ts"
import { VerificationExpiry, VerificationFallback } from "./VerificationTasks.ts"
import { VerifyApi } from "./VerifyApi.ts"
import { VerifyChannels } from "./VerifyChannel.ts"
import * as WhatsAppCodes from "./WhatsAppCodes.ts"

/** Handlers of {@link VerifyApi}. */
const VerifyHttp = HttpApiBuilder.group(
  baseContract.add(VerifyApi),
  "verify",
  (handlers) =>
    Effect.gen(function*() {
      const verifications = yield* Verifications
      return handlers.handleAll({
        send: Effect.fnUntraced(function*({ payload }) {
          const sent = yield* verifications.send(yield* Principal, payload)
          yield* created(`/v1/verify/status/${sent.id}`)
          return { success: true as const, data: sent }
        }),
        check: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* verifications.check(accountId, payload) }
        }),
        status: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* verifications.find(accountId, params.verification_id) }
        })
      })
    })
)

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
