/**
 * Writes what the settings' table `src/platform/config/settings.ts` says to where people look for it: `.env.example`
 * and the table in README.md. `node scripts/settings.ts` writes, `--check` only says which file is not current.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as NodePath from "node:path"
import type { Setting } from "../src/platform/config/Setting.ts"
import { settings } from "../src/platform/config/settings.ts"

const root = NodePath.resolve(import.meta.dirname, "..")

const all: ReadonlyArray<Setting<unknown>> = Object.values(settings)

/** A file does not say what the settings' table says. */
export class SettingsOutdated extends Schema.TaggedError<SettingsOutdated>()("SettingsOutdated", {
  files: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.files.join(" and ")} not current. Run: node scripts/settings.ts`
  }
}

/** Quoted where a shell, systemd or `node --env-file` would stop reading or see more than text. */
const quoted = (value: string) => /^[\w./:-]*$/.test(value) ? value : `"${value}"`

/** `.env.example`: every setting with its default, commented out. */
export const envExample = () =>
  [
    "# Every setting with its default. Take out the # of a line to change it; an empty value counts as unset.",
    "# Made from src/platform/config/settings.ts by scripts/settings.ts.",
    ...all.map(({ fallback, meaning, name }) => `\n# ${meaning}\n#${name}=${quoted(fallback)}`)
  ].join("\n").concat("\n")

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

const row = ({ fallback, meaning, name }: Setting<unknown>) =>
  `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${cell(meaning)} |`

const table = () => ["| Variable | Default | Meaning |", "|---|---|---|", ...all.map(row)].join("\n")

const opening = "<!-- settings: made by scripts/settings.ts -->"
const closing = "<!-- /settings -->"

/** The README with the table in force between its two markers. */
export const withTable = (readme: string) => {
  const from = readme.indexOf(opening)
  const to = readme.indexOf(closing)
  return from < 0 || to < from ? readme : `${readme.slice(0, from)}${opening}\n${table()}\n${readme.slice(to)}`
}

const files = [
  { name: ".env.example", current: envExample },
  { name: "README.md", current: withTable }
]

const run = Effect.fnUntraced(function*({ check }: { readonly check: boolean }) {
  const fs = yield* FileSystem.FileSystem
  const outdated: Array<string> = []
  for (const { current, name } of files) {
    const path = NodePath.join(root, name)
    const text = (yield* fs.exists(path)) ? yield* fs.readFileString(path) : ""
    if (text === current(text)) continue
    outdated.push(name)
    if (!check) yield* Effect.andThen(fs.writeFileString(path, current(text)), Console.log(`wrote ${name}`))
  }
  if (check && outdated.length > 0) return yield* new SettingsOutdated({ files: outdated })
})

const command = Command.make(
  "settings",
  { check: Flag.Boolean("check").pipe(Flag.withDescription("Write nothing"), Flag.withDefault(false)) },
  run
).pipe(Command.withDescription("Write .env.example and the README's table of settings"))

if (import.meta.main) {
  const program = Command.run(command, { version: "0.1.0" }).pipe(
    Effect.tapErrorTag("SettingsOutdated", ({ message }) => Console.error(message)),
    Effect.provide(NodeServices.layer)
  )
  NodeRuntime.runMain(program, { disableErrorReporting: true })
}
