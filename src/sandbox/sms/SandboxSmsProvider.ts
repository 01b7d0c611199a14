import { Effect, Layer } from "effect"
import { PartStatusUpdates } from "../../channels/sms/parts/PartStatusUpdates.ts"
import { type OutgoingPart, SmsProvider, type SubmitOutcome } from "../../channels/sms/parts/SmsProvider.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import type { Lease } from "../../platform/work/WorkPolicy.ts"
import { type ReceivedPart, SandboxSmsRepo } from "./SandboxSmsRepo.ts"
import { type Outcome, outcomeOf } from "./specialNumbers.ts"

const name = "sandbox"

const idOf = (id: number) => `sandbox-${id}`

const refusal: SubmitOutcome = {
  _tag: "Refused",
  code: "invalid_destination",
  reason: "The sandbox refuses this number."
}

const deferral: SubmitOutcome = {
  _tag: "Deferred",
  code: "put_off",
  reason: "The sandbox refuses the first attempt to this number."
}

/** A simulated carrier. It accepts every part, and its phones receive them at once. */
export const SandboxSmsProvider = Layer.effect(
  SmsProvider,
  Effect.gen(function*() {
    const { sandboxSmsDelay } = yield* AppConfig
    const repo = yield* SandboxSmsRepo
    const insert = yield* GroupCommit.make({
      maxSize: 100,
      concurrency: 1,
      run: (parts: ReadonlyArray<ReceivedPart>) => Effect.map(repo.insert(parts), (rows) => rows.map(({ id }) => id))
    })

    const receive = Effect.fnUntraced(function*(part: OutgoingPart, outcome: Outcome): Effect.fn.Return<SubmitOutcome> {
      const hasReceipt = outcome !== "silent" && outcome !== "refused" && outcome !== "put_off"
      const id = yield* insert({ part, outcome, receiptIn: hasReceipt ? sandboxSmsDelay : null })
      return outcome === "refused" ? refusal : outcome === "put_off" ? deferral : { _tag: "Accepted", id: idOf(id) }
    })

    return SmsProvider.of({
      name,
      takes: "segments",
      concurrency: 100,
      submit: Effect.fn("SandboxSmsProvider.submit")(function*(part: OutgoingPart, lease: Lease) {
        const outcome = outcomeOf(part.recipient)
        const isRetry = outcome === "put_off" && (yield* repo.wasPutOff(part)).was
        if (!lease.begin()) return yield* Effect.interrupt
        return yield* receive(part, isRetry ? "delivered" : outcome)
      }, retryWhileUnavailable)
    })
  })
).pipe(Layer.provide(SandboxSmsRepo.layer))

const receiptOf = ({ id, state }: { readonly id: number; readonly state: string }) => {
  const receipt = { provider: name, provider_message_id: idOf(id) }
  if (state === "delivered") return { ...receipt, state: "delivered", error_code: null, error_message: null } as const
  const error_message = state === "expired"
    ? "The message expired before the phone could be reached."
    : "The message cannot be delivered to this number."
  return { ...receipt, state: "failed", error_code: state, error_message } as const
}

/** Reports the outcome of parts after their delay. A receipt repeats until the service has recorded it. */
export const SandboxSmsReceipts = PeriodicTask.make(
  "SandboxSmsReceipts",
  "100 millis",
  Effect.gen(function*() {
    const repo = yield* SandboxSmsRepo
    const updates = yield* PartStatusUpdates
    const reportDue = Effect.gen(function*() {
      const due = yield* repo.dueReceipts()
      if (due.length === 0) return false
      yield* Effect.forEach(due, (row) => updates.receipt(receiptOf(row)), { concurrency: "unbounded", discard: true })
      yield* repo.markReported(due.map(({ id }) => id))
      return true
    })
    while (yield* reportDue) yield* repo.prune
  })
).pipe(Layer.provide(SandboxSmsRepo.layer))
