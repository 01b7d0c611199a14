import { Effect, Fiber, Ref, Schedule } from "effect"
import * as NodeFs from "node:fs"

/** Clock ticks of `/proc` in a second. Linux has no other value. */
const ticks = 100

/** Microseconds of processor time that a process has used. */
export const cpuOf = (pid: number): number => {
  const fields = NodeFs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 1e6 / ticks
}

/** Megabytes that a process has in memory. */
export const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(NodeFs.readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

/** The most megabytes that a process has in memory during an effect, sampled every half second. */
export const peakOf = Effect.fnUntraced(function*<A, E, R>(pid: number, work: Effect.Effect<A, E, R>) {
  const peak = yield* Ref.make(0)
  const sample = Ref.update(peak, (before) => Math.max(before, residentOf(pid)))
  const sampling = yield* Effect.forkChild(Effect.repeat(sample, Schedule.spaced("500 millis")))
  const result = yield* work
  yield* Fiber.interrupt(sampling)
  return { peak: yield* Ref.get(peak), result }
})
