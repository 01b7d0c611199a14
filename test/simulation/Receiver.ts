import { Effect } from "effect"
import type { Lease } from "../../src/platform/work/WorkPolicy.ts"
import type { Ranges } from "./Draw.ts"
import type { Simulation } from "./Simulation.ts"
import type { VirtualNode } from "./VirtualNode.ts"

/** What the receiving side does with an item. After `lost` the sender does not know whether it was accepted. */
export type Verdict = "accepted" | "refused" | "deferred" | "lost" | "unavailable"

/** One item on its way to the receiving side. */
export interface Attempt {
  readonly item: string
  /** Later claims of the row have higher numbers. */
  readonly claim: number
  readonly node: VirtualNode
  readonly hasLease: boolean
  /** When the node began to work on it, in Unix milliseconds. */
  readonly since: number
  /** When it began, in Unix milliseconds. */
  readonly from: number
  readonly verdict: Verdict
  acceptedAt: number | undefined
  hasEnded: boolean
}

/** A node that has opened the credentials with which it logs in. */
interface Login {
  readonly node: VirtualNode
  /** The epoch by which it owns the rows. */
  readonly epoch: number
  /** When it began to open them, in Unix milliseconds. */
  readonly from: number
}

type Verdicts = ReadonlyArray<readonly [weight: number, Verdict]>

interface Sent extends Pick<Attempt, "item" | "claim" | "node"> {
  readonly lease: Lease
  /** When the node began to work on it. By default, when it begins to connect. */
  readonly since?: number
  /** What the receiving side may do, each as likely as its weight. */
  readonly verdicts?: Verdicts
  readonly times?: Times
}

type Resume = (answer: Effect.Effect<Verdict>) => void

const anyVerdict: Verdicts = [
  [80, "accepted"],
  [6, "refused"],
  [5, "deferred"],
  [6, "lost"],
  [3, "unavailable"]
]

/** Those of a run in which the receiving side is often away. An attempt that finds it away is not counted. */
const oftenAway: Verdicts = [[1, "accepted"], [4, "unavailable"]]

/** After so many milliseconds it accepts everything, so that no back-off outlasts the run. */
const verdictTime = 30_000

/** In milliseconds. */
interface Times {
  /** How long each answer takes that a node waits for before it asks its lease. */
  readonly connect: Ranges
  /** How long the receiving side takes to answer. */
  readonly answer: Ranges
}

/** For so many answers a node waits while it connects. A node that was frozen goes on to wait for the rest of them. */
const connectSteps = 3

const atOnce: Ranges = [[1, 1, 100]]

/** Some attempts last longer than a lease. */
const times: Times = {
  connect: [[7, 0, 0], [3, 1, 2_000]],
  answer: [[5, 1, 100], [2, 100, 3_000], [3, 3_000, 14_000]]
}

/** Those of a run in which most attempts of a node overlap with those of the next owner. */
const slowTimes: Times = {
  connect: [[1, 0, 0], [3, 500, 3_000]],
  answer: [[1, 1, 100], [1, 100, 3_000], [8, 3_000, 14_000]]
}

/** Of an item that a node may send without a lease. */
export const noLease: Lease = { begin: () => true, isHeld: () => true }

/** The side that receives the items of all nodes: a relay, a provider, an endpoint. The seed decides what it does. */
export class Receiver {
  readonly attempts: Array<Attempt> = []
  readonly logins: Array<Login> = []
  readonly #simulation: Simulation
  readonly #strike: (node: VirtualNode) => Promise<unknown>
  readonly #verdicts: Verdicts
  readonly #times: Times

  /** `strike` may let a fault happen to a node at that moment. */
  constructor(simulation: Simulation, strike: (node: VirtualNode) => Promise<unknown>) {
    this.#simulation = simulation
    this.#strike = strike
    this.#verdicts = simulation.draw.pick([[2, anyVerdict], [1, oftenAway]])
    this.#times = simulation.draw.pick([[2, times], [1, slowTimes]])
  }

  /** Whether no answer is on its way to a node. */
  get isIdle(): boolean {
    return this.attempts.every(({ hasEnded, node }) => hasEnded || node.isDead)
  }

  /** In Unix milliseconds. */
  get now(): number {
    return this.#simulation.now
  }

  /** Receives one item. It asks the lease when the item leaves the node, and interrupts itself without one. */
  readonly receive = (sent: Sent): Effect.Effect<Verdict> =>
    Effect.callback<Verdict>((resume) => {
      const { since = this.now } = sent
      let attempt: Attempt | undefined
      const cancel = this.#connect(sent, () => {
        if (!sent.lease.begin()) return resume(Effect.interrupt)
        attempt = this.#begin(sent, since)
        this.#planAnswer(sent, attempt, resume)
      })
      return Effect.sync(() => {
        cancel()
        if (attempt !== undefined) attempt.hasEnded = true
      })
    })

  /** Waits for an answer of the receiving side that is not about an item. A fault can happen right before it. */
  readonly answer = (node: VirtualNode, times: Ranges): Effect.Effect<void> =>
    Effect.callback<void>((resume) => {
      const { draw } = this.#simulation
      const deliver = () => void this.#simulation.plan({ after: 1, on: node, run: () => resume(Effect.void) })
      return Effect.sync(this.#simulation.plan({
        after: draw.within(times),
        run: () => this.#strike(node).then(deliver)
      }))
    })

  /** Opens the credentials with which a node logs in. */
  readonly logIn = <A, E, R>(login: Omit<Login, "from">, opening: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const from = this.#simulation.now
      return Effect.tap(opening, () => Effect.sync(() => this.logins.push({ ...login, from })))
    })

  #connect({ node, times = this.#times }: Sent, done: () => void): () => void {
    const { draw } = this.#simulation
    let cancel = () => {}
    const step = (left: number): void => {
      if (left === 0) return done()
      cancel = this.#simulation.plan({ after: draw.within(times.connect), on: node, run: () => step(left - 1) })
    }
    step(connectSteps)
    return () => cancel()
  }

  #begin({ claim, item, lease, node, verdicts = this.#verdicts }: Sent, since: number): Attempt {
    const { draw, elapsed, now } = this.#simulation
    const attempt: Attempt = {
      item,
      claim,
      node,
      hasLease: lease !== noLease,
      since,
      from: now,
      verdict: elapsed < verdictTime ? draw.pick(verdicts) : "accepted",
      acceptedAt: undefined,
      hasEnded: false
    }
    this.attempts.push(attempt)
    this.#simulation.note(`${node.name} sends ${item} by claim ${claim}`)
    return attempt
  }

  #planAnswer({ times = this.#times }: Sent, attempt: Attempt, resume: Resume): void {
    const { draw } = this.#simulation
    const after = draw.within(attempt.verdict === "unavailable" ? atOnce : times.answer)
    this.#simulation.plan({ after, run: () => this.#decide(attempt, resume) })
  }

  /** A fault can happen right before the decision, and between the decision and its answer. */
  async #decide(attempt: Attempt, resume: Resume): Promise<void> {
    const { item, node, verdict } = attempt
    const { draw, now } = this.#simulation
    await this.#strike(node)
    if (attempt.hasEnded) return
    if (verdict === "accepted" || (verdict === "lost" && draw.chance(0.5))) attempt.acceptedAt = now
    this.#simulation.note(`${item} of ${node.name} is ${verdict}`)
    await this.#strike(node)
    this.#simulation.plan({
      after: draw.between(1, 30),
      on: node,
      run: () => {
        attempt.hasEnded = true
        resume(Effect.succeed(verdict))
      }
    })
  }
}
