import { Context, Effect, Layer, Option, Schema } from "effect"
import { createSecretKey, type KeyObject } from "node:crypto"
import { decrypt, encrypt } from "../../../platform/crypto/gcm.ts"
import { SealBroken, Vault } from "../../../platform/crypto/Vault.ts"
import { Database } from "../../../platform/database/Database.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import type { OwnedSession } from "../model/Session.ts"
import { CredentialsRepo, type KeyWrite } from "./CredentialsRepo.ts"
import * as CredentialWriter from "./CredentialWriter.ts"
import { dataKeyPlace, placeOf } from "./DataKey.ts"
import { type Decrypted, Journal, type Journaled } from "./Journal.ts"
import * as LruCache from "./LruCache.ts"

/** Another node owns the session by now, or the session is deleted. The caller stops writing and closes its socket. */
export class OwnershipLost extends Schema.TaggedError<OwnershipLost>()("OwnershipLost", { sessionId: Schema.Int }) {
  override get message() {
    return `This node no longer owns WhatsApp session ${this.sessionId}.`
  }
}

/** The credentials of one session, for its owner. */
export interface Credentials {
  readonly owned: OwnedSession
  /** The key that encrypts the session's rows. */
  readonly dataKey: Uint8Array
  /** The stored values among these keys. */
  readonly get: (
    type: string,
    keys: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, Uint8Array>, SealBroken>
  /**
   * Returns when the entries and the journal's rows for the messages are durable. `get` returns the new values at once.
   * Writes happen in call order, and none follows a failed one.
   */
  readonly set: (
    entries: ReadonlyArray<CredentialWriter.KeyEntry>,
    messages?: ReadonlyArray<Decrypted>
  ) => Effect.Effect<void, OwnershipLost>
}

interface Write extends KeyWrite {
  readonly messages: ReadonlyArray<Journaled>
}

/** Values of one session kept in memory, about a megabyte. */
const cacheCapacity = 1500

const opened = (what: string, open: () => Uint8Array) =>
  Effect.try({ try: open, catch: () => new SealBroken({ what: `WhatsApp ${what}`, reason: "altered" }) })

/** Encrypts values under the session's data key and binds each to its place. */
const sealing = ({ id }: OwnedSession, dataKey: KeyObject) => ({
  sealEntry: ({ key, type, value }: CredentialWriter.KeyEntry) => ({
    type,
    key,
    value: value === null ? null : encrypt(dataKey, placeOf(id, type, key), value)
  }),
  conceal: (place: string, plain: Uint8Array) => encrypt(dataKey, place, plain),
  openValue: (type: string, key: string, value: Uint8Array) => decrypt(dataKey, placeOf(id, type, key), value)
})

/**
 * The credentials and keys of WhatsApp sessions, encrypted under the data key of their session. Concurrent writes of a
 * node's sessions share one statement. Each write succeeds only while its epoch is current.
 */
export class CredentialStore extends Context.Service<CredentialStore, {
  /** Opens the credentials for an owner. Fails if the epoch is no longer current. */
  readonly open: (owned: OwnedSession) => Effect.Effect<Credentials, OwnershipLost | SealBroken>
}>()("messaging-service/channels/whatsapp/credentials/CredentialStore") {
  static readonly layer = Layer.effect(
    CredentialStore,
    Effect.gen(function*() {
      const vault = yield* Vault
      const journal = yield* Journal
      const { transaction } = yield* Database
      const repo = yield* CredentialsRepo

      const run = Effect.fnUntraced(function*(writes: ReadonlyArray<Write>) {
        const written = new Set((yield* repo.write(writes)).map(({ position }) => position))
        const messages = writes.flatMap((write, position) => written.has(position) ? write.messages : [])
        if (messages.length > 0) yield* journal.write(messages)
        return writes.map((_, position) => written.has(position))
      })
      const hasMessages = (writes: ReadonlyArray<Write>) => writes.some(({ messages }) => messages.length > 0)
      const submit = yield* GroupCommit.make({
        maxSize: 100,
        concurrency: 2,
        run: (writes: ReadonlyArray<Write>) => hasMessages(writes) ? transaction(run(writes)) : run(writes)
      })

      const credentialsOf = (owned: OwnedSession, dataKey: Uint8Array): Credentials => {
        // Null marks a value that certainly has no row.
        const cache = LruCache.make<Uint8Array | null>(cacheCapacity)
        const { conceal, openValue, sealEntry } = sealing(owned, createSecretKey(dataKey))
        const lost = new OwnershipLost({ sessionId: owned.id })
        const writer = CredentialWriter.make({
          onWritten: cache.put,
          write: Effect.fnUntraced(function*(entries, messages) {
            const journaled = messages.map((message) => ({ ...message, conceal }))
            const isOwner = yield* submit({ ...owned, entries: entries.map(sealEntry), messages: journaled })
            if (!isOwner) return yield* lost
          })
        })
        const known = (name: string) => {
          const pending = writer.pending(name)
          return pending === undefined ? cache.get(name) : pending.value
        }

        const get: Credentials["get"] = Effect.fnUntraced(function*(type, keys) {
          const unknown = keys.filter((key) => known(CredentialWriter.nameOf(type, key)) === undefined)
          const rows = unknown.length === 0
            ? []
            : yield* repo.read({ id: owned.id, type, keys: unknown })
          const found = new Map(rows.map(({ key, value }) => [key, value]))
          const values = new Map<string, Uint8Array>()
          for (const key of keys) {
            const name = CredentialWriter.nameOf(type, key)
            // A value written while the rows were read is newer than its row.
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

        return { owned, dataKey, get, set: (entries, messages = []) => writer.set(entries, messages) }
      }

      return CredentialStore.of({
        open: Effect.fn("CredentialStore.open")(function*(owned) {
          const row = Option.getOrUndefined(yield* repo.dataKey(owned))
          if (row === undefined) return yield* new OwnershipLost({ sessionId: owned.id })
          return credentialsOf(owned, yield* vault.open(dataKeyPlace(owned.id), row.data_key))
        })
      })
    })
  ).pipe(Layer.provide(CredentialsRepo.layer))
}
