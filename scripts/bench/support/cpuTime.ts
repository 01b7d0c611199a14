/** Processor time of processes, by the scheduler's figures in /proc. Other systems have none. */
import * as NodeFs from "node:fs"

const namesIn = (directory: string) => NodeFs.existsSync(directory) ? NodeFs.readdirSync(directory) : []

const read = (file: string) => {
  try {
    return NodeFs.readFileSync(file, "latin1")
  } catch {
    // It ended meanwhile.
    return ""
  }
}

/** Microseconds on a processor of all threads of a process. */
export const cpuOf = (pid: number): number =>
  namesIn(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0] ?? 0) / 1000,
    0
  )

const parentOf = (pid: string) => Number(/\) \S (\d+)/.exec(read(`/proc/${pid}/stat`))?.[1])

/** Microseconds of the children of a process, such as the sessions of a PostgreSQL server. */
export const cpuOfChildren = (pid: number): number =>
  namesIn("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .reduce((sum, child) => sum + cpuOf(Number(child)), 0)
