import { Effect, Layer } from "effect"
import { PartStatusUpdates } from "../../channels/sms/parts/PartStatusUpdates.ts"
import { type OutgoingPart, SmsProvider, type SubmitOutcome } from "../../channels/sms/parts/SmsProvider.ts"
import { SandboxFaults } from "../../messages/SandboxFault.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { PeriodicTask } from "../../platform/work/PeriodicTask.ts"
import { TestWork } from "../../platform/work/TestWork.ts"
import type { Lease } from "../../platform/work/WorkPolicy.ts"
import { AccountId } from "../../values/Ids.ts"
import { isTest } from "../../values/TestMode.ts"
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

/** Outcomes without a receipt. */
const silent: ReadonlySet<Outcome> = new Set<Outcome>(["refused", "put_off", "silent", "lost"])

/** A simulated carrier. It accepts every part, and its phones receive them at once. */
export const SandboxSmsProvider = Layer.effect(
  SmsProvider,
  Effect.gen(function*() {
    const { sandboxSmsDelay } = yield* AppConfig
    const repo = yield* SandboxSmsRepo
    const faults = yield* SandboxFaults
    const insert = yield* GroupCommit.make({
      maxSize: 100,
      concurrency: 1,
      run: (parts: ReadonlyArray<ReceivedPart>) => Effect.map(repo.insert(parts), (rows) => rows.map(({ id }) => id))
    })

    const receive = Effect.fnUntraced(function*(part: OutgoingPart, outcome: Outcome): Effect.fn.Return<SubmitOutcome> {
      const id = yield* insert({ part, outcome, receiptIn: silent.has(outcome) ? null : sandboxSmsDelay })
      return outcome === "refused" ? refusal : outcome === "put_off" ? deferral : { _tag: "Accepted", id: idOf(id) }
    })

    /** Whether a planned fault loses the part: the first one of a text, so that a fault is used by one text. */
    const isLost = ({ account_id, part_no }: OutgoingPart) =>
      part_no === 1 && isTest(account_id)
        ? Effect.map(faults.take(AccountId.make(account_id), "sms"), (fault) => fault !== undefined)
        : Effect.succeed(false)

    return SmsProvider.of({
      name,
      takes: "segments",
      concurrency: 100,
      submit: Effect.fn("SandboxSmsProvider.submit")(function*(part: OutgoingPart, lease: Lease) {
        const outcome = outcomeOf(part.recipient)
        const isRetry = outcome === "put_off" && (yield* retryWhileUnavailable(repo.wasPutOff(part))).was
        if (!lease.begin()) return yield* Effect.interrupt
        const final = (yield* isLost(part)) ? "lost" : isRetry ? "delivered" : outcome
        return yield* retryWhileUnavailable(receive(part, final))
      })
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

/** Reports the outcome of parts whose delay has passed. A receipt repeats until the service has recorded it. */
const reportAll = Effect.gen(function*() {
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

export const SandboxSmsReceipts = PeriodicTask.make("SandboxSmsReceipts", "100 millis", reportAll).pipe(
  Layer.provide(SandboxSmsRepo.layer)
)

/** The same where only test messages go to the sandbox. */
export const TestSmsReceipts = PeriodicTask.make(
  "SandboxSmsReceipts",
  "100 millis",
  Effect.flatMap(TestWork, ({ begins }) => Effect.andThen(begins, reportAll))
).pipe(Layer.provide(SandboxSmsRepo.layer))
