import { Effect, Layer } from "effect"
import { PartStatusUpdates } from "../../channels/sms/parts/PartStatusUpdates.ts"
import { type OutgoingPart, SmsProvider, type SubmitOutcome } from "../../channels/sms/parts/SmsProvider.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import { makeSandboxSmsRepo, type Taken } from "./SandboxSmsRepo.ts"
import { type Fate, fateOf } from "./specialNumbers.ts"

const name = "sandbox"

const idOf = (id: number) => `sandbox-${id}`

const refusal: SubmitOutcome = {
  _tag: "Refused",
  code: "invalid_destination",
  reason: "The sandbox refuses this number."
}

const postponement: SubmitOutcome = {
  _tag: "Deferred",
  code: "put_off",
  reason: "The sandbox puts this number off once."
}

/** A carrier of our own: it takes every part, and its phones have them at once. */
export const SandboxSmsProvider = Layer.effect(
  SmsProvider,
  Effect.gen(function*() {
    const { sandboxSmsDelay } = yield* AppConfig
    const repo = yield* makeSandboxSmsRepo
    const insert = yield* GroupCommit.make({
      maxSize: 100,
      concurrency: 1,
      run: (taken: ReadonlyArray<Taken>) =>
        Effect.orDie(Effect.map(repo.insert(taken), (rows) => rows.map(({ id }) => id)))
    })

    const take = Effect.fnUntraced(function*(part: OutgoingPart, fate: Fate): Effect.fn.Return<SubmitOutcome> {
      const receiptIn = fate === "silent" || fate === "refused" || fate === "put_off" ? null : sandboxSmsDelay
      const id = yield* insert({ part, fate, receiptIn })
      return fate === "refused" ? refusal : fate === "put_off" ? postponement : { _tag: "Accepted", id: idOf(id) }
    })

    return SmsProvider.of({
      name,
      takes: "segments",
      concurrency: 100,
      submit: Effect.fn("SandboxSmsProvider.submit")(function*(part: OutgoingPart) {
        const fate = fateOf(part.recipient)
        const isSecond = fate === "put_off" && (yield* Effect.orDie(repo.wasPutOff(part))).was
        return yield* take(part, isSecond ? "delivered" : fate)
      })
    })
  })
)

const receiptOf = ({ id, state }: { readonly id: number; readonly state: string }) => {
  const receipt = { provider: name, provider_message_id: idOf(id) }
  if (state === "delivered") return { ...receipt, state: "delivered", error_code: null, error_message: null } as const
  const error_message = state === "expired"
    ? "The message expired before the phone could be reached."
    : "The message cannot be delivered to this number."
  return { ...receipt, state: "failed", error_code: state, error_message } as const
}

/** Tells what became of the parts, after their delay. A receipt is told until it is written down. */
export const SandboxSmsReceipts = PeriodicTask.make(
  "SandboxSmsReceipts",
  "100 millis",
  Effect.gen(function*() {
    const repo = yield* makeSandboxSmsRepo
    const news = yield* PartStatusUpdates
    const tell = Effect.gen(function*() {
      const due = yield* repo.due()
      if (due.length === 0) return false
      yield* Effect.forEach(due, (row) => news.receipt(receiptOf(row)), { concurrency: "unbounded", discard: true })
      yield* repo.told(due.map(({ id }) => id))
      return true
    })
    while (yield* tell) yield* repo.prune
  })
)
