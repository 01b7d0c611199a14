import { Clock, DateTime, Duration, Effect, Queue, Schedule, Semaphore } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { type ClaimedPart, makePartsRepo } from "./PartsRepo.ts"
import { transition } from "./PartState.ts"
import { PartStatusUpdates } from "./PartStatusUpdates.ts"
import type { OutgoingPart, SubmitOutcome } from "./SmsProvider.ts"

/** How long nobody has to say that they have a part until it is somebody else's. */
const strayAfter = Duration.seconds(10)

/** Milliseconds in which a claimed part may be begun: a node that was frozen for longer has lost it to another one. */
const lease = 8_000

/** How long a pump that is closed waits for the answers to what it has submitted. */
const patience = Duration.seconds(8)

export interface PumpOptions {
  readonly provider: string
  /** Submits under way at once. */
  readonly width: number
  /** Total: whatever goes wrong is the part's outcome. */
  readonly submit: (part: OutgoingPart) => Effect.Effect<SubmitOutcome>
}

const keyOf = ({ message_id, part_no }: ClaimedPart) => `${message_id}.${part_no}`

/**
 * Hands parts that are due to a provider, as many at once as it has room for, until its scope is closed. It claims no
 * more than it begins at once: what is claimed and unanswered when the node dies is all that is in doubt. A part in
 * `sending` belongs to the pump that says so every second; when none has said so for ten, another pump of the provider
 * submits it once more. A tenth of the room is kept from batches, and a message of its own is claimed before them all.
 */
export const makePump = Effect.fnUntraced(function*({ provider, submit, width }: PumpOptions) {
  const repo = yield* makePartsRepo
  const news = yield* PartStatusUpdates
  const { verify: codeKey } = yield* MacKeys
  const slots = yield* Semaphore.make(width)
  const woken = yield* Queue.sliding<void>(1)
  const held = new Map<string, ClaimedPart>()
  const bulkWidth = Math.max(1, width - Math.ceil(width / 10))
  /** Room that is worth a look for more: a statement for each part that ends would cost more than the part. */
  const worthwhile = Math.max(1, Math.floor(width / 4))

  const sendOne = Effect.fnUntraced(function*(part: ClaimedPart) {
    const { code_seed } = part
    // A code stands in its text from this moment on, and nowhere before.
    const body = code_seed === null ? part.body : fillIn(codeKey, code_seed, part.body)
    const outcome = yield* submit({ ...part, body })
    const tried = { ...part, ageMillis: part.age_millis }
    yield* retryWhileUnavailable(news.outcome({
      message_id: part.message_id,
      part_no: part.part_no,
      unconfirmedBefore: part.unconfirmed_attempts,
      at: fromDateTime(yield* DateTime.now),
      transition: transition(tried, outcome)
    }))
  }, (effect, part) =>
    effect.pipe(
      // What cannot be written down stays in `sending` and is taken over as a doubt, hence not for ever.
      Effect.tapCause((cause) => Effect.logError("an outcome could not be recorded", cause)),
      Effect.annotateLogs({ sms: part.message_id }),
      Effect.ensuring(Effect.andThen(
        slots.release(1),
        Effect.sync(() => {
          held.delete(keyOf(part))
          if (width - held.size >= worthwhile) Queue.offerUnsafe(woken, undefined)
        })
      ))
    ))

  const begin = Effect.fnUntraced(function*(part: ClaimedPart) {
    yield* slots.take(1)
    held.set(keyOf(part), part)
    yield* Effect.forkDetach(sendOne(part))
  })

  const bulkHeld = () => [...held.values()].filter(({ lane }) => lane > 0).length

  /** Begins those that are due, as far as there is room; whether there may be more for which there is room as well. */
  const page = Effect.uninterruptible(Effect.gen(function*() {
    const limit = width - held.size
    if (limit < 1) return false
    const until = (yield* Clock.currentTimeMillis) + lease
    const bulk = Math.max(0, bulkWidth - bulkHeld())
    const claimed = yield* Effect.orDie(repo.claim({ provider, limit, bulk }))
    if ((yield* Clock.currentTimeMillis) > until) yield* Effect.orDie(repo.giveBack(claimed))
    else yield* Effect.forEach(claimed, begin, { discard: true })
    return claimed.length >= worthwhile && width - held.size >= worthwhile
  }))

  const round = Effect.gen(function*() {
    while (yield* page) continue
    yield* Effect.timeoutOption(Queue.take(woken), "1 second")
  })

  const watch = Effect.gen(function*() {
    if (held.size > 0) yield* repo.renew([...held.values()])
    const strays = yield* repo.takeOver({ provider, after: strayAfter })
    yield* news.refresh(strays.filter(({ is_lost }) => is_lost).map(({ message_id }) => message_id))
    if (strays.length > 0) Queue.offerUnsafe(woken, undefined)
  })

  const quietly = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.catchCause(
      effect,
      (cause) => Effect.andThen(Effect.logDebug("a look for SMS failed", cause), Effect.sleep("1 second"))
    )

  // In this order: while the answers to what is under way come in, the pump goes on to say that it has them.
  yield* Effect.forkScoped(Effect.repeat(quietly(watch), Schedule.spaced("1 second")))
  yield* Effect.addFinalizer(() => Effect.timeoutOption(slots.take(width), patience))
  yield* Effect.forkScoped(Effect.forever(quietly(round)))

  return { wake: Effect.sync(() => void Queue.offerUnsafe(woken, undefined)) }
})
