/**
 * A node's slices of the budgets of rate limits. A node takes a slice by one statement and spends it without another one.
 * A slice belongs to one minute of the database, and ends with it. Times are milliseconds of a clock that never goes back.
 */

/** A rate limit: a name such as `key:7`, and how many requests it admits in a minute. */
export interface Bucket {
  readonly name: string
  readonly limit: number
}

/** The state of a bucket after a request. */
export interface Usage {
  /** The number of the request in its minute. Above the limit, the request is refused. */
  readonly used: number
  /** The end of the minute, in Unix seconds. */
  readonly resetsAt: number
  /** Seconds until then, at least 1. */
  readonly secondsLeft: number
}

/** What the database says after it has counted a slice. */
export interface Taken {
  /** Requests of all nodes in this minute, with the slice. */
  readonly used: number
  readonly resetsAt: number
  readonly millisLeft: number
}

interface Take {
  readonly bucket: Bucket
  readonly waiting: number
  /** Requests that were counted. */
  readonly amount: number
  readonly taken: Taken
  /** A time before the statement ran. */
  readonly askedAt: number
}

/** Requests that a node counted and did not admit. */
export interface Rest {
  readonly name: string
  readonly resetsAt: number
  readonly amount: number
}

interface Slice {
  resetsAt: number
  endsAt: number
  /** The number of the last request that the slice admits, and how many requests before it are left. */
  last: number
  rest: number
  /** Requests that were counted above the limit. They are released, so that they take nothing from other nodes' rests. */
  owed: number
  /** Requests of the minute that the limit still admitted when the slice was taken. */
  left: number
  size: number
  takenAt: number
  spentAt: number
  /** The next slice is on its way. */
  isRenewed: boolean
}

/** A slice that lasted shorter was too small, one that lasted longer too large. So a node loses less than a second. */
const shortest = 250
const longest = 1_000

/**
 * A node takes at most this part of what is left, so that others find something too. Near the limit it takes single
 * requests.
 */
const part = 8

/** A smaller slice is used up before the next one is taken. Near the limit, a rest would be missing on other nodes. */
const renewable = 64

/** After this time without a request, the rest is released. */
const idle = 1_000

/** How long a node that was refused believes that nothing is left. Another node may release its rest. */
const refusedFor = 500

const usageOf = (slice: Slice, used: number, now: number): Usage => ({
  used,
  resetsAt: slice.resetsAt,
  secondsLeft: Math.max(1, Math.ceil((slice.endsAt - now) / 1_000))
})

/** Whether a request needs no statement: something is left, or surely nothing is. */
const covers = ({ endsAt, left, rest, takenAt }: Slice, now: number) =>
  now < endsAt && (rest > 0 || (left === 0 && now < takenAt + refusedFor))

export class RateSlices {
  readonly #slices = new Map<string, Slice>()

  /** Counts a request in each bucket, if that needs no statement. */
  spend(buckets: ReadonlyArray<Bucket>, now: number): ReadonlyArray<Usage> | undefined {
    const known: Array<Slice> = []
    for (const { name } of buckets) {
      const slice = this.#slices.get(name)
      if (slice === undefined || !covers(slice, now)) return undefined
      known.push(slice)
    }
    return known.map((slice, index) => {
      if (slice.rest === 0) return usageOf(slice, (buckets[index]?.limit ?? 0) + 1, now)
      slice.rest--
      slice.spentAt = now
      return usageOf(slice, slice.last - slice.rest, now)
    })
  }

  /** Whether to take the next slice now, so that no request has to wait for it. True once for each slice. */
  startsRenewal({ name }: Bucket, now: number): boolean {
    const slice = this.#slices.get(name)
    if (slice === undefined || slice.isRenewed || slice.size < renewable || now >= slice.endsAt) return false
    slice.isRenewed = slice.rest < slice.size / 4
    return slice.isRenewed
  }

  /** How many requests to count for some that wait. */
  wanted({ limit, name }: Bucket, waiting: number, now: number): number {
    const slice = this.#slices.get(name)
    if (slice === undefined) return waiting
    const isOver = now >= slice.endsAt
    const left = isOver ? limit : slice.left
    const lasted = now - slice.takenAt
    const size = lasted < shortest ? slice.size * 2 : lasted > longest ? slice.size / 2 : slice.size
    return Math.max(waiting, Math.floor(Math.min(size, left / part)) - (isOver ? 0 : slice.rest))
  }

  /** Answers the waiting requests from a slice, and keeps its rest. */
  take({ bucket: { limit, name }, amount, askedAt, taken, waiting }: Take): ReadonlyArray<Usage> {
    const before = taken.used - amount
    const admitted = Math.max(0, Math.min(amount, limit - before))
    const last = this.#slices.get(name)
    const isSameMinute = last?.resetsAt === taken.resetsAt
    const unspent = isSameMinute ? last.rest : 0
    const slice: Slice = {
      resetsAt: taken.resetsAt,
      endsAt: askedAt + taken.millisLeft,
      last: before + admitted,
      rest: unspent + Math.max(0, admitted - waiting),
      owed: amount - admitted + (isSameMinute ? last.owed : 0),
      left: Math.max(0, limit - taken.used),
      size: unspent + amount,
      takenAt: askedAt,
      spentAt: waiting === 0 && last !== undefined ? last.spentAt : askedAt,
      isRenewed: false
    }
    this.#slices.set(name, slice)
    return Array.from({ length: waiting }, (_, index) => usageOf(slice, before + 1 + index, askedAt))
  }

  /** Removes the rests of buckets without recent requests, and what was counted above a limit. */
  idleRests(now: number): ReadonlyArray<Rest> {
    return this.#rests(now, (slice) => now - slice.spentAt >= idle)
  }

  /** Removes every rest. */
  allRests(now: number): ReadonlyArray<Rest> {
    return this.#rests(now, () => true)
  }

  #rests(now: number, isOver: (slice: Slice) => boolean): ReadonlyArray<Rest> {
    const rests: Array<Rest> = []
    for (const [name, slice] of this.#slices) {
      const over = isOver(slice)
      const amount = slice.owed + (over ? slice.rest : 0)
      if (amount > 0 && now < slice.endsAt) rests.push({ name, resetsAt: slice.resetsAt, amount })
      slice.owed = 0
      if (over) this.#slices.delete(name)
    }
    return rests
  }
}
