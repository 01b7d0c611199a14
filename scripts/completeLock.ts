/**
 * Completes package-lock.json: run `npm install`, then `node scripts/completeLock.ts`. It adds missing platform packages,
 * and removes the Node versions that packages want.
 *
 * npm compares these versions with its own Node, and warns. The packages run on the installed Node 24.
 *
 * npm silently omits optional packages that the registry did not offer. `npm ci` then rejects the lock wherever the
 * registry offers them ("Missing: … from lock file"). The script adds only platform packages with an exact version,
 * because their names tell their platform. The entries have no integrity, since the script does not download the
 * packages. See docs/decisions/0009.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Schema } from "effect"
import * as NodePath from "node:path"

const path = NodePath.resolve(import.meta.dirname, "../package-lock.json")

// Unknown fields stay as they are, so that the written lock differs only by the added packages.
const Lock = Schema.Record(Schema.String, Schema.Unknown)
const Packages = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown))
type Packages = typeof Packages.Type

const Parent = Schema.Struct({
  optionalDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  dev: Schema.optionalKey(Schema.Boolean)
})

const systems = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"]
const processors = ["arm64", "arm", "ia32", "loong64", "ppc64", "riscv64", "s390x", "x64"]
const libraries: Readonly<Record<string, string>> = {
  musl: "musl",
  musleabihf: "musl",
  glibc: "glibc",
  gnu: "glibc",
  gnueabihf: "glibc"
}

/**
 * The entry of a platform package, read from its name (`@oxlint/binding-linux-x64-musl`); undefined for other packages.
 */
const entryOf = (name: string, version: string, dev: boolean): Packages[string] | undefined => {
  const parts = name.split(/[/-]/)
  const os = systems.find((system) => parts.includes(system))
  const cpu = processors.find((processor) => parts.includes(processor))
  if (os === undefined || cpu === undefined || !/^\d/.test(version)) return undefined
  const libc = parts.map((part) => libraries[part]).find((library) => library !== undefined)
  return {
    version,
    cpu: [cpu],
    ...(dev && { dev }),
    ...(libc !== undefined && { libc: [libc] }),
    optional: true,
    os: [os]
  }
}

/** The optional packages without an entry in the lock: new entries, and the names that tell no platform. */
const missing = Effect.fnUntraced(function*(packages: Packages) {
  const found = new Map<string, Packages[string]>()
  const unclear = new Set<string>()
  for (const [parent, entry] of Object.entries(packages)) {
    const { dev, optionalDependencies = {} } = yield* Schema.decodeEffect(Parent)(entry)
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const place = `node_modules/${name}`
      if (packages[place] !== undefined || packages[`${parent}/${place}`] !== undefined) continue
      const added = entryOf(name, version, dev === true)
      if (added === undefined) unclear.add(name)
      else found.set(place, added)
    }
  }
  return { found, unclear }
})

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const lock = yield* Schema.decodeEffect(Schema.fromJsonString(Lock))(yield* fs.readFileString(path))
  const present = yield* Schema.decodeUnknownEffect(Packages)(lock["packages"])
  const { found, unclear } = yield* missing(present)
  const packages = Object.fromEntries(
    [...Object.entries(present), ...found]
      .sort(([one], [other]) => one.localeCompare(other, "en"))
      .map(([place, { engines, ...entry }]) => [place, place === "" ? { ...entry, engines } : entry])
  )
  yield* fs.writeFileString(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
  yield* Console.log(`added ${found.size} packages of other platforms`)
  if (unclear.size > 0) yield* Console.log(`names without a platform: ${[...unclear].join(", ")}`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
