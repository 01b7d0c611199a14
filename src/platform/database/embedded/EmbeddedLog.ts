import * as NodeFs from "node:fs"

const maxLogBytes = 10 * 1024 * 1024

/**
 * Keeps the server's log below about 20 MB by moving a long one to `.1`. The server appends to the file, so emptying it
 * is safe. Lines written at that moment may be lost.
 */
export const boundLog = (log: string) => {
  const size = NodeFs.statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size <= maxLogBytes) return
  NodeFs.copyFileSync(log, `${log}.1`)
  NodeFs.truncateSync(log)
}

/** The log's length: later output of the server starts there. */
export const logLength = (log: string) => NodeFs.statSync(log, { throwIfNoEntry: false })?.size ?? 0

/** The last lines that the server wrote after `from`. */
export const logSince = (log: string, from: number) =>
  NodeFs.existsSync(log)
    ? NodeFs.readFileSync(log).subarray(from).toString("utf8").trim().split("\n").slice(-6).join("\n")
    : ""
