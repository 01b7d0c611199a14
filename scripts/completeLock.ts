/**
 * Adds to package-lock.json the optional packages of platforms that the registry did not offer when the lock was made:
 * `npm install`, then `node scripts/completeLock.ts`.
 *
 * npm leaves such packages out of the lock without a word, and `npm ci` then refuses the lock wherever the registry does
 * offer them ("Missing: … from lock file"). Only platform packages with an exact version are added, so what they are is
 * known from their names; they have no integrity, since their bytes were never seen. docs/decisions/0009 says more.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Schema } from "effect"
import * as NodePath from "node:path"

const path = NodePath.resolve(import.meta.dirname, "../package-lock.json")

// Read as they stand, so that what is written differs from what was there by the added packages alone.
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

/** The entry of a platform package by its name (`@oxlint/binding-linux-x64-musl`); nothing when it is not one. */
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

/** Every optional package that the lock names and does not have: those that can be added, and the names of the others. */
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
    [...Object.entries(present), ...found].sort(([one], [other]) => one.localeCompare(other, "en"))
  )
  yield* fs.writeFileString(path, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
  yield* Console.log(`added ${found.size} packages of other platforms`)
  if (unclear.size > 0) yield* Console.log(`not known from their names: ${[...unclear].join(", ")}`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
