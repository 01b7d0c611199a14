import { Context, Effect, Layer, Option, Schema } from "effect"
import { UnsupportedDestination } from "../channels/sms/SmsErrors.ts"
import { SenderNotVerified } from "../email-domains/EmailDomain.ts"
import { MessageOver } from "../messages/MessageOver.ts"
import { sendingOf, timeOf } from "../messages/sendFields.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { ulid } from "../platform/crypto/ids.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound, SubscriptionRequired, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { Principal } from "../platform/http/Authentication.ts"
import { type AccountId, FailoverId } from "../values/Ids.ts"
import { requireChannels } from "./channelAccess.ts"
import { type NewFailover, Step } from "./Failover.ts"
import { makeWake } from "./FailoverEntity.ts"
import { FailoverProgress } from "./FailoverProgress.ts"
import { FailoversRepo, type NewStep, recordOf } from "./FailoversRepo.ts"

const defaults = { until: "delivered", within_seconds: 300 } as const

const encodeStep = Schema.encodeSync(Step)

/** The address of a step: its own, or the person's for its channel. */
const addressOf = ({ to }: NewFailover, step: Step, index: number) => {
  const address = step.to ?? (step.channel === "email" ? to.email : to.phone)
  const kind = step.channel === "email" ? "email" : "phone"
  return address === undefined
    ? Effect.fail(
      ValidationFailed.of(`steps[${index}].to`, `needs an address: give to.${kind}, or to in the step`, "missing")
    )
    : Effect.succeed<string>(address)
}

const requireDistinct = (steps: ReadonlyArray<NewStep>) => {
  const seen = new Map<string, number>()
  for (const [index, { request, to }] of steps.entries()) {
    const key = JSON.stringify([to, request])
    const first = seen.get(key)
    if (first !== undefined) {
      return Effect.fail(ValidationFailed.of(`steps[${index}]`, `must differ from steps[${first}]`, "duplicate"))
    }
    seen.set(key, index)
  }
  return Effect.void
}

/** A fault of a step's field, named as the request names it. */
const ofStep = (index: number) => {
  const named = (param: string) => `steps[${index}].${param}`
  return {
    ValidationFailed: ({ errors, param }: ValidationFailed) =>
      Effect.fail(
        new ValidationFailed({
          param: named(param),
          errors: errors.map((error) => ({ ...error, param: named(error.param) }))
        })
      ),
    NotFound: ({ param }: NotFound) => Effect.fail(new NotFound(param === undefined ? {} : { param: named(param) })),
    SenderNotVerified: (fault: SenderNotVerified) =>
      Effect.fail(new SenderNotVerified({ ...fault, param: named(fault.param) })),
    UnsupportedDestination: (fault: UnsupportedDestination) =>
      Effect.fail(new UnsupportedDestination({ ...fault, param: named(fault.param) }))
  }
}

/** Accepts, reads, cancels and reschedules messages with steps. */
export class Failovers extends Context.Service<Failovers>()("messaging-service/failovers/Failovers", {
  make: Effect.gen(function*() {
    const { trialChannels } = yield* AppConfig
    const { afterCommit, transaction } = yield* Database
    const progress = yield* FailoverProgress
    const repo = yield* FailoversRepo
    const wake = yield* makeWake

    const read = Effect.fnUntraced(function*(accountId: AccountId, id: FailoverId) {
      const row = Option.getOrUndefined(yield* repo.find({ accountId, id }))
      if (row === undefined) return yield* new NotFound()
      return recordOf(row, yield* repo.steps([id]))
    })

    const find = Effect.fn("Failovers.find")(function*(by: Principal["Service"], id: FailoverId) {
      const found = yield* read(by.accountId, id)
      yield* requireChannels(by, "read", found.steps)
      return found
    })

    /** Validates every step, and returns after all of them are committed. The first one has begun, unless it is scheduled. */
    const send = Effect.fn("Failovers.send")(function*(by: Principal["Service"], asked: NewFailover) {
      yield* requireChannels(by, "write", asked.steps)
      if (by.trial !== "none" && asked.steps.some(({ channel }) => !trialChannels.has(channel))) {
        return yield* new SubscriptionRequired()
      }
      const { accountId } = by
      const sending = yield* sendingOf(asked)
      const { metadata, sendAt, tags } = sending
      const id = FailoverId.make(`msg_${yield* ulid}`)
      const steps = yield* Effect.forEach(
        asked.steps,
        (step, index) =>
          Effect.map(addressOf(asked, step, index), (to): NewStep => {
            const { until = defaults.until, within_seconds = defaults.within_seconds } = step
            return { channel: step.channel, to, until, within_seconds, request: encodeStep(step) }
          })
      )
      yield* requireDistinct(steps)
      return yield* transaction(Effect.gen(function*() {
        yield* Effect.forEach(asked.steps, (step, index) => {
          const to = steps[index]?.to ?? ""
          const checked = progress.check({ accountId, failoverId: id, metadata, tags, to, step })
          return Effect.catchTags(checked, ofStep(index))
        }, { discard: true })
        const { email = null, phone = null } = asked.to
        yield* repo.insert({ id, account_id: accountId, phone, email }, sending, steps)
        if (sendAt === null) yield* progress.begin(id)
        return yield* Effect.orDie(read(accountId, id))
      }))
    })

    const requireOpen = Effect.fnUntraced(function*(by: Principal["Service"], id: FailoverId) {
      const row = Option.getOrUndefined(yield* repo.lock(id))
      if (row === undefined || row.account_id !== by.accountId) return yield* new NotFound()
      yield* requireChannels(by, "write", yield* repo.steps([id]))
      if (row.completed_at !== null || row.canceled_at !== null) return yield* new MessageOver({ status: row.status })
      return row
    })

    /** Withdraws what has not been handed over. The answer says what was. */
    const cancel = Effect.fn("Failovers.cancel")(function*(by: Principal["Service"], id: FailoverId) {
      yield* transaction(Effect.andThen(requireOpen(by, id), repo.cancel(id)))
      yield* progress.advance(id)
      return yield* read(by.accountId, id)
    })

    const reschedule = Effect.fn("Failovers.reschedule")(
      function*(by: Principal["Service"], id: FailoverId, sendAt: string) {
        yield* transaction(Effect.gen(function*() {
          const row = yield* requireOpen(by, id)
          if (row.status !== "scheduled") return yield* new MessageOver({ status: row.status })
          yield* repo.reschedule(id, yield* timeOf(sendAt))
          yield* afterCommit(wake([id]))
        }))
        return yield* read(by.accountId, id)
      }
    )

    return { cancel, find, reschedule, send }
  })
}) {
  static readonly layer = Layer.effect(Failovers, Failovers.make).pipe(Layer.provide(FailoversRepo.layer))
}
