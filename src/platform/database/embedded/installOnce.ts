import * as NodeFs from "node:fs"
import * as NodeFsPromises from "node:fs/promises"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

/**
 * Creates a directory that is either absent or complete. It is built beside the target and renamed, so a killed build
 * leaves no target. Of two concurrent builds, the second is discarded.
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

/** The new name must reach the disk before any file under it. */
const flush = async (directory: string) => {
  const handle = await NodeFsPromises.open(directory)
  await handle.sync().finally(() => handle.close())
}

const suffix = ".unfinished"
const abandonedAfterMillis = 600_000

/**
 * Removes unfinished builds of killed processes. It goes by age, because with several containers on one volume the
 * process id may belong to another container.
 */
export const removeAbandoned = (directory: string, nowMillis: number) => {
  for (const name of NodeFs.readdirSync(directory).filter((name) => name.endsWith(suffix))) {
    const path = NodePath.join(directory, name)
    const stat = NodeFs.statSync(path, { throwIfNoEntry: false })
    if (stat === undefined || nowMillis - stat.mtimeMs < abandonedAfterMillis) continue
    NodeFs.rmSync(path, { recursive: true, force: true })
  }
}
