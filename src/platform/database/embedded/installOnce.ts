import * as NodeFs from "node:fs"
import * as NodeFsPromises from "node:fs/promises"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

/**
 * Makes a directory that is either absent or complete: it is built beside its place and renamed, so a build that was
 * killed does not count, and of two processes that build at once the second throws its own away.
 */
export const installOnce = async (target: string, build: (directory: string) => Promise<void>) => {
  if (NodeFs.existsSync(target)) return
  const building = `${target}.${NodeProcess.pid}${suffix}`
  await NodeFsPromises.rm(building, { recursive: true, force: true })
  try {
    await build(building)
    await NodeFsPromises.rename(building, target)
    await flush(NodePath.dirname(target))
  } catch (cause) {
    await NodeFsPromises.rm(building, { recursive: true, force: true })
    if (!NodeFs.existsSync(target)) throw cause
  }
}

/** The new name itself has to reach the disk before anything that is written under it. */
const flush = async (directory: string) => {
  const handle = await NodeFsPromises.open(directory)
  await handle.sync().finally(() => handle.close())
}

const suffix = ".unfinished"
const abandonedAfterMillis = 600_000

/**
 * Removes the builds of processes that were killed. Their age tells, not the process id: with several containers on one
 * volume that may be another container's.
 */
export const removeAbandoned = (directory: string, nowMillis: number) => {
  for (const name of NodeFs.readdirSync(directory).filter((name) => name.endsWith(suffix))) {
    const path = NodePath.join(directory, name)
    const stat = NodeFs.statSync(path, { throwIfNoEntry: false })
    if (stat === undefined || nowMillis - stat.mtimeMs < abandonedAfterMillis) continue
    NodeFs.rmSync(path, { recursive: true, force: true })
  }
}
