import { type SignalRepositoryWithLIDStore, unpadRandomMax16 } from "@whiskeysockets/baileys"
import { AsyncLocalStorage } from "node:async_hooks"
import type { KeyEntry } from "../credentials/CredentialWriter.ts"

/** A changed value in its stored form, with the value that the library passed. */
export interface Change extends KeyEntry {
  readonly given: unknown
}

/** The changes of one ratchet step, by type and key. */
export type StepChanges = Map<string, Change>

/** A decrypted message without its padding. */
export interface Deciphered {
  readonly ciphertext: Uint8Array
  readonly plaintext: Uint8Array
}

interface Options {
  /** Holds the changes of the step in progress. */
  readonly step: AsyncLocalStorage<StepChanges>
  /** Makes the changes visible to the next step at once, and returns when they are durable. */
  readonly commit: (changes: StepChanges, messages: ReadonlyArray<Deciphered>) => Promise<void>
}

/**
 * Runs the steps of a session's ratchets one at a time, each outside of the caller's transaction.
 *
 * The library sends a message within its own transaction over the keys and commits afterwards. A message that comes in
 * meanwhile steps the same ratchet; one of the two steps would be lost, and the peer could not decrypt what follows.
 */
export const stepQueue = () => {
  const outside = AsyncLocalStorage.snapshot()
  let last: Promise<unknown> = Promise.resolve()
  return <A>(work: () => Promise<A>): Promise<A> => {
    const done = last.then(() => outside(work))
    last = done.catch(() => {})
    return done
  }
}

/** Runs each step on the result of the previous one, and commits its changes while the next step runs. */
const makeSteps = ({ commit, step }: Options) => {
  const enqueue = stepQueue()
  let committed = Promise.resolve()

  const end = (changes: StepChanges, messages: ReadonlyArray<Deciphered>) => {
    if (changes.size === 0 && messages.length === 0) return
    const before = committed
    // After a failed commit no later step counts as durable. The failure reaches those who await `durable`.
    committed = step.exit(() => commit(changes, messages)).then(() => before)
    committed.catch(() => {})
  }

  const run = <A>(work: (note: (message: Deciphered) => void) => Promise<A>) =>
    enqueue(() => {
      const changes: StepChanges = new Map()
      const messages: Array<Deciphered> = []
      return step.run(changes, () => work((message) => messages.push(message))).finally(() => end(changes, messages))
    })
  return { run, durable: () => committed }
}

/**
 * The library's ratchets, one step at a time. A step returns its result before it is durable, so nothing may leave the
 * node until a later call of `durable` has returned. A decrypted message is committed with the step that decrypted it.
 */
export const make = (options: Options) => {
  const { durable, run } = makeSteps(options)
  const decrypting = (ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>) =>
    run((note) =>
      decrypt().then((padded) => {
        note({ ciphertext, plaintext: unpadRandomMax16(padded) })
        return padded
      })
    )
  const guarded = (repository: SignalRepositoryWithLIDStore): SignalRepositoryWithLIDStore => ({
    ...repository,
    decryptMessage: (options) => decrypting(options.ciphertext, () => repository.decryptMessage(options)),
    decryptGroupMessage: (options) => decrypting(options.msg, () => repository.decryptGroupMessage(options)),
    encryptMessage: (options) => run(() => repository.encryptMessage(options)),
    encryptGroupMessage: (options) => run(() => repository.encryptGroupMessage(options)),
    getSenderKeyDistributionMessage: (options) => run(() => repository.getSenderKeyDistributionMessage(options)),
    processSenderKeyDistributionMessage: (options) =>
      run(() => repository.processSenderKeyDistributionMessage(options)),
    hasSenderKey: (options) => run(() => repository.hasSenderKey(options)),
    getSessionInfo: (jid) => run(() => repository.getSessionInfo(jid)),
    injectE2ESession: (options) => run(() => repository.injectE2ESession(options)),
    validateSession: (jid) => run(() => repository.validateSession(jid)),
    deleteSession: (jids) => run(() => repository.deleteSession(jids)),
    migrateSession: (from, to) => run(() => repository.migrateSession(from, to))
  })
  return { guarded, durable }
}
