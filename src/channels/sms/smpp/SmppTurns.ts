import { Effect, Latch, Semaphore } from "effect"
import { TurnQueue } from "../../../platform/work/TurnQueue.ts"
import { lanes, type OutgoingPart } from "../parts/SmsProvider.ts"
import type { SubmitResult } from "./SmppSession.ts"

/** Called with false when the turns have ended. */
type Waiter = (isGranted: boolean) => void

/**
 * Decides which part goes to the carrier next: codes before other single messages, these before batches, and accounts in
 * turn. It decides when the window has room and the rate allows a submit, so that an urgent part goes next.
 * The turns end with their scope: parts that still wait are not sent.
 */
export const make = Effect.fnUntraced(function*(
  /** Reserves the time of the next submit by the carrier's rate; returns the milliseconds until then. */
  reserve: Effect.Effect<number>,
  /** The most submits without a response. */
  window: number
) {
  const free = yield* Semaphore.make(window)
  const waiting = new TurnQueue<number, Waiter>(Object.keys(lanes).length)
  /** Times that are reserved for some of the waiting parts. */
  let reserved = 0
  /** Open while there are more parts than reserved times. */
  const arrived = Latch.makeUnsafe(false)
  let hasEnded = false

  const grant = Effect.suspend(() => {
    reserved--
    const waiter = waiting.dequeue()
    waiter?.(true)
    return waiter === undefined ? free.release(1) : Effect.void
  })

  const next = Effect.gen(function*() {
    yield* arrived.await
    yield* free.take(1)
    const wait = yield* reserve
    reserved++
    if (wait >= 1) yield* Effect.forkChild(Effect.andThen(Effect.sleep(wait), grant))
    else yield* grant
    if (waiting.size <= reserved) arrived.closeUnsafe()
  })

  /** Waits for the part's turn. An interruption can meet a slot that was just granted, which is free again then. */
  const enter = ({ account_id, lane }: OutgoingPart) => {
    let isGranted = false
    const turn = Effect.callback<boolean>((resume) => {
      if (hasEnded) return resume(Effect.succeed(false))
      const remove = waiting.enqueue(lane, account_id, (granted) => {
        isGranted = granted
        resume(Effect.succeed(granted))
      })
      arrived.openUnsafe()
      return Effect.sync(remove)
    })
    return Effect.onInterrupt(turn, () => isGranted ? free.release(1) : Effect.void)
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      hasEnded = true
      for (let waiter = waiting.dequeue(); waiter !== undefined; waiter = waiting.dequeue()) waiter(false)
    })
  )
  yield* Effect.forkScoped(Effect.forever(next))

  return {
    /** Submits a part when it is its turn. */
    submit: (part: OutgoingPart, submit: Effect.Effect<SubmitResult>) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          restore(enter(part)),
          (isGranted): Effect.Effect<SubmitResult> =>
            isGranted ? Effect.ensuring(restore(submit), free.release(1)) : Effect.succeed({ _tag: "NotSent" })
        )
      )
  }
})
