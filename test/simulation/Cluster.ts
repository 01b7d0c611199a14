import type { Effect } from "effect"
import type { Ranges } from "./Draw.ts"
import type { Simulation } from "./Simulation.ts"
import { VirtualNode } from "./VirtualNode.ts"

/** What is special about the faults of a kind of work. */
export interface Faults {
  /** No fault begins after this many milliseconds. */
  readonly until?: number
  /** The most faults of a run. */
  readonly most?: number
  /** How likely each of them is, as a weight. */
  readonly mix?: Record<Fault, number>
  /** How likely a fault strikes a node that has just got rows or an answer. The seed picks one. */
  readonly busyChances?: ReadonlyArray<readonly [weight: number, chance: number]>
  /** How long a node may be frozen, in milliseconds. */
  readonly freezes?: Ranges
  /** How long no fault strikes at the start and after a fault, in milliseconds. By default one may follow at once. */
  readonly pauses?: Ranges
  /**
   * How long a node may go on before it learns that it has lost the shard, in milliseconds. By default it learns it at once,
   * or as soon as it goes on after a freeze.
   */
  readonly thawedFor?: number
}

interface Options {
  readonly places: number
  readonly faults: Faults | undefined
  readonly program: (node: VirtualNode) => Effect.Effect<unknown>
  /** Ends what the node, or every node, has open on the database. */
  readonly abandon: (node?: VirtualNode) => Promise<void>
}

const usualFreezes: Ranges = [[1, 200, 4_000], [5, 11_000, 22_000]]

/** No fault begins after this many milliseconds, by default. */
const usualUntil = 15_000

/** The most milliseconds that a wall clock is off. */
const maxSkew = 5_000

/** How long a dead node, and a silent one, keep their shards, in milliseconds. See docs/architecture.md. */
const shardTimeout = { dead: 3_000, silent: 12_000 }

/** How long an outage of the database lasts, in milliseconds: longer than any lease. */
const outages: Ranges = [[1, 10_500, 14_000]]

const faults = ["crash", "freeze", "cut", "stop", "clock", "unlock", "outage"] as const

type Fault = typeof faults[number]

export const usualMix: Record<Fault, number> = {
  crash: 3,
  freeze: 7,
  cut: 2,
  stop: 1,
  clock: 1,
  unlock: 0,
  outage: 0
}

/**
 * The nodes of a simulation. A node that ends starts again. One of them has the shard: another one gets it when the owner
 * is dead or silent for too long, and a silent owner loses it soon after it goes on. One that works may lose its lock.
 */
export class Cluster {
  readonly #simulation: Simulation
  readonly #options: Options
  /** Every start of a node. */
  readonly nodes: Array<VirtualNode> = []
  readonly #places: Array<VirtualNode> = []
  #owner: VirtualNode | undefined
  readonly #until: number
  #faultsLeft: number
  /** Until then no fault strikes, in milliseconds since the start. */
  #calmUntil = 0
  /** Until then the database is away, in milliseconds since the start. */
  #awayUntil = 0
  /** How likely a fault strikes a node that has just got rows or an answer. */
  readonly #busyChance: number

  constructor(simulation: Simulation, options: Options) {
    this.#simulation = simulation
    this.#options = options
    this.#until = options.faults?.until ?? usualUntil
    this.#faultsLeft = simulation.draw.between(1, options.faults?.most ?? 5)
    this.#busyChance = simulation.draw.pick(options.faults?.busyChances ?? [[3, 0.16], [1, 0.5]])
    this.#pause()
  }

  start(): void {
    for (let place = 0; place < this.#options.places; place++) this.#start(place, 1)
    this.#watchShard(0)
  }

  /** The nodes that are not dead, also those that are frozen. */
  get running(): ReadonlyArray<VirtualNode> {
    return this.#places.filter(({ isDead }) => !isDead)
  }

  /** Whether the database is away for all nodes. That excuses no node: each has what it needs to send nothing twice. */
  get isAway(): boolean {
    return this.#simulation.elapsed < this.#awayUntil
  }

  /** Whether no fault strikes any more, and all nodes work again. */
  get isCalm(): boolean {
    return !this.isAway && this.#simulation.elapsed > this.#until &&
      this.#places.every(({ isDead, isFrozen }) => !isDead && !isFrozen)
  }

  /** May crash, freeze or stop the node at this point. Returns true if its connection is cut. */
  async strike(node: VirtualNode, isBusy: boolean): Promise<boolean> {
    const { draw, elapsed } = this.#simulation
    if (node.isDead || node.isFrozen || this.#faultsLeft === 0) return false
    if (elapsed < this.#calmUntil || elapsed > this.#until) return false
    if (!draw.chance(isBusy ? this.#busyChance : 0.01)) return false
    this.#faultsLeft--
    this.#pause()
    const { freezes = usualFreezes, mix = usualMix, thawedFor = 0 } = this.#options.faults ?? {}
    const fault = draw.pick(faults.map((name) => [mix[name], name]))
    switch (fault) {
      case "crash":
        node.die("crashes")
        await this.#options.abandon(node)
        return false
      case "freeze":
        node.freeze(draw.within(freezes))
        return false
      case "cut":
        node.loseConnection()
        return true
      case "stop":
        node.stop()
        return false
      case "clock":
        node.setClock(draw.between(-maxSkew, maxSkew))
        return false
      case "unlock":
        // The connection that holds it is cut.
        if (node === this.#owner && this.#pass()) node.loseLock(draw.between(0, thawedFor))
        return false
      case "outage":
        this.#awayUntil = elapsed + draw.within(outages)
        this.#simulation.note(`the database is away until ${this.#awayUntil / 1000}`)
        await this.#options.abandon()
        return true
    }
  }

  #pause(): void {
    const { pauses } = this.#options.faults ?? {}
    if (pauses !== undefined) this.#calmUntil = this.#simulation.elapsed + this.#simulation.draw.within(pauses)
  }

  #start(place: number, time: number): void {
    const { draw } = this.#simulation
    const node = new VirtualNode(this.#simulation, {
      name: `${place + 1}.${time}`,
      skew: draw.between(-maxSkew, maxSkew),
      onEnd: () => this.#simulation.plan({ after: draw.between(100, 3_000), run: () => this.#start(place, time + 1) })
    })
    this.#places[place] = node
    this.nodes.push(node)
    node.start(this.#options.program(node))
  }

  /** Gives the shard to a node that works, when its owner has not worked for so long. */
  #watchShard(silentFor: number): void {
    const { draw } = this.#simulation
    const pause = 250
    const owner = this.#owner
    const isAway = owner === undefined || owner.isDead || owner.isFrozen
    const timeout = owner === undefined ? 0 : owner.isDead ? shardTimeout.dead : shardTimeout.silent
    if (isAway && silentFor >= timeout && this.#pass()) {
      const thawedFor = this.#options.faults?.thawedFor
      if (thawedFor === undefined) owner?.lose(draw.between(0, 200))
      else owner?.loseAfterThaw(draw.between(0, thawedFor))
    }
    const next = isAway && this.#owner === owner ? silentFor + pause : 0
    this.#simulation.plan({ after: pause, run: () => this.#watchShard(next) })
  }

  /** Gives the shard to another node that works, if there is one. A former owner gets it again once it knows its loss. */
  #pass(): boolean {
    const others = this.running.filter((node) => !node.hasShard && !node.isFrozen && !node.isStopping)
    if (others.length === 0) return false
    this.#owner = this.#simulation.draw.pick(others.map((node) => [1, node] as const))
    this.#owner.own()
    return true
  }
}
