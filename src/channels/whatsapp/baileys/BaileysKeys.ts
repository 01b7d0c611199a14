import { proto, type SignalDataSet, type SignalDataTypeMap, type SignalKeyStore } from "@whiskeysockets/baileys"
import { type Cause, Effect } from "effect"
import type { AsyncLocalStorage } from "node:async_hooks"
import type { Credentials } from "../credentials/CredentialStore.ts"
import type { Decrypted } from "../credentials/Journal.ts"
import * as LruCache from "../credentials/LruCache.ts"
import type { Change, StepChanges } from "./BaileysRatchets.ts"
import { keepSingleRatchetStep } from "./keepSingleRatchetStep.ts"
import { decodeValue, encodeRatchet, encodeValue } from "./keyValues.ts"

/** Runs an effect as a promise, for the library. */
export type Run = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

const place = (type: string, key: string) => `${type}|${key}`

/** The library's name for the ratchets with one device. */
const ratchetType = "session"

/** Ratchets that a connection keeps in memory, some kilobytes each: those of the busy chats. */
const ratchetCapacity = 100

const encode = (type: string, value: unknown) => type === ratchetType ? encodeRatchet(value) : encodeValue(value)

const changesOf = (data: SignalDataSet, before: (key: string) => unknown): ReadonlyArray<Change> =>
  Object.entries(data).flatMap(([type, values]) =>
    Object.entries(values).map(([key, value]): Change => {
      const given = type === ratchetType ? keepSingleRatchetStep(before(key), value) : value
      return { type, key, given, value: given === null || given === undefined ? null : encode(type, given) }
    })
  )

/** Decodes a stored value. One type is a class of the library, which calls its methods. */
const revive = (type: string, bytes: Uint8Array): unknown => {
  const value = decodeValue(bytes)
  return type === "app-state-sync-key" && typeof value === "object" && value !== null
    ? proto.Message.AppStateSyncKeyData.fromObject(value)
    : value
}

export interface Options {
  readonly credentials: Credentials
  readonly run: Run
  /** Holds the changes of the ratchet step in progress. */
  readonly step: AsyncLocalStorage<StepChanges>
  /** Ends the connection. */
  readonly fail: (cause: Cause.Cause<unknown>) => void
}

/**
 * The library's key store over the credentials. A failed write ends the connection, because memory and rows would differ.
 *
 * It keeps the latest ratchets as the library passed them, which saves decoding them for the next step. That is safe: the
 * library never changes a ratchet in place, and the connection is the only writer.
 */
export const make = ({ credentials, fail, run, step }: Options) => {
  const ratchets = LruCache.make<NonNullable<unknown> | null>(ratchetCapacity)
  const failing = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.tapCause(effect, (cause) => Effect.sync(() => fail(cause)))

  const write = (changes: ReadonlyArray<Change>, messages: ReadonlyArray<Decrypted>) => {
    for (const { given, key, type } of changes) if (type === ratchetType) ratchets.put(key, given ?? null)
    return run(failing(credentials.set(changes, messages)))
  }

  /** Undefined if at least one of them is not in memory. */
  const cached = (type: string, ids: ReadonlyArray<string>) => {
    if (type !== ratchetType) return undefined
    const values: { [id: string]: unknown } = {}
    for (const id of ids) {
      const value = step.getStore()?.has(place(type, id)) === true ? undefined : ratchets.get(id)
      if (value === undefined) return undefined
      if (value !== null) values[id] = value
    }
    return values
  }

  const read = (type: string, ids: ReadonlyArray<string>) => {
    const changes = step.getStore()
    return run(Effect.map(failing(credentials.get(type, ids)), (stored) => {
      const values: { [id: string]: unknown } = {}
      for (const id of ids) {
        const changed = changes?.get(place(type, id))
        const bytes = changed === undefined ? stored.get(id) : changed.value
        if (bytes !== undefined && bytes !== null) values[id] = revive(type, bytes)
        // The step in progress starts from this value, and no other step runs meanwhile.
        if (type === ratchetType && changes !== undefined && changed === undefined) {
          ratchets.put(id, values[id] ?? null)
        }
      }
      return values
    }))
  }

  const store: SignalKeyStore = {
    get: <T extends keyof SignalDataTypeMap>(type: T, ids: Array<string>) => {
      type Values = { [id: string]: SignalDataTypeMap[T] }
      // Only the library writes values of these types.
      return (cached(type, ids) ?? read(type, ids)) as Values | Promise<Values>
    },
    set: (data) => {
      const pending = step.getStore()
      const changes = changesOf(data, (key) => pending?.get(place(ratchetType, key))?.given ?? ratchets.get(key))
      if (pending === undefined) return write(changes, [])
      for (const change of changes) pending.set(place(change.type, change.key), change)
      return undefined
    }
  }
  return { store, write }
}
