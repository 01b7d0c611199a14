/**
 * Submits due parts to a provider.
 *
 * Callers: `SmsOutlet` on every node, or the actor of the SMPP bind. Both wake it after a commit, and it polls every second.
 * State: the rows of `sms_parts`. A crash leaves all claimed parts unconfirmed: those in flight, and over SMPP those that
 * wait for their turn.
 * On shard move: with the bind's shard it waits up to 8 seconds for the answers to its submits.
 * Idempotence: after 10 seconds without renewal another sender of the mode reclaims a part and submits it once more.
 * Each claim has a number, so the former sender's outcome changes nothing.
 * Sleep: with its scope.
 */
import { DateTime, Duration, Effect } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { Claims, leaseTime, leaseTimeout } from "../../../platform/work/Claims.ts"
import { FairClaims } from "../../../platform/work/FairClaims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import type { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import type { Mode } from "../../../values/TestMode.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { type ClaimedPart, PartsRepo } from "./PartsRepo.ts"
import { isOutOfDate, outOfDate, transition } from "./PartState.ts"
import { PartStatusUpdates } from "./PartStatusUpdates.ts"
import { lanes, type Submit, type SubmitOutcome } from "./SmsProvider.ts"

const drainTimeout = Duration.seconds(8)

interface Options {
  /** The name in the rows of parts. */
  readonly provider: string
  /** The most submits in flight. */
  readonly concurrency: number
  readonly submit: Submit
  /** Whose parts it sends. */
  readonly mode: Mode
}

/** A tenth is kept for codes, and as much for codes and other single messages. */
const limitsOf = (concurrency: number) => {
  const kept = Math.ceil(concurrency / 10)
  return [concurrency, Math.max(1, concurrency - kept), Math.max(1, concurrency - 2 * kept)]
}

const makePolicy = Effect.fnUntraced(function*({ concurrency, mode, provider, submit }: Options, wakeup: Wakeup) {
  const { transaction } = yield* Database
  const repo = yield* PartsRepo
  const updates = yield* PartStatusUpdates
  const { verify: codeKey } = yield* MacKeys
  const claims = repo.claimsOf(mode, provider)
  return {
    name: mode === "live" ? "SMS parts" : "test SMS parts",
    concurrency,
    minRoom: Math.max(1, Math.floor(concurrency / 4)),
    lanes: { of: ({ lane }) => lane, limits: limitsOf(concurrency) },
    claim: FairClaims.make<ClaimedPart>({
      lanes: Object.keys(lanes).length,
      turnOf: (part) => part,
      claimOldest: claims.claimOldest,
      waiting: () => claims.waiting,
      claimTurns: claims.claimTurns
    }, wakeup),
    leaseTime,
    perform: (part, lease) => {
      const { age_millis, body, code_seed } = part
      if (isOutOfDate(age_millis)) return Effect.succeed({ outcome: outOfDate, durationMs: 0 })
      // Before this moment the one-time code is written nowhere.
      const filled = { ...part, body: code_seed === null ? body : fillIn(codeKey, code_seed, body) }
      return Effect.map(Effect.timed(submit(filled, lease)), ([duration, outcome]) => ({
        outcome,
        durationMs: Math.round(Duration.toMillis(duration))
      }))
    },
    settle: Effect.fnUntraced(function*(part, { durationMs, outcome }) {
      const next = transition({ ...part, ageMillis: part.age_millis }, outcome)
      yield* updates.outcome({
        message_id: part.message_id,
        part_no: part.part_no,
        claimNumber: part.claim_number,
        isUnconfirmed: next.unconfirmed_attempts > part.unconfirmed_attempts,
        durationMs,
        at: fromDateTime(yield* DateTime.now),
        transition: next
      })
    }),
    release: repo.release,
    renewal: {
      renew: repo.renew,
      // A part that fails ends its message in the same transaction, and a failed message its parts: nothing else would look
      // at them again.
      reclaim: transaction(Effect.gen(function*() {
        const reclaimed = yield* repo.reclaimExpired({ mode, leaseTimeout })
        yield* updates.refresh(reclaimed.filter(({ has_failed }) => has_failed).map(({ message_id }) => message_id))
        return reclaimed.length
      }))
    },
    drainTimeout,
    annotations: ({ message_id }) => ({ sms: message_id })
  } satisfies WorkPolicy<ClaimedPart, { readonly outcome: SubmitOutcome; readonly durationMs: number }>
})

/** Starts a sender that runs until the scope closes. */
const start = Effect.fnUntraced(function*(options: Options) {
  const repo = yield* PartsRepo
  const updates = yield* PartStatusUpdates
  const claims = yield* Claims.make<ClaimedPart>()
  const wakeup = yield* Wakeup.make
  yield* Effect.forkScoped(LeasedQueue.run(yield* makePolicy(options, wakeup), wakeup, claims))

  /** Cancels a batch. The queued messages go first, so that no later claim finds one. */
  const cancel = Effect.fnUntraced(function*(batchId: MessageBatchId) {
    yield* retryWhileUnavailable(updates.cancel(batchId, Effect.void))
    const withdrawn = yield* claims.withdraw(({ batch_id }) => batch_id === batchId)
    if (withdrawn.length === 0) return
    yield* retryWhileUnavailable(updates.cancel(batchId, repo.release(withdrawn)))
    yield* wakeup.signal
  }, Effect.uninterruptible)

  /** Cancels a message in the same order. */
  const cancelOne = Effect.fnUntraced(function*(id: MessageId) {
    if (yield* retryWhileUnavailable(updates.cancelOne(id, Effect.void))) return true
    const withdrawn = yield* claims.withdraw(({ message_id }) => message_id === id)
    if (withdrawn.length === 0) return false
    const isCanceled = yield* retryWhileUnavailable(updates.cancelOne(id, repo.release(withdrawn)))
    yield* wakeup.signal
    return isCanceled
  }, Effect.uninterruptible)

  return { wake: wakeup.signal, cancel, cancelOne }
})

export const SmsSender = { start }
