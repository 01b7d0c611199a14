import { Console, Context, Effect, FileSystem, Layer, Option, Path, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeProcess from "node:process"
import { styleText } from "node:util"
import { Accounts } from "../../accounts/Accounts.ts"
import { firstAddress } from "../../accounts/FirstOperator.ts"
import { ApiKeys } from "../../api-keys/ApiKeys.ts"
import { People } from "../../people/People.ts"
import { setupLinkOf, SetupLinks } from "../../people/SetupLinks.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { upstreams } from "../../platform/config/Upstreams.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import * as Query from "../../platform/database/Query.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { SandboxToken } from "../../sandbox/pages/SandboxToken.ts"

/** Plain without a terminal, and where NO_COLOR is set. */
const bold = (text: string) => styleText("bold", text, { stream: NodeProcess.stdout })
const address = (text: string) => styleText(["cyan", "underline"], text, { stream: NodeProcess.stdout })
const command = (text: string) => styleText("green", text, { stream: NodeProcess.stdout })

/**
 * Creates the first account, if there is none, and returns its key. Of several nodes that start at once, one creates it.
 * `hold` runs before the commit: after a kill between the two the next start makes another key.
 */
const firstAccount = Effect.fnUntraced(function*<E, R>(hold: (key: string) => Effect.Effect<void, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const accounts = yield* Accounts
  const keys = yield* ApiKeys
  return yield* transaction(Effect.gen(function*() {
    yield* Query.run(sql`lock table accounts in share row exclusive mode`)
    if ((yield* accounts.list).length > 0) return undefined
    const account = yield* Effect.orDie(accounts.create({
      name: "First account",
      email: firstAddress,
      plan: "business",
      trial: false
    }))
    const { key } = yield* Effect.orDie(keys.create(account.id, { name: "First key" }))
    yield* hold(key)
    return key
  }))
})

const firstMail = (base: string, key: string) =>
  `curl ${base}/v1/email/send -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' `
  + `-d '{"to":"ada@example.com","subject":"Hello","text":"It works."}'`

const tour = (base: string, key: string) =>
  `${bold("Your API key, shown only now:")}

  ${key}

${bold("Send a mail, in another terminal:")}

  ${command(firstMail(base, key))}
`

/** Writes a secret where this account alone reads it: a log would keep it for good. */
const keep = Effect.fnUntraced(function*(name: string, secret: string, what: string) {
  const fs = yield* FileSystem.FileSystem
  const { dataDir } = yield* AppConfig
  const path = (yield* Path.Path).resolve(dataDir, name)
  yield* fs.makeDirectory(dataDir, { recursive: true })
  yield* fs.remove(path, { force: true })
  yield* fs.writeFileString(path, `${secret}\n`, { mode: 0o600 })
  yield* Effect.logInfo(`${what} is in ${path}`)
})

/** A link for the first operator, until there is one. */
const setupLink = Effect.fnUntraced(function*(base: string) {
  const { console } = yield* AppConfig
  const { hasOperator } = yield* People
  if (console === "off" || (yield* hasOperator)) return undefined
  return setupLinkOf(base, yield* (yield* SetupLinks).make)
})

/**
 * The page of the service, which only this machine sees in development; else the sandbox. The link holds the sandbox's
 * token, if a channel uses the sandbox.
 */
const homeLink = Effect.gen(function*() {
  const { mode, sandboxAllow } = yield* AppConfig
  const path = mode === "development" && sandboxAllow === undefined ? "/" : "/sandbox"
  const { token } = yield* SandboxToken
  const { local } = yield* PublicUrl
  const isSandbox = Object.values(yield* upstreams).includes("sandbox")
  return isSandbox && Option.isSome(token) ? `${local}${path}?token=${Redacted.value(token.value)}` : undefined
})

/** An image has no file system to write to, and serves without the console being set up. */
const keepSetupLink = (link: string) =>
  keep("setup-link", link, "the link to set up the console").pipe(
    Effect.catch(() =>
      Effect.logWarning(
        "the link to set up the console cannot be written to DATA_DIR; the command `console setup-link` prints one"
      )
    )
  )

const keepFirstKey = (key: string) => Effect.orDie(keep("first-key", key, "the first API key"))

/**
 * The way in: one link. Until there is an operator, it is the link of the setup. On the first start of an embedded database,
 * an API key and a command to paste follow. Without a terminal, link and key are in files, which are written before the
 * server answers its first request.
 */
export class Welcome extends Context.Service<Welcome, {
  readonly show: Effect.Effect<void>
}>()("messaging-service/app/server/Welcome") {
  static readonly layer = Layer.effect(
    Welcome,
    Effect.gen(function*() {
      const { base } = yield* PublicUrl
      const { isEmbedded } = yield* DatabaseAddress
      const { isTTY } = NodeProcess.stdout
      const key = isEmbedded ? yield* firstAccount((made) => isTTY ? Effect.void : keepFirstKey(made)) : undefined
      const setup = yield* setupLink(base)
      if (!isTTY && setup !== undefined) yield* keepSetupLink(setup)
      const home = yield* homeLink
      const link = isTTY && setup !== undefined ? setup : home
      const show = Effect.gen(function*() {
        if (link !== undefined) {
          yield* Console.log(`\n${bold("Open in a browser on this machine:")}\n\n  ${address(link)}\n`)
        }
        if (key === undefined && isEmbedded) yield* Console.log("Another API key: npm run cli -- account key 1\n")
        if (key !== undefined && isTTY) yield* Console.log(tour(base, key))
      })
      return Welcome.of({ show })
    })
  )
}
