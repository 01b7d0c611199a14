import { Effect, Option } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { barrier, type EmbeddedAccount, systemDirectory } from "./EmbeddedAccount.ts"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"

/** Where the files of one embedded server are. The same data directory gives the same paths in every process. */
export interface EmbeddedFiles {
  readonly base: string
  /** Contains the major version in its name, because other versions cannot read it. */
  readonly cluster: string
  readonly log: string
  readonly socketDirectory: string
  readonly socket: string
  readonly lease: string
}

/**
 * A unix socket's path has at most 103 bytes on macOS and 107 on Linux. ".s.PGSQL." with the port and a margin are
 * added.
 */
const maxSocketDirectoryBytes = 84

const clusterName = "pg18"

/** Creates the directories, readable by the account only, and returns all paths. `dataDir` is absolute. */
export const prepareFiles = (dataDir: string, account: EmbeddedAccount, port: number) =>
  EmbeddedPostgresUnavailable.attempt("directories", (): EmbeddedFiles => {
    requireWritable(dataDir)
    makeParents(NodePath.dirname(dataDir), account)
    const base = placeOf(dataDir, account)
    ensureDirectory(base, account)
    const socketDirectory = socketDirectoryOf(base, account)
    ensureDirectory(socketDirectory, account)
    return {
      base,
      cluster: NodePath.join(base, clusterName),
      log: NodePath.join(base, "postgres.log"),
      socketDirectory,
      socket: NodePath.join(socketDirectory, `.s.PGSQL.${port}`),
      lease: NodePath.join(socketDirectory, "lease")
    }
  }).pipe(Effect.withSpan("EmbeddedFiles.prepareFiles"))

/** `f_type` of /proc and /sys. Below them Node's recursive mkdir never returns. */
const kernelFileSystems: ReadonlySet<number> = new Set([0x9fa0, 0x62656572])

/** Checks the nearest directory that exists, because Node reports a missing parent for one that is read-only. */
const requireWritable = (path: string): void => {
  const stat = NodeFs.statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return requireWritable(NodePath.dirname(path))
  if (!stat.isDirectory()) throw new Error(`${path} is not a directory.`)
  if (kernelFileSystems.has(NodeFs.statfsSync(path).type)) throw new Error(`${path} belongs to the kernel.`)
  NodeFs.accessSync(path, NodeFs.constants.W_OK)
}

/** The server's account must be able to walk through the directories, whatever the umask of root is. */
const makeParents = (path: string, account: EmbeddedAccount) => {
  const first = NodeFs.mkdirSync(path, { recursive: true })
  if (first === undefined || !account.switched) return
  for (let at = path; at.length >= first.length; at = NodePath.dirname(at)) NodeFs.chmodSync(at, 0o711)
}

const holdsData = (base: string) => NodeFs.existsSync(NodePath.join(base, clusterName))

/**
 * Another account than root cannot enter /root, so the data is then in the system's directory for such data. Existing
 * data decides first, so that a later `chmod` never starts the service on an empty database.
 */
const placeOf = (dataDir: string, account: EmbeddedAccount) => {
  if (!account.switched) return dataDir
  const blocked = barrier(NodePath.dirname(dataDir), account)
  const elsewhere = systemDirectory(dataDir)
  if (!holdsData(dataDir)) return holdsData(elsewhere) || Option.isSome(blocked) ? elsewhere : dataDir
  if (Option.isNone(blocked)) return dataDir
  throw new Error(
    `the data is in ${dataDir}, but account ${account.uid} cannot walk through ${blocked.value}. `
      + `Run: chmod o+x ${blocked.value}`
  )
}

const socketDirectoryOf = (base: string, account: EmbeddedAccount) => {
  const near = NodePath.join(base, "run")
  return Buffer.byteLength(near) <= maxSocketDirectoryBytes
    ? near
    : NodePath.join(NodeOs.tmpdir(), `pg-${account.uid}-${NodePath.basename(systemDirectory(base))}`)
}

/**
 * Creates a directory of mode 700, or checks that the account owns the existing one, because everyone can write to
 * /tmp.
 */
const ensureDirectory = (path: string, account: EmbeddedAccount) => {
  NodeFs.mkdirSync(path, { recursive: true, mode: 0o700 })
  const owner = () => {
    const stat = NodeFs.lstatSync(path)
    if (!stat.isDirectory()) throw new Error(`${path} is not a directory.`)
    return stat.uid
  }
  const fresh = () => account.switched && owner() === 0 && NodeFs.readdirSync(path).length === 0
  if (fresh()) NodeFs.chownSync(path, account.uid, account.gid)
  if (owner() !== account.uid) {
    throw new Error(
      `${path} belongs to account ${owner()}. Start as that account or as root, or choose another DATA_DIR.`
    )
  }
  NodeFs.chmodSync(path, 0o700)
}
