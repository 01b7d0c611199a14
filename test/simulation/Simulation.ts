/**
 * A discrete-event simulation in one process. Everything that a virtual node waits for is an event at a virtual time: a
 * statement, its answer, a timer, the answer of a receiving side. One event runs at a time, and the fibers that it wakes
 * run until all of them wait again. The seed decides the delays and the order of simultaneous events, so it replays the
 * same schedule.
 */
import { Draw } from "./Draw.ts"

/** What the schedule knows about a node. */
export interface Host {
  readonly isDead: boolean
  /** Until then nothing happens on it. */
  readonly frozenUntil: number
}

interface Plan {
  /** In milliseconds. */
  readonly after: number
  /** The node that this happens on: the event waits while it is frozen, and vanishes when it is dead. */
  readonly on?: Host | undefined
  readonly run: () => void | Promise<void>
}

interface PlannedEvent extends Pick<Plan, "on" | "run"> {
  readonly at: number
  /** Decides between simultaneous events. */
  readonly order: number
}

/** When a simulation begins, in Unix milliseconds. */
const start = Date.UTC(2030, 0, 31, 9)

/** More events than any run needs. */
const maxEvents = 100_000

export class Simulation {
  readonly draw: Draw
  readonly trace: Array<string> = []
  #now = start
  #events: Array<PlannedEvent> = []
  #tasks: Array<() => void> = []

  constructor(seed: number) {
    this.draw = new Draw(seed)
  }

  /** Milliseconds since the epoch. */
  get now(): number {
    return this.#now
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return this.#now - start
  }

  note(text: string): void {
    this.trace.push(`${(this.elapsed / 1000).toFixed(3)} ${text}`)
  }

  /** Plans an event, and returns what cancels it. */
  plan({ after, on, run }: Plan): () => void {
    const event = { at: this.#now + Math.max(0, Math.ceil(after)), order: this.draw.next(), on, run }
    this.#add(event)
    return () => {
      const index = this.#events.indexOf(event)
      if (index >= 0) this.#events.splice(index, 1)
    }
  }

  /** Runs a task at the end of this event, after those before it. */
  enqueue(task: () => void): void {
    this.#tasks.push(task)
  }

  /** Runs events until there is a reason to stop. */
  async run(isDone: () => boolean): Promise<void> {
    for (let count = 0; count < maxEvents; count++) {
      for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) task()
      if (isDone()) return
      const event = this.#events.shift()
      if (event === undefined) throw new Error("nothing is left to happen")
      if (event.on?.isDead === true) continue
      const frozenUntil = event.on?.frozenUntil ?? 0
      if (frozenUntil > event.at) {
        this.#add({ ...event, at: frozenUntil })
        continue
      }
      this.#now = Math.max(this.#now, event.at)
      await event.run()
    }
    throw new Error("the run does not end")
  }

  #add(event: PlannedEvent): void {
    const index = this.#events.findIndex(({ at, order }) => at > event.at || (at === event.at && order > event.order))
    this.#events.splice(index < 0 ? this.#events.length : index, 0, event)
  }
}
