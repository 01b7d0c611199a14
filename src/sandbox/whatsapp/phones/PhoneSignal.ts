import {
  addTransactionCapability,
  Curve,
  DEFAULT_CONNECTION_CONFIG,
  generateRegistrationId,
  signedKeyPair
} from "@whiskeysockets/baileys"
import type {
  KeyPair,
  SignalDataSet,
  SignalDataTypeMap,
  SignalRepositoryWithLIDStore,
  SignedKeyPair
} from "@whiskeysockets/baileys"
import { keepSingleRatchetStep } from "../../../channels/whatsapp/baileys/keepSingleRatchetStep.ts"
import { silentLogger } from "../../../channels/whatsapp/baileys/silentLogger.ts"
import { lidJid, userOf } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { Shelf } from "../model/SimulatorState.ts"
import type { KeyBundle } from "./KeyBundle.ts"
import { signalSession } from "./KeyBundle.ts"

/** The permanent Signal keys of a phone. */
export interface PhoneKeys {
  readonly identity: KeyPair
  readonly signedPreKey: SignedKeyPair
  readonly registrationId: number
  nextPreKeyId: number
}

/** Generates the keys of a new phone. */
export const makePhoneKeys = (): PhoneKeys => {
  const identity = Curve.generateKeyPair()
  return {
    identity,
    signedPreKey: signedKeyPair(identity, 1),
    registrationId: generateRegistrationId(),
    nextPreKeyId: 1
  }
}

/** The content of an `<enc>` node. */
export interface Ciphertext {
  readonly type: string
  readonly bytes: Uint8Array
}

/**
 * The Signal sessions and sender keys of a virtual phone, by the library that the clients use. All sessions are with
 * LIDs. The caller must run one operation of a phone at a time.
 */
export class PhoneSignal {
  readonly #number: string
  readonly #keys: PhoneKeys
  readonly #store: Shelf<unknown>
  readonly #repository: SignalRepositoryWithLIDStore

  constructor(number: string, keys: PhoneKeys, store: Shelf<unknown>) {
    this.#number = number
    this.#keys = keys
    this.#store = store
    const auth = {
      creds: {
        signedIdentityKey: keys.identity,
        signedPreKey: keys.signedPreKey,
        registrationId: keys.registrationId
      },
      keys: addTransactionCapability(
        {
          get: (type, ids) => this.#get(type, ids),
          set: (data) => this.#set(data)
        },
        silentLogger,
        { maxCommitRetries: 1, delayBetweenTriesMs: 0 }
      )
    }
    this.#repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, silentLogger, () => Promise.resolve([]))
  }

  /** A bundle with a new pre-key. */
  bundle(): KeyBundle {
    const { identity, registrationId, signedPreKey } = this.#keys
    const id = this.#keys.nextPreKeyId++
    const pair = Curve.generateKeyPair()
    this.#set({ "pre-key": { [String(id)]: pair } })
    return {
      registrationId,
      identity: identity.public,
      signedPreKey: { id: signedPreKey.keyId, value: signedPreKey.keyPair.public, signature: signedPreKey.signature },
      preKey: { id, value: pair.public }
    }
  }

  async hasSession(target: Address): Promise<boolean> {
    return (await this.#repository.validateSession(lidJid(target))).exists
  }

  async openSession(target: Address, bundle: KeyBundle): Promise<void> {
    await this.#repository.injectE2ESession({ jid: lidJid(target), session: signalSession(bundle) })
  }

  async encrypt(target: Address, plain: Uint8Array): Promise<Ciphertext> {
    const { ciphertext, type } = await this.#repository.encryptMessage({ jid: lidJid(target), data: plain })
    return { type, bytes: ciphertext }
  }

  /** Decrypts one `<enc>`. `group` is the chat of an skmsg. */
  async decrypt(sender: Address, { bytes, type }: Ciphertext, group: string): Promise<Uint8Array> {
    const jid = lidJid(sender)
    if (type === "skmsg") return this.#repository.decryptGroupMessage({ group, authorJid: jid, msg: bytes })
    if (type !== "msg" && type !== "pkmsg") throw new Error(`Unknown type of encryption: ${type}`)
    return this.#repository.decryptMessage({ jid, type, ciphertext: bytes })
  }

  async encryptForGroup(group: string, plain: Uint8Array) {
    return this.#repository.encryptGroupMessage({ group, meId: lidJid(userOf(this.#number)), data: plain })
  }

  /** Stores the sender key of a member. */
  async addSenderKey(sender: Address, group: string, key: Uint8Array): Promise<void> {
    await this.#repository.processSenderKeyDistributionMessage({
      authorJid: lidJid(sender),
      item: { groupId: group, axolotlSenderKeyDistributionMessage: key }
    })
  }

  close(): void {
    this.#repository.close?.()
  }

  #entry(type: string, id: string): string {
    return `${this.#number}/${type}/${id}`
  }

  #get<T extends keyof SignalDataTypeMap>(type: T, ids: ReadonlyArray<string>) {
    const found: { [id: string]: SignalDataTypeMap[T] } = {}
    for (const id of ids) {
      const value = this.#store.get(this.#entry(type, id))
      // `#set` stored it under the same type.
      if (value !== undefined) found[id] = value as SignalDataTypeMap[T]
    }
    return found
  }

  #set(data: SignalDataSet): void {
    for (const [type, entries] of Object.entries(data)) {
      for (const [id, value] of Object.entries(entries ?? {})) {
        const entry = this.#entry(type, id)
        if (value === null || value === undefined) this.#store.delete(entry)
        // Like real phones, which try to decrypt with copies of the ratchets.
        else this.#store.set(entry, type === "session" ? keepSingleRatchetStep(this.#store.get(entry), value) : value)
      }
    }
  }
}
