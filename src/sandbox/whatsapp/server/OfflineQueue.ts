import type { BinaryNode } from "@whiskeysockets/baileys"
import { keyOf } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { Shelf, SimulatorState } from "../model/SimulatorState.ts"

/** A stanza that its companion has not acknowledged. */
interface Unacknowledged {
  readonly device: string
  readonly stanza: BinaryNode
  readonly sequence: number
  /** It repeats one that could not be decrypted; so many refusals of that one are still on their way. */
  refusalsExpected: number
}

/** Which stanza an acknowledgement is about. */
export interface Acknowledged {
  readonly tag: string
  readonly id: string
  readonly type?: string | undefined
  readonly participant?: string | undefined
}

/** Receipts of several kinds, or of several members of a group, may be about one message; each waits for itself. */
const nameOf = ({ id, participant = "", tag, type = "" }: Acknowledged): string =>
  tag === "receipt" ? `${tag}/${id}/${type}/${participant}` : `${tag}/${id}`

/** What companions were sent and have not acknowledged, in the order it was sent. */
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

  /** A stanza with the same tag and id takes the place of the former. */
  add(address: Address, stanza: BinaryNode, refusalsExpected = 0): void {
    const device = keyOf(address)
    const name = nameOf({ ...stanza.attrs, tag: stanza.tag, id: stanza.attrs["id"] ?? "" })
    const entry = { device, stanza, sequence: ++this.#sequence, refusalsExpected }
    this.#of(device).delete(name)
    this.#of(device).set(name, entry)
    this.#shelf.set(`${device}/${name}`, entry)
  }

  /** Forgets the stanza that is acknowledged. A refusal does not count for the repetition it came too late for. */
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

  /** What waits for a device, oldest first. */
  waiting(address: Address): ReadonlyArray<BinaryNode> {
    return [...this.#of(keyOf(address)).values()].map(({ stanza }) => stanza)
  }

  /** Forgets what waits for a device that is gone. */
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
