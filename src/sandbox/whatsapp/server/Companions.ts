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

/** A device that was linked to a phone: one session of a client. */
export interface Companion {
  readonly address: Address
  /** The static key its handshakes have to show. */
  readonly noisePublic: Uint8Array
  readonly identity: Uint8Array
  registrationId: number
  signedPreKey: KeyBundle["signedPreKey"]
  preKeys: Array<PublicPreKey>
  /** The phone has said its first words to it: the history. */
  welcomed: boolean
  /** How often it has logged in: a session that comes back with the same credentials counts on. */
  logins: number
}

interface Line {
  readonly connection: Connection
  /** What waited has been sent; from now on stanzas go straight. */
  isCaughtUp: boolean
}

/** Below this many pre-keys the server asks for more. */
const fewPreKeys = 5

/**
 * The linked devices, the lines they hold, and what waits for them. A stanza waits until its companion acknowledges it:
 * whatever a broken line swallowed comes again after the next login, marked as offline.
 */
export class Companions {
  readonly #devices: Shelf<Companion>
  readonly #queue: OfflineQueue
  readonly #lines = new Map<string, Line>()
  readonly #byNumber = new Map<string, ReadonlyArray<Companion>>()
  /** Who has asked for the devices of a number, and keeps the answer. */
  readonly #askers = new Map<string, Map<string, Address>>()

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
    this.#tellAskers(companion.address)
  }

  /** Notes that a companion was changed in place. */
  changed({ address }: Companion): void {
    this.#devices.touch(keyOf(address))
  }

  /** Forgets a device and what waits for it. */
  remove(address: Address): void {
    this.#devices.delete(keyOf(address))
    this.#queue.clear(address)
    this.#index(address.number)
    this.#tellAskers(address)
  }

  all(): ReadonlyArray<Companion> {
    return this.#devices.values()
  }

  of(number: string): ReadonlyArray<Companion> {
    return this.#byNumber.get(number) ?? []
  }

  line(address: Address): Connection | undefined {
    return this.#lines.get(keyOf(address))?.connection
  }

  /** Gives the device a line; the one it had is returned. */
  connect(address: Address, connection: Connection): Connection | undefined {
    const previous = this.line(address)
    this.#lines.set(keyOf(address), { connection, isCaughtUp: false })
    return previous
  }

  disconnect(address: Address, connection: Connection): void {
    if (this.line(address) === connection) this.#lines.delete(keyOf(address))
  }

  /** Sends a stanza now if the device is there, and again after each login until it is acknowledged. */
  deliver(address: Address, stanza: BinaryNode, refusalsExpected = 0): void {
    if (this.get(address) === undefined) return
    this.#queue.add(address, stanza, refusalsExpected)
    const line = this.#lines.get(keyOf(address))
    if (line?.isCaughtUp === true) line.connection.send(stanza)
  }

  /** Sends all that waits, marked as offline, and says how much it was. */
  catchUp(address: Address): void {
    const line = this.#lines.get(keyOf(address))
    if (line === undefined || line.isCaughtUp) return
    const waiting = this.#queue.waiting(address)
    for (const stanza of waiting) {
      line.connection.send({ ...stanza, attrs: { ...stanza.attrs, offline: "0" } })
    }
    line.isCaughtUp = true
    line.connection.send(node("ib", { from: S_WHATSAPP_NET }, [node("offline", { count: String(waiting.length) })]))
  }

  acknowledge(address: Address, what: Acknowledged, isRefusal: boolean): void {
    this.#queue.acknowledge(address, what, isRefusal)
  }

  /** How many stanzas wait for a device. */
  waiting(address: Address): number {
    return this.#queue.waiting(address).length
  }

  /** A bundle of a device; its one-time key is used up with it. */
  takeBundle(address: Address): KeyBundle | undefined {
    const companion = this.get(address)
    if (companion === undefined) return undefined
    const preKey = companion.preKeys.shift()
    this.changed(companion)
    if (companion.preKeys.length < fewPreKeys) this.#askForPreKeys(companion)
    const { identity, registrationId, signedPreKey } = companion
    return { identity, registrationId, signedPreKey, preKey }
  }

  /** Notes that a companion was told the devices of a number. */
  noteAsker(number: string, asker: Address): void {
    const askers = this.#askers.get(number) ?? new Map<string, Address>()
    this.#askers.set(number, askers.set(keyOf(asker), asker))
  }

  #index(number: string): void {
    this.#byNumber.set(number, this.all().filter(({ address }) => address.number === number))
  }

  /** Those who have asked for the devices of a number ask again before they write to it. */
  #tellAskers(changed: Address): void {
    const devices = [pnJid(changed), lidJid(changed)].map((jid) => node("device", { jid }))
    const notification = node("notification", {
      id: stanzaId(),
      from: pnJid(userOf(changed.number)),
      type: "devices"
    }, [node("update", {}, devices)])
    for (const asker of this.#askers.get(changed.number)?.values() ?? []) this.deliver(asker, notification)
  }

  /** A companion that is away uploads new keys by itself at its next login. */
  #askForPreKeys({ address, preKeys }: Companion): void {
    const count = node("count", { value: String(preKeys.length) })
    this.line(address)?.send(
      node("notification", { id: stanzaId(), from: S_WHATSAPP_NET, type: "encrypt" }, [count])
    )
  }
}
