import { Clock, Effect } from "effect"
import { exactMillisOf } from "../schedule/monotonic.ts"
import { TurnQueue } from "./TurnQueue.ts"
import type { Wakeup } from "./Wakeup.ts"
import type { Room } from "./WorkPolicy.ts"

/** An account with due rows in a lane. Rows of older versions may have an id that is no account's. */
export interface Turn {
  readonly lane: number
  readonly account_id: number
}

/** A turn, and how many rows it may claim. */
export interface AllottedTurn extends Turn {
  readonly limit: number
}

interface Statements<Item> {
  readonly lanes: number
  readonly turnOf: (item: Item) => Turn
  /** Claims the oldest due rows of all accounts. `limits` has the room of each lane together with the later ones. */
  readonly claimOldest: (
    limits: ReadonlyArray<number>,
    inFlight: ReadonlySet<Item>
  ) => Effect.Effect<ReadonlyArray<Item>>
  /** Reads which accounts have due rows. */
  readonly waiting: (inFlight: ReadonlySet<Item>) => Effect.Effect<ReadonlyArray<Turn>>
  /** Claims the oldest due rows of each turn. */
  readonly claimTurns: (
    turns: ReadonlyArray<AllottedTurn>,
    inFlight: ReadonlySet<Item>
  ) => Effect.Effect<ReadonlyArray<Item>>
  /** Accounts that must not claim for now. */
  readonly paused?: Effect.Effect<ReadonlySet<number>>
}

/** The accounts are read again after 20 times as long as the statement took, within these milliseconds. */
const refreshPause = { share: 20, min: 100, max: 500 }

const nonePaused: Effect.Effect<ReadonlySet<number>> = Effect.succeed(new Set())

/** The accounts of a backlog, in the order of their turns. */
class Ring {
  readonly #lanes: number
  readonly #turns: TurnQueue<number, Turn>
  readonly #remove = new Map<string, () => void>()

  constructor(lanes: number) {
    this.#lanes = lanes
    this.#turns = new TurnQueue(lanes)
  }

  get isEmpty(): boolean {
    return this.#turns.size === 0
  }

  /** Keeps the order of those that were here before. */
  replace(turns: ReadonlyArray<Turn>): void {
    const waiting = new Set(turns.map(keyOf))
    for (const [key, remove] of this.#remove) {
      if (waiting.has(key)) continue
      remove()
      this.#remove.delete(key)
    }
    for (const turn of turns) if (!this.#remove.has(keyOf(turn))) this.#add(turn)
  }

  remove(turn: Turn): void {
    this.#remove.get(keyOf(turn))?.()
    this.#remove.delete(keyOf(turn))
  }

  /** Allots the room turn by turn. */
  allot({ lanes, limit, ofAccount }: Room<unknown>, paused: ReadonlySet<number>): ReadonlyArray<AllottedTurn> {
    const allotted = new Map<string, AllottedTurn>()
    const ofLane = Array.from({ length: this.#lanes }, () => 0)
    const byAccount = new Map<number, number>()
    const mayTake = (lane: number, account: number) =>
      !paused.has(account) && (byAccount.get(account) ?? 0) < ofAccount(account)
      && lanes.slice(0, lane + 1).every((most, index) => (ofLane[index] ?? 0) < most)
    for (let count = 0; count < limit; count++) {
      const turn = this.#turns.dequeue(mayTake)
      if (turn === undefined) break
      this.#add(turn)
      const { account_id: account, lane } = turn
      for (let index = 0; index <= lane; index++) ofLane[index] = (ofLane[index] ?? 0) + 1
      byAccount.set(account, (byAccount.get(account) ?? 0) + 1)
      allotted.set(keyOf(turn), { ...turn, limit: (allotted.get(keyOf(turn))?.limit ?? 0) + 1 })
    }
    return [...allotted.values()]
  }

  #add(turn: Turn): void {
    this.#remove.set(keyOf(turn), this.#turns.enqueue(turn.lane, turn.account_id, turn))
  }
}

const keyOf = ({ account_id, lane }: Turn) => `${lane} ${account_id}`

const millis = Effect.map(Clock.Clock, exactMillisOf)

const make = <Item>(statements: Statements<Item>, wakeup: Wakeup) => {
  const { claimOldest, claimTurns, lanes, paused = nonePaused, turnOf, waiting } = statements
  /** Undefined while all due rows fit into the room. */
  let backlog: Ring | undefined
  /** Monotonic: setting the machine's clock back must not hide new accounts. */
  let refreshAt = 0
  let isRefreshPlanned = false

  /** Whether it has read the accounts. */
  const refresh = Effect.fnUntraced(function*(ring: Ring, inFlight: ReadonlySet<Item>) {
    const before = yield* millis
    if (before < refreshAt && !ring.isEmpty) return false
    ring.replace(yield* waiting(inFlight))
    const after = yield* millis
    refreshAt = after + Math.min(refreshPause.max, Math.max(refreshPause.min, (after - before) * refreshPause.share))
    return true
  })

  /** Wakes the worker when the accounts may be read again: the row that woke it now may be of an unknown account. */
  const planRefresh = Effect.suspend(() => {
    if (isRefreshPlanned) return Effect.void
    isRefreshPlanned = true
    return Effect.asVoid(Effect.forkDetach(Effect.gen(function*() {
      yield* Effect.sleep(Math.max(0, refreshAt - (yield* millis)))
      isRefreshPlanned = false
      yield* wakeup.signal
    })))
  })

  const claimByTurns = Effect.fnUntraced(function*(ring: Ring, room: Room<Item>, pausedAccounts: ReadonlySet<number>) {
    const isFresh = yield* refresh(ring, room.inFlight)
    let claimed: ReadonlyArray<Item> = []
    // An account without due rows leaves the ring, so this ends.
    for (let hasEnded = true; hasEnded && claimed.length === 0;) {
      const turns = ring.allot(room, pausedAccounts)
      claimed = turns.length === 0 ? [] : yield* claimTurns(turns, room.inFlight)
      const byTurn = Map.groupBy(claimed, (item) => keyOf(turnOf(item)))
      const ended = turns.filter((turn) => (byTurn.get(keyOf(turn))?.length ?? 0) < turn.limit)
      for (const turn of ended) ring.remove(turn)
      hasEnded = ended.length > 0
    }
    if (ring.isEmpty) backlog = undefined
    else if (claimed.length === 0 && !isFresh) yield* planRefresh
    return claimed
  })

  /** Whether the claim used up its room in a lane, so that more rows may be due. */
  const isFull = (claimed: ReadonlyArray<Item>, limits: ReadonlyArray<number>) =>
    limits.some((most, lane) => most > 0 && claimed.filter((item) => turnOf(item).lane >= lane).length >= most)

  return Effect.fnUntraced(function*(room: Room<Item>) {
    const pausedAccounts = yield* paused
    // All of the oldest rows may be of the account that has the most in flight.
    const ofBusy = Array.from(room.inFlight, (item) => room.ofAccount(turnOf(item).account_id))
    const limit = Math.min(room.limit, room.accountLimit, ...ofBusy)
    if (pausedAccounts.size > 0 || limit < 1) backlog ??= new Ring(lanes)
    if (backlog !== undefined) {
      const claimed = yield* claimByTurns(backlog, room, pausedAccounts)
      if (claimed.length > 0 || backlog !== undefined || pausedAccounts.size > 0) return claimed
    }
    if (limit < 1) return []
    const limits = room.lanes.map((most) => Math.min(most, limit))
    const claimed = yield* claimOldest(limits, room.inFlight)
    if (isFull(claimed, limits)) backlog = new Ring(lanes)
    return claimed
  })
}

/**
 * Claims due rows of a queue so that accounts take turns, however many rows one of them has. While all due rows fit into
 * the room, the oldest ones are claimed. When more may be due, the accounts with due rows are read now and then, and each
 * claim names those whose turn it is. Both statements cost the same however long the queue is (docs/decisions/0046).
 */
export const FairClaims = { make }
