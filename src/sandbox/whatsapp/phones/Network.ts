import type { Address } from "../model/Address.ts"
import type { Envelope, Receipt } from "./Envelope.ts"
import type { KeyBundle } from "./KeyBundle.ts"

/** What a virtual phone needs of the server between it and the others. */
export interface Network {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly deliver: (envelope: Envelope, to: Address, refusalsExpected?: number) => void
  readonly report: (receipt: Receipt, to: Address) => void
  /** A bundle of any device; its one-time key is used up. */
  readonly takeBundle: (address: Address) => KeyBundle | undefined
  /** The phone of a number first, then its companions. */
  readonly devicesOf: (number: string) => ReadonlyArray<Address>
  /** The numbers of a group's members. */
  readonly membersOf: (group: string) => ReadonlyArray<string>
  /** Whether this arrival shall fail on purpose. */
  readonly isToFail: (envelope: Envelope) => boolean
}
