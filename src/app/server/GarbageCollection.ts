import { Effect, Layer } from "effect"
import { performance } from "node:perf_hooks"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** A collector of garbage, and the share of the time since it was last asked in which its thread was busy. */
interface Collector {
  readonly collect: () => void
  readonly busyShare: () => number
}

/** A node without work is busy for a third of this share of the time, or less. */
const idleShare = 0.1

/**
 * Returns memory to the system: what only the start needed, a third of it, and later what only a busy time needed. A
 * collection takes 0.2 seconds, so the first waits until a node that starts under load has caught up, and each later one
 * for half a minute in which hardly any work came.
 */
export const collectWhenIdle = Effect.fnUntraced(function*({ busyShare, collect }: Collector) {
  yield* Effect.sleep("5 seconds")
  collect()
  let hasWorked = false
  const look = Effect.sync(() => {
    const isBusy = busyShare() >= idleShare
    if (hasWorked && !isBusy) collect()
    hasWorked = isBusy
  })
  return yield* Effect.forever(Effect.delay(look, "30 seconds"))
})

/**
 * V8 lets its heap grow to between 1.3 and 4 times what is in use before it collects again: too little for few requests, and
 * too much under overload. Half more than what is in use suits both. V8's own collections for a process that it takes for idle
 * came between single requests, so there are none.
 */
const flags = ["--heap-growing-percent=50", "--memory-reducer-gc-count=0", "--expose-gc"]

const v8 = (): Collector => {
  for (const flag of flags) setFlagsFromString(flag)
  let last = performance.eventLoopUtilization()
  return {
    collect: () => void runInNewContext("gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })"),
    busyShare: () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, last)
      last = now
      return utilization
    }
  }
}

/** Sets when V8 collects garbage. */
export const GarbageCollection = Layer.effectDiscard(
  Effect.suspend(() => Effect.forkScoped(collectWhenIdle(v8())))
)
