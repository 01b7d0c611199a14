import { Effect, FileSystem, Layer, Option } from "effect"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

/** Also false for a process of another account, which cannot be the one that made a directory of ours. */
const isRunning = (pid: number) => Option.isSome(Option.liftThrowable(() => NodeProcess.kill(pid, 0))())

/** Removes the directories of this account's killed processes. */
const removeAbandoned = Effect.fnUntraced(function*(parent: string) {
  const fs = yield* FileSystem.FileSystem
  for (const name of yield* fs.readDirectory(parent)) {
    const [, pid] = /^messaging-(\d+)-\w{6}$/.exec(name) ?? []
    if (pid === undefined || isRunning(Number(pid))) continue
    const path = NodePath.join(parent, name)
    const { uid } = yield* fs.stat(path)
    if (Option.contains(uid, NodeProcess.getuid?.())) yield* fs.remove(path, { recursive: true })
  }
})

/**
 * A directory for this process's temporary files, as libraries find it (TMPDIR). Only this account can enter it. It is
 * removed with the scope; the next start removes what a kill has left.
 */
export const TemporaryFiles = Layer.effectDiscard(Effect.gen(function*() {
  const parent = NodeOs.tmpdir()
  yield* Effect.ignore(removeAbandoned(parent))
  const fs = yield* FileSystem.FileSystem
  // mkdtemp creates it with mode 700 and never takes an existing one.
  const directory = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: `messaging-${NodeProcess.pid}-` }))
  NodeProcess.env["TMPDIR"] = directory
  yield* Effect.addFinalizer(() => Effect.sync(() => void (NodeProcess.env["TMPDIR"] = parent)))
}))
