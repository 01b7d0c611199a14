import { Effect } from "effect"
import type { Lease } from "../../src/platform/work/WorkPolicy.ts"
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
  /** When it began, in Unix milliseconds. */
  readonly from: number
  readonly verdict: Verdict
  acceptedAt: number | undefined
  hasEnded: boolean
}

type Verdicts = ReadonlyArray<readonly [weight: number, Verdict]>

interface Sent extends Pick<Attempt, "item" | "claim" | "node"> {
  readonly lease: Lease
  /** What the receiving side may do, each as likely as its weight. */
  readonly verdicts?: Verdicts
}

type Resume = (answer: Effect.Effect<Verdict>) => void

const anyVerdict: Verdicts = [
  [80, "accepted"],
  [6, "refused"],
  [5, "deferred"],
  [6, "lost"],
  [3, "unavailable"]
]

/** After so many milliseconds it accepts everything, so that no back-off outlasts the run. */
const verdictTime = 30_000

/** How long it takes to answer, in milliseconds. Some attempts last longer than a lease. */
const durations = [[5, 1, 100], [2, 100, 3_000], [3, 3_000, 14_000]] as const

/** The side that receives the items of all nodes: a relay, a provider, an endpoint. The seed decides what it does. */
export class Receiver {
  readonly attempts: Array<Attempt> = []
  readonly #simulation: Simulation
  readonly #strike: (node: VirtualNode) => Promise<unknown>

  /** `strike` may let a fault happen to a node at that moment. */
  constructor(simulation: Simulation, strike: (node: VirtualNode) => Promise<unknown>) {
    this.#simulation = simulation
    this.#strike = strike
  }

  /** Whether no answer is on its way to a node. */
  get isIdle(): boolean {
    return this.attempts.every(({ hasEnded, node }) => hasEnded || node.isDead)
  }

  /** Receives one item. It asks the lease when the item leaves the node, and interrupts itself without one. */
  readonly receive = ({ claim, item, lease, node, verdicts = anyVerdict }: Sent): Effect.Effect<Verdict> =>
    Effect.callback<Verdict>((resume) => {
      if (!lease.begin()) return resume(Effect.interrupt)
      const { draw, elapsed, now } = this.#simulation
      const attempt: Attempt = {
        item,
        claim,
        node,
        from: now,
        verdict: elapsed < verdictTime ? draw.pick(verdicts) : "accepted",
        acceptedAt: undefined,
        hasEnded: false
      }
      this.attempts.push(attempt)
      this.#simulation.note(`${node.name} sends ${item} by claim ${claim}`)
      this.#simulation.plan({ after: draw.within(durations), run: () => this.#decide(attempt, resume) })
      return Effect.sync(() => {
        attempt.hasEnded = true
      })
    })

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
