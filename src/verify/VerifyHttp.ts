import { Effect, Layer } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { CodeSender } from "./CodeSender.ts"
import * as EmailCodes from "./EmailCodes.ts"
import { PumpingGuard } from "./PumpingGuard.ts"
import * as SmsCodes from "./SmsCodes.ts"
import { VerificationFigures } from "./VerificationFigures.ts"
import { Verifications } from "./Verifications.ts"
import { VerificationExpiry, VerificationFallback } from "./VerificationTasks.ts"
import { VerifyApi } from "./VerifyApi.ts"
import { VerifyChannels } from "./VerifyChannel.ts"
import * as WhatsAppCodes from "./WhatsAppCodes.ts"

/** Handlers of {@link VerifyApi}. */
const VerifyHttp = endpointGroup(
  baseContract.add(VerifyApi),
  "verify",
  (handlers) =>
    Effect.gen(function*() {
      const verifications = yield* Verifications
      const figures = yield* VerificationFigures
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
        }),
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(
            query,
            (window) => verifications.list(accountId, query, window),
            ({ created_at, id }) => [created_at, id]
          )
        }),
        statistics: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return { data: yield* figures.read(accountId, query) }
        }),
        blocks: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* verifications.blocks(accountId) }
        }),
        release: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* verifications.release(accountId, params.prefix)
          return yield* nothing
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
  VerifyHttp.pipe(Layer.provideMerge(Verifications.layer), Layer.provideMerge(VerificationFigures.layer)),
  VerificationExpiry,
  VerificationFallback,
  PumpingGuard
).pipe(Layer.provide(CodeSender.layer), Layer.provide(ChannelsLayer))
