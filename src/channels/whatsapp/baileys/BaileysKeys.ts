import { proto, type SignalDataSet, type SignalDataTypeMap, type SignalKeyStore } from "@whiskeysockets/baileys"
import { type Cause, Effect } from "effect"
import type { AsyncLocalStorage } from "node:async_hooks"
import type { Credentials } from "../credentials/CredentialStore.ts"
import type { Decrypted } from "../credentials/Journal.ts"
import { makeLastUsed } from "../credentials/LruCache.ts"
import type { Change, Held } from "./BaileysRatchets.ts"
import { decodeValue, encodeRatchet, encodeValue } from "./keyValues.ts"
import { oneStep } from "./oneStep.ts"

/** Runs an effect for the library, which speaks promises. */
export type Run = <A, E>(effect: Effect.Effect<A, E>) => Promise<A>

const place = (type: string, key: string) => `${type}|${key}`

/** What the library calls the ratchets with one device. */
const ratchet = "session"

/** Ratchets that a connection remembers, some kilobytes each: those of the chats that are busy now. */
const mostRatchets = 100

const encode = (type: string, value: unknown) => type === ratchet ? encodeRatchet(value) : encodeValue(value)

const changesOf = (data: SignalDataSet, before: (key: string) => unknown): ReadonlyArray<Change> =>
  Object.entries(data).flatMap(([type, values]) =>
    Object.entries(values).map(([key, value]): Change => {
      const given = type === ratchet ? oneStep(before(key), value) : value
      return { type, key, given, value: given === null || given === undefined ? null : encode(type, given) }
    })
  )

/** This kind alone is a class of the library, whose methods it calls. */
const revive = (type: string, bytes: Uint8Array): unknown => {
  const value = decodeValue(bytes)
  return type === "app-state-sync-key" && typeof value === "object" && value !== null
    ? proto.Message.AppStateSyncKeyData.fromObject(value)
    : value
}

export interface KeysOptions {
  readonly credentials: Credentials
  readonly run: Run
  readonly held: AsyncLocalStorage<Held>
  readonly fail: (cause: Cause.Cause<unknown>) => void
}

/**
 * The library's key store over the credentials. A write that fails ends the connection: memory and rows would differ.
 *
 * The last ratchets are remembered as the library gave them and need not be read from bytes for the next step: it makes
 * them anew in each, and only reads what it is given. The connection is their only writer.
 */
export const makeKeys = ({ credentials, fail, held, run }: KeysOptions) => {
  const ratchets = makeLastUsed<NonNullable<unknown> | null>(mostRatchets)
  const failing = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.tapCause(effect, (cause) => Effect.sync(() => fail(cause)))

  const write = (changes: ReadonlyArray<Change>, messages: ReadonlyArray<Decrypted>) => {
    for (const { given, key, type } of changes) if (type === ratchet) ratchets.put(key, given ?? null)
    return run(failing(credentials.set(changes, messages)))
  }

  /** Undefined where one of them has to be read. */
  const remembered = (type: string, ids: ReadonlyArray<string>) => {
    if (type !== ratchet) return undefined
    const values: { [id: string]: unknown } = {}
    for (const id of ids) {
      const value = held.getStore()?.has(place(type, id)) === true ? undefined : ratchets.get(id)
      if (value === undefined) return undefined
      if (value !== null) values[id] = value
    }
    return values
  }

  const read = (type: string, ids: ReadonlyArray<string>) => {
    const step = held.getStore()
    return run(Effect.map(failing(credentials.get(type, ids)), (stored) => {
      const values: { [id: string]: unknown } = {}
      for (const id of ids) {
        const waiting = step?.get(place(type, id))
        const bytes = waiting === undefined ? stored.get(id) : waiting.value
        if (bytes !== undefined && bytes !== null) values[id] = revive(type, bytes)
        // What this step will be made from; no other one is made meanwhile.
        if (type === ratchet && step !== undefined && waiting === undefined) ratchets.put(id, values[id] ?? null)
      }
      return values
    }))
  }

  const store: SignalKeyStore = {
    get: <T extends keyof SignalDataTypeMap>(type: T, ids: Array<string>) => {
      type Values = { [id: string]: SignalDataTypeMap[T] }
      // Only the library writes values of these types.
      return (remembered(type, ids) ?? read(type, ids)) as Values | Promise<Values>
    },
    set: (data) => {
      const waiting = held.getStore()
      const changes = changesOf(data, (key) => waiting?.get(place(ratchet, key))?.given ?? ratchets.get(key))
      if (waiting === undefined) return write(changes, [])
      for (const change of changes) waiting.set(place(change.type, change.key), change)
      return undefined
    }
  }
  return { store, write }
}
