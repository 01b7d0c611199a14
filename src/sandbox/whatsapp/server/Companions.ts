import type { BinaryNode } from "@whiskeysockets/baileys"
import { S_WHATSAPP_NET } from "@whiskeysockets/baileys"
import { keyOf, lidJid, pnJid, userOf } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { Shelf, SimulatorState } from "../model/SimulatorState.ts"
import type { KeyBundle, PublicPreKey } from "../phones/KeyBundle.ts"
import { node, stanzaId } from "../wire/stanza.ts"
import type { Connection } from "./Connection.ts"
import { OfflineQueue } from "./OfflineQueue.ts"
import type { Acknowledged } from "./OfflineQueue.ts"

/** A device linked to a phone: the session of one client. */
export interface Companion {
  readonly address: Address
  /** The static key that its handshakes must prove. */
  readonly noisePublic: Uint8Array
  readonly identity: Uint8Array
  registrationId: number
  signedPreKey: KeyBundle["signedPreKey"]
  preKeys: Array<PublicPreKey>
  /** Whether the phone has sent it the history. */
  hasHistory: boolean
  /** How often it logged in with these credentials. */
  logins: number
}

interface OpenConnection {
  readonly connection: Connection
  /** Whether the queued stanzas have been sent. New ones then need no queueing before they are sent. */
  isCaughtUp: boolean
}

/** The server asks for more pre-keys below this count. */
const minPreKeys = 5

/**
 * The linked devices, their connections and their queues. A stanza stays queued until its companion acknowledges it.
 * After the next login the server sends unacknowledged stanzas again, marked as offline.
 */
export class Companions {
  readonly #devices: Shelf<Companion>
  readonly #queue: OfflineQueue
  readonly #connections = new Map<string, OpenConnection>()
  readonly #byNumber = new Map<string, ReadonlyArray<Companion>>()
  /** The devices that cache the device list of a number. */
  readonly #listCaches = new Map<string, Map<string, Address>>()

  constructor(state: SimulatorState) {
    this.#devices = state.shelf("companion")
    this.#queue = new OfflineQueue(state)
    for (const companion of this.#devices.values()) this.#index(companion.address.number)
  }

  get(address: Address): Companion | undefined {
    return this.#devices.get(keyOf(address))
  }

  add(companion: Companion): void {
    this.#devices.set(keyOf(companion.address), companion)
    this.#index(companion.address.number)
    this.#notifyListCaches(companion.address)
  }

  /** Saves a companion that the caller changed in place. */
  changed({ address }: Companion): void {
    this.#devices.touch(keyOf(address))
  }

  /** Removes a device and its queue. */
  remove(address: Address): void {
    this.#devices.delete(keyOf(address))
    this.#queue.clear(address)
    this.#index(address.number)
    this.#notifyListCaches(address)
  }

  all(): ReadonlyArray<Companion> {
    return this.#devices.values()
  }

  of(number: string): ReadonlyArray<Companion> {
    return this.#byNumber.get(number) ?? []
  }

  connection(address: Address): Connection | undefined {
    return this.#connections.get(keyOf(address))?.connection
  }

  /** Sets the connection of a device and returns the previous one. */
  connect(address: Address, connection: Connection): Connection | undefined {
    const previous = this.connection(address)
    this.#connections.set(keyOf(address), { connection, isCaughtUp: false })
    return previous
  }

  disconnect(address: Address, connection: Connection): void {
    if (this.connection(address) === connection) this.#connections.delete(keyOf(address))
  }

  /** Sends a stanza now if the device is connected, and after each login until it is acknowledged. */
  deliver(address: Address, stanza: BinaryNode, refusalsExpected = 0): void {
    if (this.get(address) === undefined) return
    this.#queue.add(address, stanza, refusalsExpected)
    const open = this.#connections.get(keyOf(address))
    if (open?.isCaughtUp === true) open.connection.send(stanza)
  }

  /** Sends all queued stanzas, marked as offline, and their count. */
  catchUp(address: Address): void {
    const open = this.#connections.get(keyOf(address))
    if (open === undefined || open.isCaughtUp) return
    const waiting = this.#queue.waiting(address)
    for (const stanza of waiting) {
      open.connection.send({ ...stanza, attrs: { ...stanza.attrs, offline: "0" } })
    }
    open.isCaughtUp = true
    open.connection.send(node("ib", { from: S_WHATSAPP_NET }, [node("offline", { count: String(waiting.length) })]))
  }

  acknowledge(address: Address, what: Acknowledged, isRefusal: boolean): void {
    this.#queue.acknowledge(address, what, isRefusal)
  }

  /** How many stanzas are queued for a device. */
  waiting(address: Address): number {
    return this.#queue.waiting(address).length
  }

  /** A key bundle of a device. It uses up one pre-key. */
  takeBundle(address: Address): KeyBundle | undefined {
    const companion = this.get(address)
    if (companion === undefined) return undefined
    const preKey = companion.preKeys.shift()
    this.changed(companion)
    if (companion.preKeys.length < minPreKeys) this.#requestPreKeys(companion)
    const { identity, registrationId, signedPreKey } = companion
    return { identity, registrationId, signedPreKey, preKey }
  }

  /** Records that a device caches the device list of a number. */
  addListCache(number: string, holder: Address): void {
    const holders = this.#listCaches.get(number) ?? new Map<string, Address>()
    this.#listCaches.set(number, holders.set(keyOf(holder), holder))
  }

  #index(number: string): void {
    this.#byNumber.set(number, this.all().filter(({ address }) => address.number === number))
  }

  /** Makes devices query the device list again before they write to its number. */
  #notifyListCaches(changed: Address): void {
    const devices = [pnJid(changed), lidJid(changed)].map((jid) => node("device", { jid }))
    const notification = node("notification", {
      id: stanzaId(),
      from: pnJid(userOf(changed.number)),
      type: "devices"
    }, [node("update", {}, devices)])
    for (const holder of this.#listCaches.get(changed.number)?.values() ?? []) this.deliver(holder, notification)
  }

  /** A disconnected companion uploads new pre-keys at its next login. */
  #requestPreKeys({ address, preKeys }: Companion): void {
    const count = node("count", { value: String(preKeys.length) })
    this.connection(address)?.send(
      node("notification", { id: stanzaId(), from: S_WHATSAPP_NET, type: "encrypt" }, [count])
    )
  }
}
