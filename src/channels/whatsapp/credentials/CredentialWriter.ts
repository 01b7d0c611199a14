import { Deferred, Effect, Exit, Semaphore } from "effect"
import type { Decrypted } from "./Journal.ts"
import type { KeyEntry } from "./KeyEntry.ts"

/** What is written together: the last value of each key, and the messages that the steps to it gave. */
interface Batch<E> {
  readonly entries: Map<string, KeyEntry>
  readonly messages: Array<Decrypted>
  readonly written: Deferred.Deferred<void, E>
}

interface WriterOptions<E> {
  /** All or none. */
  readonly write: (
    entries: ReadonlyArray<KeyEntry>,
    messages: ReadonlyArray<Decrypted>
  ) => Effect.Effect<void, E>
  /** What is durable now. */
  readonly keep: (name: string, value: Uint8Array | null) => void
}

/** What a value is known by in memory. */
export const nameOf = (type: string, key: string): string => `${type}|${key}`

/**
 * The writes of one session, one after the other: what is asked for while one is under way goes together with the next,
 * so many steps of ratchets cost one commit. A value that was asked for is read from then on. After a write that failed
 * nothing is written any more, as what follows was made from what was not written.
 */
export const makeCredentialWriter = <E>({ keep, write }: WriterOptions<E>) => {
  const turn = Semaphore.makeUnsafe(1)
  let asked: Batch<E> | undefined
  let underWay: Batch<E> | undefined
  let failure: Exit.Exit<void, E> | undefined

  const perform = Effect.fnUntraced(function*(batch: Batch<E>) {
    // Whatever else this moment brings goes along.
    yield* Effect.yieldNow
    asked = undefined
    underWay = batch
    const exit = failure ?? (yield* Effect.exit(write([...batch.entries.values()], batch.messages)))
    underWay = undefined
    if (Exit.isFailure(exit)) failure = exit
    else for (const [name, { value }] of batch.entries) keep(name, value)
    yield* Deferred.done(batch.written, exit)
  }, Effect.uninterruptible)

  return {
    /** A value that waits to be written; undefined when none does. */
    waiting: (name: string): KeyEntry | undefined => asked?.entries.get(name) ?? underWay?.entries.get(name),
    /** Ends when all of it is durable. */
    set: (entries: ReadonlyArray<KeyEntry>, messages: ReadonlyArray<Decrypted>) =>
      Effect.suspend(() => {
        const mine: Batch<E> = asked ??= { entries: new Map(), messages: [], written: Deferred.makeUnsafe() }
        for (const entry of entries) mine.entries.set(nameOf(entry.type, entry.key), entry)
        mine.messages.push(...messages)
        const whenItsTurn = turn.withPermit(Effect.suspend(() => asked === mine ? perform(mine) : Effect.void))
        return Effect.andThen(whenItsTurn, Deferred.await(mine.written))
      })
  }
}
