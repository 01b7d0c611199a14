import { Clock, Context, Duration, Effect, type Fiber, Random, References, Scheduler } from "effect"
import type { Host, Simulation } from "./Simulation.ts"

/** A period of the virtual time, in milliseconds. */
interface Period {
  readonly from: number
  readonly to: number
}

/** How long a statement may be on its way to the database, in milliseconds. It runs also if its node has lost the shard. */
export const maxLatency = 4_000

interface Options {
  /** Its place in the cluster, and the number of its start there. */
  readonly name: string
  /** How far its wall clock is ahead of the database's, in milliseconds. */
  readonly skew: number
  readonly onEnd: () => void
}

/** What others make a node do. */
interface Controls {
  readonly wake: () => void
  /** Begins the work of the shard, and returns what ends it. */
  readonly own: () => () => void
}

/** One start of a node. Its fibers run only in events of the simulation, by its own clock. */
export class VirtualNode implements Host {
  readonly name: string
  /** When it did not work as it should. */
  readonly disturbances: Array<Period> = []
  /** When it worked as the owner of the shard. It learns of a loss some time later. */
  readonly ownerships: Array<{ readonly from: number; to: number }> = []
  isDead = false
  isStopping = false
  frozenUntil = 0
  readonly #simulation: Simulation
  readonly #onEnd: () => void
  #skew: number
  #fiber: Fiber.Fiber<unknown, unknown> | undefined
  #controls: Controls | undefined
  #hasShard = false
  #disown: (() => void) | undefined

  constructor(simulation: Simulation, { name, onEnd, skew }: Options) {
    this.#simulation = simulation
    this.name = name
    this.#skew = skew
    this.#onEnd = onEnd
  }

  get isFrozen(): boolean {
    return this.frozenUntil > this.#simulation.now
  }

  /** Whether it works as the owner of the shard, also while it does not know that it has lost it. */
  get hasShard(): boolean {
    return this.#hasShard
  }

  start(program: Effect.Effect<unknown>): void {
    this.#note("starts")
    const context = Context.make(Clock.Clock, this.#clock()).pipe(
      Context.add(Scheduler.Scheduler, this.#scheduler()),
      Context.add(Scheduler.PreventSchedulerYield, true),
      Context.add(Random.Random, this.#random()),
      Context.add(References.MinimumLogLevel, "None")
    )
    this.#fiber = Effect.runForkWith(context)(program)
    this.#fiber.addObserver(() => this.die("has stopped"))
  }

  /** Lets others make it do these. */
  control(controls: Controls): void {
    this.#controls = controls
    if (this.#hasShard) this.#disown = controls.own()
  }

  /** Wakes its workers, unless the wake-up gets lost. */
  wake(): void {
    if (!this.isDead && !this.isFrozen) this.#controls?.wake()
  }

  /** Gets the shard. */
  own(): void {
    this.#note("gets the shard")
    this.#hasShard = true
    this.ownerships.push({ from: this.#simulation.now, to: Number.POSITIVE_INFINITY })
    this.#disown = this.#controls?.own()
  }

  /** Loses the shard, so long after it goes on. */
  loseAfterThaw(after: number): void {
    this.#simulation.plan({ after: 0, on: this, run: () => this.lose(after) })
  }

  /** Loses the lock of the shard, which it learns so long after. */
  loseLock(after: number): void {
    this.#note("loses its lock")
    this.#disturb(this.#simulation.now + after)
    this.lose(after)
  }

  /** Loses the shard, as soon as it runs. */
  lose(after: number): void {
    this.#simulation.plan({
      after,
      on: this,
      run: () => {
        this.#note("loses the shard")
        this.#disturb(this.#simulation.now + maxLatency)
        this.#hasShard = false
        const ownership = this.ownerships.at(-1)
        if (ownership !== undefined) ownership.to = this.#simulation.now
        this.#disown?.()
      }
    })
  }

  /** Ends its program, which may finish what is in flight. */
  stop(): void {
    this.#note("shuts down")
    this.isStopping = true
    this.#disturb(Number.POSITIVE_INFINITY)
    this.#fiber?.interruptUnsafe()
  }

  /** Nothing happens on it from now on. */
  die(how: string): void {
    if (this.isDead) return
    this.#note(how)
    this.isDead = true
    this.#disturb(Number.POSITIVE_INFINITY)
    this.#onEnd()
  }

  /** Nothing happens on it for some time. */
  freeze(millis: number): void {
    this.#note(`freezes for ${millis} ms`)
    this.frozenUntil = this.#simulation.now + millis
    this.#disturb(this.frozenUntil)
  }

  /** It learns of it as late as of an answer. */
  loseConnection(): void {
    this.#note("loses its connection")
    this.#disturb(this.#simulation.now + maxLatency)
  }

  setClock(skew: number): void {
    this.#note(`has its clock set to ${skew} ms`)
    this.#skew = skew
    this.#disturb(this.#simulation.now)
  }

  #note(text: string): void {
    this.#simulation.note(`${this.name} ${text}`)
  }

  #disturb(to: number): void {
    this.disturbances.push({ from: this.#simulation.now, to })
  }

  #clock(): Clock.Clock {
    const simulation = this.#simulation
    const millis = () => simulation.now + this.#skew
    const nanos = () => BigInt(millis()) * 1_000_000n
    const monotonic = () => BigInt(simulation.elapsed) * 1_000_000n
    return {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) => Duration.isFinite(duration) ? this.#sleep(Duration.toMillis(duration)) : Effect.never
    }
  }

  #sleep(after: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) =>
      Effect.sync(this.#simulation.plan({ after, on: this, run: () => resume(Effect.void) }))
    )
  }

  #scheduler(): Scheduler.Scheduler {
    return new Scheduler.MixedScheduler("async", (run) => {
      let isCanceled = false
      this.#simulation.enqueue(() => {
        if (!isCanceled && !this.isDead) run()
      })
      return () => {
        isCanceled = true
      }
    })
  }

  #random() {
    const { draw } = this.#simulation
    return { nextDoubleUnsafe: draw.next, nextIntUnsafe: () => Math.floor(draw.next() * Number.MAX_SAFE_INTEGER) }
  }
}
