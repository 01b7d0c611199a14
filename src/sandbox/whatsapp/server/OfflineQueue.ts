import type { BinaryNode } from "@whiskeysockets/baileys"
import { keyOf } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { Shelf, SimulatorState } from "../model/SimulatorState.ts"

/** A stanza that its companion has not acknowledged yet. */
interface Unacknowledged {
  readonly device: string
  readonly stanza: BinaryNode
  readonly sequence: number
  /** For a resend: how many refusals of the original may still arrive. */
  refusalsExpected: number
}

/** Identifies the stanza of an acknowledgement. */
export interface Acknowledged {
  readonly tag: string
  readonly id: string
  readonly type?: string | undefined
  readonly participant?: string | undefined
}

/** One message can have receipts of several types and group members. Each is acknowledged separately. */
const nameOf = ({ id, participant = "", tag, type = "" }: Acknowledged): string =>
  tag === "receipt" ? `${tag}/${id}/${type}/${participant}` : `${tag}/${id}`

/** The unacknowledged stanzas of each companion, in the order of sending. */
export class OfflineQueue {
  readonly #shelf: Shelf<Unacknowledged>
  readonly #waiting = new Map<string, Map<string, Unacknowledged>>()
  #sequence = 0

  constructor(state: SimulatorState) {
    this.#shelf = state.shelf("queue")
    for (const [key, entry] of this.#shelf.entries().toSorted(([, a], [, b]) => a.sequence - b.sequence)) {
      this.#of(entry.device).set(key.slice(entry.device.length + 1), entry)
      this.#sequence = entry.sequence
    }
  }

  /** Replaces a queued stanza with the same tag and id. */
  add(address: Address, stanza: BinaryNode, refusalsExpected = 0): void {
    const device = keyOf(address)
    const name = nameOf({ ...stanza.attrs, tag: stanza.tag, id: stanza.attrs["id"] ?? "" })
    const entry = { device, stanza, sequence: ++this.#sequence, refusalsExpected }
    this.#of(device).delete(name)
    this.#of(device).set(name, entry)
    this.#shelf.set(`${device}/${name}`, entry)
  }

  /** Removes an acknowledged stanza. A late refusal of the original does not remove its resend. */
  acknowledge(address: Address, what: Acknowledged, isRefusal: boolean): void {
    const device = keyOf(address)
    const name = nameOf(what)
    const entry = this.#of(device).get(name)
    if (entry === undefined) return
    if (isRefusal && entry.refusalsExpected > 0) {
      entry.refusalsExpected -= 1
      this.#shelf.touch(`${device}/${name}`)
      return
    }
    this.#of(device).delete(name)
    this.#shelf.delete(`${device}/${name}`)
  }

  /** The queued stanzas of a device, oldest first. */
  waiting(address: Address): ReadonlyArray<BinaryNode> {
    return [...this.#of(keyOf(address)).values()].map(({ stanza }) => stanza)
  }

  /** Removes the queue of a device. */
  clear(address: Address): void {
    const device = keyOf(address)
    for (const name of this.#of(device).keys()) this.#shelf.delete(`${device}/${name}`)
    this.#waiting.delete(device)
  }

  #of(device: string): Map<string, Unacknowledged> {
    const known = this.#waiting.get(device)
    if (known !== undefined) return known
    const entries = new Map<string, Unacknowledged>()
    this.#waiting.set(device, entries)
    return entries
  }
}
