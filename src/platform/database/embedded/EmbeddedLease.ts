import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import type { EmbeddedAccount } from "./EmbeddedAccount.ts"
import type { EmbeddedFiles } from "./EmbeddedFiles.ts"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"
import { programOptions, runProgram } from "./runProgram.ts"

/**
 * The server runs while at least one process holds the lease, a named pipe. The kernel counts the holders, so a process
 * killed with SIGKILL no longer counts.
 */
export const holdLease = Effect.fn("EmbeddedLease.holdLease")(function*(lease: string, account: EmbeddedAccount) {
  const make = `[ -p "$1" ] || mkfifo -m 600 "$1" || [ -p "$1" ]`
  yield* EmbeddedPostgresUnavailable.attempt("lease", () => runProgram(account, "/bin/sh", ["-c", make, "sh", lease]))
  yield* Effect.acquireRelease(
    // Opens it for reading and writing: either alone would wait for the other side.
    EmbeddedPostgresUnavailable.attempt("lease", () => NodeFs.openSync(lease, NodeFs.constants.O_RDWR)),
    (descriptor) => Effect.sync(() => NodeFs.closeSync(descriptor))
  )
})

/** Marks the lease as in use for cleaners of old files. */
export const touchLease = (lease: string, nowMillis: number) =>
  NodeFs.utimesSync(lease, nowMillis / 1000, nowMillis / 1000)

/**
 * Runs the server and, beside it, a `cat` that ends with the last holder; then it sends SIGINT, PostgreSQL's fast
 * shutdown. Descriptor 3 is the pipe, already open: if the script opened it, a holder killed in between would leave the
 * script waiting and the server running.
 */
const script = `
trap '' HUP INT
"$@" 3<&- & server=$!
( cat <&3 >/dev/null; kill -INT "$server" ) &
wait "$server"; code=$?
trap '' TERM; kill -TERM 0 2>/dev/null
exit $code`

/** A server process that this process started. */
export interface StartedServer {
  readonly hasEnded: () => boolean
}

/**
 * Starts the server in a new process session, so that neither Ctrl-C nor a closed terminal reaches it. The caller must
 * hold the lease. If another process's server is faster, this one ends.
 */
export const startServer = (files: EmbeddedFiles, account: EmbeddedAccount, command: ReadonlyArray<string>) =>
  EmbeddedPostgresUnavailable.attempt("start", (): StartedServer => {
    const lease = NodeFs.openSync(files.lease, NodeFs.constants.O_RDONLY)
    const log = NodeFs.openSync(files.log, "a", 0o600)
    // The account itself may be the one that starts the service next time.
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
 * PostgreSQL removes lock files of processes that no longer exist. It mistakes a zombie, or another program with the
 * same process id and account, for a living server; this function removes those files. Zombies remain in containers
 * whose first process does not reap them.
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
  // The process does not exist, which PostgreSQL detects itself, or there is no /proc (macOS).
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

/**
 * A server works in its data directory. Root without CAP_SYS_PTRACE may not read it, so the process then counts as a
 * server.
 */
const workingDirectory = (pid: number) => {
  try {
    return NodeFs.readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined
  }
}
