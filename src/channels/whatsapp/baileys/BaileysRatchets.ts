import { type SignalRepositoryWithLIDStore, unpadRandomMax16 } from "@whiskeysockets/baileys"
import type { AsyncLocalStorage } from "node:async_hooks"
import type { KeyEntry } from "../credentials/KeyEntry.ts"
import { makeRatchetGuard } from "./ratchetGuard.ts"

/** A value of the library that changes: its stored form, and what the library gave. */
export interface Change extends KeyEntry {
  readonly given: unknown
}

/** What a step of a ratchet changes, by its place. */
export type Held = Map<string, Change>

/** A message that was decrypted; without its padding. */
export interface Deciphered {
  readonly ciphertext: Uint8Array
  readonly plaintext: Uint8Array
}

interface GuardOptions {
  readonly held: AsyncLocalStorage<Held>
  /** Has to take the changes at once, so that the next step finds them, and ends when they are durable. */
  readonly commit: (changes: Held, messages: ReadonlyArray<Deciphered>) => Promise<void>
}

/** Runs steps one after the other, each on what those before it have left, and has their changes committed meanwhile. */
const makeSteps = ({ commit, held }: GuardOptions) => {
  const guard = makeRatchetGuard()
  let committed = Promise.resolve()

  const end = (changes: Held, messages: ReadonlyArray<Deciphered>) => {
    if (changes.size === 0 && messages.length === 0) return
    const before = committed
    // After one that has failed none is durable; who needs it asks.
    committed = held.exit(() => commit(changes, messages)).then(() => before)
    committed.catch(() => {})
  }

  const step = <A>(work: (note: (message: Deciphered) => void) => Promise<A>) =>
    guard(() => {
      const changes: Held = new Map()
      const messages: Array<Deciphered> = []
      return held.run(changes, () => work((message) => messages.push(message))).finally(() => end(changes, messages))
    })
  return { step, durable: () => committed }
}

/**
 * The library's ratchets under the guard. What a step gives is given before it is durable: nothing may leave the machine
 * before `durable` has ended, which was asked for afterwards. What a decryption changes is written with its message.
 */
export const makeGuardedRatchets = (options: GuardOptions) => {
  const { durable, step } = makeSteps(options)
  const decrypting = (ciphertext: Uint8Array, decrypt: () => Promise<Uint8Array>) =>
    step((note) =>
      decrypt().then((padded) => {
        note({ ciphertext, plaintext: unpadRandomMax16(padded) })
        return padded
      })
    )
  const guarded = (repository: SignalRepositoryWithLIDStore): SignalRepositoryWithLIDStore => ({
    ...repository,
    decryptMessage: (options) => decrypting(options.ciphertext, () => repository.decryptMessage(options)),
    decryptGroupMessage: (options) => decrypting(options.msg, () => repository.decryptGroupMessage(options)),
    encryptMessage: (options) => step(() => repository.encryptMessage(options)),
    encryptGroupMessage: (options) => step(() => repository.encryptGroupMessage(options)),
    getSenderKeyDistributionMessage: (options) => step(() => repository.getSenderKeyDistributionMessage(options)),
    processSenderKeyDistributionMessage: (options) =>
      step(() => repository.processSenderKeyDistributionMessage(options)),
    hasSenderKey: (options) => step(() => repository.hasSenderKey(options)),
    getSessionInfo: (jid) => step(() => repository.getSessionInfo(jid)),
    injectE2ESession: (options) => step(() => repository.injectE2ESession(options)),
    validateSession: (jid) => step(() => repository.validateSession(jid)),
    deleteSession: (jids) => step(() => repository.deleteSession(jids)),
    migrateSession: (from, to) => step(() => repository.migrateSession(from, to))
  })
  return { guarded, durable }
}
