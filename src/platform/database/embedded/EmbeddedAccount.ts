import { Effect, Option } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"

/** The operating system account that the server runs as. PostgreSQL refuses to run as root. */
export interface EmbeddedAccount {
  readonly uid: number
  readonly gid: number
  /** Whether this process is root and must switch to the account to start the server. */
  readonly switched: boolean
}

/** Where root keeps the data if the server's account cannot reach the configured directory. */
export const systemDirectory = (dataDir: string) =>
  `/var/lib/embedded-postgres-${NodeCrypto.createHash("sha256").update(dataDir).digest("hex").slice(0, 12)}`

/**
 * The current account. For root: the owner of existing data, else `postgres`, else `nobody`. initdb requires an entry
 * in the passwd file, so an arbitrary id does not work.
 */
export const chooseAccount = Effect.fn("EmbeddedAccount.chooseAccount")(function*(dataDir: string) {
  const uid = NodeProcess.getuid?.()
  const gid = NodeProcess.getgid?.()
  if (uid === undefined || gid === undefined) {
    return yield* new EmbeddedPostgresUnavailable({
      step: "account",
      reason: "it runs on Linux and macOS only."
    })
  }
  if (uid !== 0) return { uid, gid, switched: false }
  const found = yield* EmbeddedPostgresUnavailable.attempt(
    "account",
    () => ownerOf(dataDir) ?? ownerOf(systemDirectory(dataDir)) ?? namedAccount()
  )
  if (found !== undefined) return { ...found, switched: true }
  return yield* new EmbeddedPostgresUnavailable({
    step: "account",
    reason: "PostgreSQL does not run as root, and /etc/passwd has neither 'postgres' nor 'nobody'. Add one of them."
  })
})

const ownerOf = (path: string) => {
  const stat = NodeFs.statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid }
}

const namedAccount = () => {
  const entries = NodeFs.readFileSync("/etc/passwd", "utf8").split("\n").map((line) => line.split(":"))
  for (const name of ["postgres", "nobody"]) {
    const entry = entries.find((fields) => fields[0] === name)
    if (entry !== undefined && Number(entry[2]) > 0) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  return undefined
}

/** The first directory of a path that the account may not walk through, if any. */
export const barrier = (path: string, account: EmbeddedAccount): Option.Option<string> => {
  if (!account.switched) return Option.none()
  for (let at = NodeFs.realpathSync(path);; at = NodePath.dirname(at)) {
    const stat = NodeFs.statSync(at)
    const bit = stat.uid === account.uid ? 0o100 : stat.gid === account.gid ? 0o010 : 0o001
    if (stat.isDirectory() && (stat.mode & bit) === 0) return Option.some(at)
    if (at === NodePath.dirname(at)) return Option.none()
  }
}
