import { lidOf } from "../model/Address.ts"
import type { Shelf, SimulatorState } from "../model/SimulatorState.ts"
import type { Network } from "./Envelope.ts"
import { makePhoneKeys } from "./PhoneSignal.ts"
import { VirtualPhone } from "./VirtualPhone.ts"
import type { PhoneRecord, PhoneShelves } from "./VirtualPhone.ts"

/** All phones of the simulated WhatsApp. */
export class Phones {
  readonly #records: Shelf<PhoneRecord>
  readonly #shelves: PhoneShelves
  readonly #phones = new Map<string, VirtualPhone>()
  readonly #numbers = new Map<string, string>()
  readonly #network: Network

  constructor(state: SimulatorState, network: Network) {
    this.#network = network
    this.#records = state.shelf("phone")
    this.#shelves = {
      signal: state.shelf("signal"),
      messages: state.shelf("message"),
      senderKeys: state.shelf("sender-key")
    }
    for (const record of this.#records.values()) this.#add(record)
  }

  get(number: string): VirtualPhone | undefined {
    return this.#phones.get(number)
  }

  /** The number behind a LID. */
  numberOf(lid: string): string | undefined {
    return this.#numbers.get(lid)
  }

  all(): ReadonlyArray<VirtualPhone> {
    return [...this.#phones.values()]
  }

  /** Creates the phone of a number, or renames it. */
  create(number: string, pushName: string): VirtualPhone {
    const known = this.get(number)
    if (known !== undefined) {
      known.record.pushName = pushName
      this.changed(known)
      return known
    }
    const record: PhoneRecord = {
      number,
      pushName,
      keys: makePhoneKeys(),
      nextDevice: 1,
      receipts: { delivered: true, read: true }
    }
    this.#records.set(number, record)
    return this.#add(record)
  }

  /** Saves the record of a phone that the caller changed in place. */
  changed({ number }: VirtualPhone): void {
    this.#records.touch(number)
  }

  close(): void {
    for (const phone of this.all()) phone.close()
  }

  #add(record: PhoneRecord): VirtualPhone {
    const phone = new VirtualPhone(record, this.#shelves, this.#network)
    this.#phones.set(record.number, phone)
    this.#numbers.set(lidOf(record.number), record.number)
    return phone
  }
}
