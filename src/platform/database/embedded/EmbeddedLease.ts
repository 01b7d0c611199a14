import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import type { EmbeddedAccount } from "./EmbeddedAccount.ts"
import type { EmbeddedFiles } from "./EmbeddedFiles.ts"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"
import { programOptions, runProgram } from "./runProgram.ts"

/**
 * The server lives as long as somebody holds the lease, a named pipe. The kernel counts the holders, so that a process
 * that was killed with SIGKILL counts as gone.
 */
export const holdLease = Effect.fn("EmbeddedLease.holdLease")(function*(lease: string, account: EmbeddedAccount) {
  const make = `[ -p "$1" ] || mkfifo -m 600 "$1" || [ -p "$1" ]`
  yield* EmbeddedPostgresUnavailable.attempt("lease", () => runProgram(account, "/bin/sh", ["-c", make, "sh", lease]))
  yield* Effect.acquireRelease(
    // Read and write: opening a pipe for one of them alone would wait for the other side.
    EmbeddedPostgresUnavailable.attempt("lease", () => NodeFs.openSync(lease, NodeFs.constants.O_RDWR)),
    (descriptor) => Effect.sync(() => NodeFs.closeSync(descriptor))
  )
})

/** Tells cleaners of old files that the lease is in use. */
export const touchLease = (lease: string, nowMillis: number) =>
  NodeFs.utimesSync(lease, nowMillis / 1000, nowMillis / 1000)

/**
 * Runs the server and, beside it, a `cat` that ends with the last holder; then SIGINT, which is PostgreSQL's fast
 * shutdown. The pipe comes already open as descriptor 3: were it opened here, a holder killed in between would leave
 * the script waiting for another one, and the server running.
 */
const script = `
trap '' HUP INT
"$@" 3<&- & server=$!
( cat <&3 >/dev/null; kill -INT "$server" ) &
wait "$server"; code=$?
trap '' TERM; kill -TERM 0 2>/dev/null
exit $code`

/** A server process that this process has started. */
export interface StartedServer {
  readonly hasEnded: () => boolean
}

/**
 * Starts the server in a session of its own, so that neither Ctrl-C nor a closed terminal hits it. The lease has to be
 * held. Where another process's server is faster, this one ends by itself.
 */
export const startServer = (files: EmbeddedFiles, account: EmbeddedAccount, command: ReadonlyArray<string>) =>
  EmbeddedPostgresUnavailable.attempt("start", (): StartedServer => {
    const lease = NodeFs.openSync(files.lease, NodeFs.constants.O_RDONLY)
    const log = NodeFs.openSync(files.log, "a", 0o600)
    // The account itself may be the one to start the service next time.
    if (account.switched) NodeFs.fchownSync(log, account.uid, account.gid)
    const child = NodeChildProcess.spawn("/bin/sh", ["-c", script, "embedded-postgres", ...command], {
      ...programOptions(account),
      detached: true,
      stdio: ["ignore", log, log, lease]
    })
    NodeFs.closeSync(lease)
    NodeFs.closeSync(log)
    let ended = false
    const end = () => {
      ended = true
    }
    child.on("exit", end).on("error", end)
    child.unref()
    return { hasEnded: () => ended }
  })

/**
 * PostgreSQL clears the lock files of a process that is gone. It takes a zombie (a container whose first process reaps
 * nothing), or another program of the same account that got the number, for a living server: those are cleared here.
 */
export const dropStaleLocks = (files: EmbeddedFiles) =>
  Effect.sync(() => {
    const cluster = NodeFs.realpathSync(files.cluster)
    for (const file of [NodePath.join(cluster, "postmaster.pid"), `${files.socket}.lock`]) {
      if (isStale(file, cluster)) NodeFs.rmSync(file, { force: true })
    }
  })

const isStale = (lockFile: string, cluster: string) => {
  const pid = Number(textOf(lockFile)?.split("\n")[0])
  const stat = textOf(`/proc/${pid}/stat`)
  // No such process, which PostgreSQL sees itself; or no /proc (macOS).
  if (stat === undefined) return false
  if (!/\((postgres|postmaster)\) [^ZX]/.test(stat)) return true
  const directory = workingDirectory(pid)
  return directory !== undefined && directory !== cluster
}

const textOf = (path: string) => {
  try {
    return NodeFs.readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** A server works in its data directory. Root without CAP_SYS_PTRACE may not ask: then it counts as ours. */
const workingDirectory = (pid: number) => {
  try {
    return NodeFs.readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}
