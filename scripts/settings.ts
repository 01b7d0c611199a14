/**
 * Writes the settings of `src/platform/config/settings.ts` to `.env.example` and docs/settings.md.
 * `node scripts/settings.ts` writes both files; `--check` only names the files that are outdated.
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

/** The groups of settings. Each group reaches up to the first setting of the next one. */
const groups: ReadonlyArray<{ readonly title: string; readonly first: Setting<unknown> }> = [
  { title: "Mode and HTTP", first: settings.mode },
  { title: "Database and encryption", first: settings.databaseUrl },
  { title: "Cluster", first: settings.runnerHost },
  { title: "Outgoing mail", first: settings.smtpUrl },
  { title: "Bounces and complaints", first: settings.mailBounceDomain },
  { title: "WhatsApp", first: settings.whatsappUrl },
  { title: "SMS", first: settings.smsProvider },
  { title: "Webhooks", first: settings.webhookAllowLoopback },
  { title: "Retention", first: settings.contentRetentionDays },
  { title: "Logs, metrics and traces", first: settings.logLevel },
  { title: "Plans", first: settings.rateLimitStarter },
  { title: "Rate limits by client address", first: settings.rateLimitLogin },
  { title: "One-time codes", first: settings.otpLimitHour }
]

const membersOf = (index: number) => {
  const start = (at: number) => all.findIndex(({ name }) => name === groups[at]?.first.name)
  return all.slice(start(index), index + 1 < groups.length ? start(index + 1) : undefined)
}

/** A generated file differs from the settings. */
export class SettingsOutdated extends Schema.TaggedError<SettingsOutdated>()("SettingsOutdated", {
  files: Schema.Array(Schema.String)
}) {
  override get message() {
    return `Outdated: ${this.files.join(" and ")}. Run: node scripts/settings.ts`
  }
}

/** Quotes a value that a shell, systemd or `node --env-file` would not read as plain text. */
const quoted = (value: string) => /^[\w./:-]*$/.test(value) ? value : `"${value}"`

/** `.env.example`: every setting with its default, commented out. */
export const envExample = () =>
  [
    "# Every setting with its default. To change one, remove the # of its line. An empty value counts as unset.",
    "# Generated from src/platform/config/settings.ts by scripts/settings.ts.",
    ...groups.flatMap(({ title }, index) => [
      `\n## ${title}`,
      ...membersOf(index).map(({ fallback, meaning, name }) => `\n# ${meaning}\n#${name}=${quoted(fallback)}`)
    ])
  ].join("\n").concat("\n")

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

const row = ({ expects, fallback, meaning, name }: Setting<unknown>) =>
  `| \`${name}\` | ${fallback === "" ? "unset" : `\`${fallback}\``} | ${
    cell(expects.replace(/^a whole number from /, ""))
  } | ${cell(meaning)} |`

/** docs/settings.md: every setting in its group. */
export const settingsPage = () =>
  [
    "<!-- Generated from src/platform/config/settings.ts by scripts/settings.ts -->",
    "# Settings",
    "",
    "Set environment variables, or copy [.env.example](../.env.example) to `.env` in the directory of the service. An empty",
    "value counts as unset. A start with invalid values stops with one sentence for each. So does an unknown name in `.env`;",
    "a variable of the environment that looks like a misspelt setting is a warning.",
    "",
    "`npm run cli -- config` prints the settings in force with their origin, without secrets. `npm run cli -- doctor` checks them against the",
    "database, the relay, DNS, the carrier and WhatsApp. [Operations](operations.md) explains which ones production needs.",
    "",
    ...groups.flatMap(({ title }, index) => [
      `## ${title}`,
      "",
      "| Variable | Default | Values | Meaning |",
      "|---|---|---|---|",
      ...membersOf(index).map(row),
      ""
    ])
  ].join("\n")

const files = [
  { name: ".env.example", current: envExample },
  { name: "docs/settings.md", current: settingsPage }
]

const run = Effect.fnUntraced(function*({ check }: { readonly check: boolean }) {
  const fs = yield* FileSystem.FileSystem
  const outdated: Array<string> = []
  for (const { current, name } of files) {
    const path = NodePath.join(root, name)
    const text = (yield* fs.exists(path)) ? yield* fs.readFileString(path) : ""
    if (text === current()) continue
    outdated.push(name)
    if (!check) yield* Effect.andThen(fs.writeFileString(path, current()), Console.log(`wrote ${name}`))
  }
  if (check && outdated.length > 0) return yield* new SettingsOutdated({ files: outdated })
})

const command = Command.make(
  "settings",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Write nothing; fail if a file is outdated"),
      Flag.withDefault(false)
    )
  },
  run
).pipe(Command.withDescription("Write .env.example and docs/settings.md"))

if (import.meta.main) {
  const program = Command.run(command, { version: "0.1.0" }).pipe(
    Effect.tapErrorTag("SettingsOutdated", ({ message }) => Console.error(message)),
    Effect.provide(NodeServices.layer)
  )
  NodeRuntime.runMain(program, { disableErrorReporting: true })
}
