import type { Duration, Effect } from "effect"

/** Whether work may begin: all of it, one item that probes the receiving side, or none for now. */
export type Admission =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Probe" }
  | { readonly _tag: "Refused"; readonly retryInMillis: number }

/** How much a worker may claim. */
export interface Room<Item> {
  readonly limit: number
  /** For each lane, how many of these may be in it or in a later one. The first is the limit. */
  readonly lanes: ReadonlyArray<number>
  /** How many items of one account may be in flight. */
  readonly accountLimit: number
  /** How many more items of an account may be in flight. */
  readonly ofAccount: (account: number) => number
  readonly inFlight: ReadonlySet<Item>
}

/** Items by their urgency. Items of a later lane leave slots to those of earlier ones. */
export interface Lanes<Item> {
  readonly of: (item: Item) => number
  /** For each lane, how many items of it and of later ones may be in flight. The first is the concurrency limit. */
  readonly limits: ReadonlyArray<number>
}

/**
 * The claim of one item, for its attempt. An attempt asks it right before each step that it cannot take back, and
 * interrupts itself when the answer is false. Both answers come from memory.
 */
export interface Lease {
  /** Asked before the first such step. A withdrawal no longer stops an item that has begun. */
  readonly begin: () => boolean
  /** Asked before later ones: false once the lease has expired. */
  readonly isHeld: () => boolean
}

/** Keeps the claims of items in flight, every second. */
export interface Renewal<Item> {
  /** Extends the leases of these items. Answers with those that no other node has reclaimed. */
  readonly renew: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Item>>
  /** Returns orphaned rows to the queue, or gives them up. Answers how many it found. */
  readonly reclaim?: Effect.Effect<number>
}

/**
 * The particulars of one queue: its SQL, its work and its limits. Every effect is total: only an unavailable database may
 * fail one, as a defect, and the worker waits for it.
 */
export interface WorkPolicy<Item, Outcome> {
  /** What the queue contains, for logs. */
  readonly name: string
  /** Most items in flight at once. */
  readonly concurrency: number
  /** After a full queue, the room that is worth another claim. A claim for each item that ends costs too much. */
  readonly minRoom?: number
  /** Claims this many at once, beyond the concurrency limit, so that the next item need not wait for the database. */
  readonly claimSize?: number
  readonly lanes?: Lanes<Item>
  /** How many items of one account may be in flight, so that slow ones leave slots to other accounts. */
  readonly accountLimit?: { readonly of: (item: Item) => number; readonly limit: number }
  readonly admission?: Effect.Effect<Admission>
  /** Claims due rows. */
  readonly claim: (room: Room<Item>) => Effect.Effect<ReadonlyArray<Item>>
  /**
   * How long a claim lasts on this node after it was made or renewed. Other nodes reclaim it later than that, so a node
   * that was frozen for longer begins nothing that another node may have sent.
   */
  readonly leaseTime: Duration.Duration
  readonly renewal: Renewal<Item>
  /** Throttles how fast items begin. */
  readonly throttle?: Effect.Effect<void>
  /** The attempt. Its failure is an outcome. Interrupts itself when it must not begin: the item is then released. */
  readonly perform: (item: Item, lease: Lease) => Effect.Effect<Outcome>
  /** Stores the outcome, unless the item was reclaimed. May run twice. */
  readonly settle: (item: Item, outcome: Outcome) => Effect.Effect<void>
  /** Returns claimed items that have not begun to the queue, unchanged. */
  readonly release: (items: ReadonlyArray<Item>) => Effect.Effect<void>
  /**
   * Milliseconds until the next poll, at least `atLeast`; undefined ends the worker. Asked when nothing is due, and again
   * after each item, as its outcome may be a retry.
   */
  readonly nextPoll?: (atLeast: number, inFlight: ReadonlySet<Item>) => Effect.Effect<number | undefined>
  /** Longest wait for items in flight when the worker stops. */
  readonly drainTimeout?: Duration.Duration
  /** Fields of the log lines about an item. */
  readonly annotations: (item: Item) => Record<string, unknown>
}
