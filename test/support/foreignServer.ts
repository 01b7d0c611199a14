import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { chooseAccount } from "../../src/platform/database/embedded/EmbeddedAccount.ts"
import { openSession } from "../../src/platform/database/embedded/EmbeddedSession.ts"
import { programOptions, runProgram } from "../../src/platform/database/embedded/runProgram.ts"
import { eventually, longer } from "./waiting.ts"

/** Directory of the oldest PostgreSQL installed on the system (Debian's packages), if any. */
export const foreignPrograms = ["14", "15", "16", "17"]
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((directory) => NodeFs.existsSync(NodePath.join(directory, "initdb")))

/** Runs that PostgreSQL in a temporary directory until the scope closes and returns its socket's path. */
export const foreignServer = Effect.fn("foreignServer")(function*(programs: string) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "foreign-"))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  )
  const account = yield* chooseAccount(directory)
  NodeFs.chownSync(directory, account.uid, account.gid)
  const data = NodePath.join(directory, "data")
  const initdb = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
  yield* Effect.promise(() => runProgram(account, NodePath.join(programs, "initdb"), initdb))
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      NodeChildProcess.spawn(
        NodePath.join(programs, "postgres"),
        ["-D", data, "-k", directory, "-c", "listen_addresses=", "-c", "fsync=off"],
        { ...programOptions(account), stdio: "ignore" }
      )
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGINT")
      })
  )
  const socket = NodePath.join(directory, ".s.PGSQL.5432")
  yield* eventually(Effect.scoped(openSession(socket)), ({ state }) => state === "ready", longer.start)
  return socket
})
