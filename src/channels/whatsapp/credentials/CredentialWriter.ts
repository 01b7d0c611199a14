import { Deferred, Effect, Exit, Semaphore } from "effect"
import type { Decrypted } from "./Journal.ts"

/** One value of a session's credentials. Null deletes it. */
export interface KeyEntry {
  readonly type: string
  readonly key: string
  readonly value: Uint8Array | null
}

/** One write: the last value of each key, and the messages that its ratchet steps decrypted. */
interface Batch<E> {
  readonly entries: Map<string, KeyEntry>
  readonly messages: Array<Decrypted>
  readonly written: Deferred.Deferred<void, E>
}

interface Options<E> {
  /** Writes all or nothing. */
  readonly write: (
    entries: ReadonlyArray<KeyEntry>,
    messages: ReadonlyArray<Decrypted>
  ) => Effect.Effect<void, E>
  /** Called for each value once it is durable. */
  readonly onWritten: (name: string, value: Uint8Array | null) => void
}

/** The name of a value in memory. */
export const nameOf = (type: string, key: string): string => `${type}|${key}`

/**
 * Writes one session's credentials in order. Entries that arrive during a write go together into the next one, so many
 * ratchet steps cost one commit. Reads see a pending value at once. After a failed write it writes nothing more, because
 * later values were derived from the lost ones.
 */
export const make = <E>({ onWritten, write }: Options<E>) => {
  const turn = Semaphore.makeUnsafe(1)
  let collecting: Batch<E> | undefined
  let inFlight: Batch<E> | undefined
  let failure: Exit.Exit<void, E> | undefined

  const perform = Effect.fnUntraced(function*(batch: Batch<E>) {
    // Entries from fibers that are ready to run join this write.
    yield* Effect.yieldNow
    collecting = undefined
    inFlight = batch
    const exit = failure ?? (yield* Effect.exit(write([...batch.entries.values()], batch.messages)))
    inFlight = undefined
    if (Exit.isFailure(exit)) failure = exit
    else for (const [name, { value }] of batch.entries) onWritten(name, value)
    yield* Deferred.done(batch.written, exit)
  }, Effect.uninterruptible)

  return {
    /** A value that is not written yet. */
    pending: (name: string): KeyEntry | undefined => collecting?.entries.get(name) ?? inFlight?.entries.get(name),
    /** Returns when everything is durable. */
    set: (entries: ReadonlyArray<KeyEntry>, messages: ReadonlyArray<Decrypted>) =>
      Effect.suspend(() => {
        const batch: Batch<E> = collecting ??= { entries: new Map(), messages: [], written: Deferred.makeUnsafe() }
        for (const entry of entries) batch.entries.set(nameOf(entry.type, entry.key), entry)
        batch.messages.push(...messages)
        const inTurn = turn.withPermit(Effect.suspend(() => collecting === batch ? perform(batch) : Effect.void))
        return Effect.andThen(inTurn, Deferred.await(batch.written))
      })
  }
}
