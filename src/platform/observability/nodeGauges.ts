import { monitorEventLoopDelay, performance } from "node:perf_hooks"
import { getHeapStatistics } from "node:v8"
import { counter, gauge, gaugesBy } from "./series.ts"

const gauges = {
  residentMemory: gauge("process_resident_memory_bytes", "Resident memory of this node"),
  memoryLimit: gauge("process_memory_limit_bytes", "Resident memory above which this node refuses new messages"),
  heapUsed: gauge("nodejs_heap_size_used_bytes", "Used heap of this node"),
  heapLimit: gauge("nodejs_heap_size_limit_bytes", "The most that the heap of this node may have"),
  startTime: gauge("process_start_time_seconds", "When this node started, in Unix seconds"),
  busy: gauge("nodejs_eventloop_utilization_ratio", "Share of the time since the last scrape in which JavaScript ran")
} as const

const lag = gaugesBy({
  name: "nodejs_eventloop_lag_seconds",
  description: "How late timers ran since the last scrape",
  label: "quantile",
  values: ["0.5", "0.99", "1"]
})

const cpu = counter("process_cpu_seconds_total", "Processor time of this node")

/** Measured in steps of this many milliseconds, which the delay includes. */
const resolution = 20

const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1000)

/** Reads what the process knows about itself. Each call starts a new time of measurement. */
export const makeNodeGauges = (memoryLimit: number) => {
  const delay = monitorEventLoopDelay({ resolution })
  delay.enable()
  // Zero, so that the first scrape has the processor time of the start.
  let since = { user: 0, system: 0 }
  let utilization = performance.eventLoopUtilization()
  gauges.memoryLimit(memoryLimit)
  gauges.startTime(performance.timeOrigin / 1000)
  return () => {
    const heap = getHeapStatistics()
    gauges.residentMemory(process.memoryUsage.rss())
    gauges.heapUsed(heap.used_heap_size)
    gauges.heapLimit(heap.heap_size_limit)
    const now = performance.eventLoopUtilization()
    gauges.busy(performance.eventLoopUtilization(now, utilization).utilization)
    utilization = now
    for (const quantile of ["0.5", "0.99", "1"] as const) {
      lag(
        quantile,
        delay.count === 0 ? 0 : seconds(quantile === "1" ? delay.max : delay.percentile(100 * Number(quantile)))
      )
    }
    delay.reset()
    const used = process.cpuUsage(since)
    since = process.cpuUsage()
    cpu((used.user + used.system) / 1e6)
  }
}
