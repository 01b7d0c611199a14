import { Context, Effect, Layer, Option, Schema } from "effect"
import { createSecretKey, type KeyObject } from "node:crypto"
import { decrypt, encrypt } from "../../../platform/crypto/gcm.ts"
import { SealBroken, Vault } from "../../../platform/crypto/Vault.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { type KeyWrite, makeCredentialsRepo, type Owned } from "./CredentialsRepo.ts"
import { makeCredentialWriter, nameOf } from "./CredentialWriter.ts"
import { placeOf, sealedDataKey } from "./DataKey.ts"
import { type Decrypted, Journal, type Journaled } from "./Journal.ts"
import type { KeyEntry } from "./KeyEntry.ts"
import { makeLastUsed } from "./LruCache.ts"

/** The session is somebody else's by now, or gone: whoever learns this writes nothing more and ends its socket. */
export class SessionTaken extends Schema.TaggedError<SessionTaken>()("SessionTaken", { sessionId: Schema.Int }) {
  override get message() {
    return `The WhatsApp session ${this.sessionId} has another owner.`
  }
}

/** The credentials of one session in the hands of its owner. */
export interface Credentials {
  readonly owned: Owned
  /** The values that there are. */
  readonly get: (
    type: string,
    keys: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, Uint8Array>, SealBroken>
  /**
   * When it returns, the entries are durable, and with them what the journal makes of the messages; `get` knows them from
   * the beginning. Writes happen in the order in which they were asked for, and none after one that has failed.
   */
  readonly set: (
    entries: ReadonlyArray<KeyEntry>,
    messages?: ReadonlyArray<Decrypted>
  ) => Effect.Effect<void, SessionTaken>
}

interface Write extends KeyWrite {
  readonly messages: ReadonlyArray<Journaled>
}

/** Values that a session has in memory: about a megabyte; what was not used for longest goes first. */
const mostCached = 1500

const opened = (what: string, open: () => Uint8Array) =>
  Effect.try({ try: open, catch: () => new SealBroken({ what: `WhatsApp ${what}`, reason: "altered" }) })

/** Values as they are stored: encrypted under the session's data key and bound to their place. */
const sealing = ({ id }: Owned, dataKey: KeyObject) => ({
  sealEntry: ({ key, type, value }: KeyEntry) => ({
    type,
    key,
    value: value === null ? null : encrypt(dataKey, placeOf(id, type, key), value)
  }),
  conceal: (place: string, plain: Uint8Array) => encrypt(dataKey, place, plain),
  openValue: (type: string, key: string, value: Uint8Array) => decrypt(dataKey, placeOf(id, type, key), value)
})

/**
 * Credentials and keys of WhatsApp sessions. Each is encrypted under the data key of its session. Writes of the sessions
 * of a node that come at the same time are one statement; each is of use only while its owner is the owner.
 */
export class CredentialStore extends Context.Service<CredentialStore, {
  /** The credentials for an owner; it fails where there is another one already. */
  readonly open: (owned: Owned) => Effect.Effect<Credentials, SessionTaken | SealBroken>
}>()("messaging-service/channels/whatsapp/credentials/CredentialStore") {
  static readonly layer = Layer.effect(
    CredentialStore,
    Effect.gen(function*() {
      const vault = yield* Vault
      const journal = yield* Journal
      const repo = yield* makeCredentialsRepo

      const run = Effect.fnUntraced(function*(writes: ReadonlyArray<Write>) {
        const held = new Set((yield* Effect.orDie(repo.write(writes))).map(({ position }) => position))
        const messages = writes.flatMap((write, position) => held.has(position) ? write.messages : [])
        if (messages.length > 0) yield* journal.write(messages)
        return writes.map((_, position) => held.has(position))
      })
      const hasMessages = (writes: ReadonlyArray<Write>) => writes.some(({ messages }) => messages.length > 0)
      const submit = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 2,
        run: (writes: ReadonlyArray<Write>) => hasMessages(writes) ? transaction(run(writes)) : run(writes)
      })

      const handle = (owned: Owned, dataKey: KeyObject): Credentials => {
        // What is known of its rows; null where there surely is none.
        const cache = makeLastUsed<Uint8Array | null>(mostCached)
        const { openValue, conceal, sealEntry } = sealing(owned, dataKey)
        const taken = new SessionTaken({ sessionId: owned.id })
        const writer = makeCredentialWriter({
          keep: cache.put,
          write: Effect.fnUntraced(function*(entries, messages) {
            const journaled = messages.map((message) => ({ ...message, conceal }))
            const isOwner = yield* submit({ ...owned, entries: entries.map(sealEntry), messages: journaled })
            if (!isOwner) return yield* taken
          })
        })
        const known = (name: string) => {
          const waiting = writer.waiting(name)
          return waiting === undefined ? cache.get(name) : waiting.value
        }

        const get: Credentials["get"] = Effect.fnUntraced(function*(type, keys) {
          const unknown = keys.filter((key) => known(nameOf(type, key)) === undefined)
          const rows = unknown.length === 0
            ? []
            : yield* Effect.orDie(repo.read({ id: owned.id, type, keys: unknown }))
          const found = new Map(rows.map(({ key, value }) => [key, value]))
          const values = new Map<string, Uint8Array>()
          for (const key of keys) {
            const name = nameOf(type, key)
            // What was written while the rows were read is newer than they are.
            const newer = known(name)
            const sealed = found.get(key)
            const value = newer !== undefined
              ? newer
              : sealed === undefined
              ? null
              : yield* opened(name, () => openValue(type, key, sealed))
            if (newer === undefined) cache.put(name, value)
            if (value !== null) values.set(key, value)
          }
          return values
        })

        return { owned, get, set: (entries, messages = []) => writer.set(entries, messages) }
      }

      return CredentialStore.of({
        open: Effect.fn("CredentialStore.open")(function*(owned) {
          const row = Option.getOrUndefined(yield* Effect.orDie(repo.dataKey(owned)))
          if (row === undefined) return yield* new SessionTaken({ sessionId: owned.id })
          return handle(owned, createSecretKey(yield* vault.open(sealedDataKey(owned.id), row.data_key)))
        })
      })
    })
  )
}
