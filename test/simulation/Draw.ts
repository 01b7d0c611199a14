/** Ranges of integers, each as likely as its weight. */
export type Ranges = ReadonlyArray<readonly [weight: number, least: number, most: number]>

/** Pseudo-random draws (mulberry32): the same seed gives the same draws. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** At least 0, and less than 1. */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer, at least `least` and at most `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** An integer of one of the ranges, each as likely as its weight. */
  within(ranges: Ranges): number {
    const [least, most] = this.pick(ranges.map(([weight, ...range]) => [weight, range]))
    return this.between(least, most)
  }

  /** One of the choices, each as likely as its weight. */
  pick<A>(choices: ReadonlyArray<readonly [weight: number, choice: A]>): A {
    let rest = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, choice] of choices) {
      rest -= weight
      if (rest < 0) return choice
    }
    throw new RangeError("there is nothing to choose from")
  }
}
