import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { DotEnv } from "../../platform/config/DotEnv.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { DatabaseOfMainKey, MainVault } from "../../platform/crypto/MainKey.ts"
import { rotateMainKey } from "../../platform/crypto/rotateMainKey.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { Logs } from "../../platform/observability/Logs.ts"
import { rebuildUsage } from "../../usage/rebuildUsage.ts"
import { pluralize } from "../../values/messageText.ts"
import { sealedColumns } from "../server/sealedColumns.ts"
import { runProcess } from "../shell/commandLine.ts"
import { account } from "./account.ts"
import { config } from "./config.ts"
import { consoleAccess } from "./consoleAccess.ts"
import { prices } from "./prices.ts"
import { restored } from "./restored.ts"
import { webhook } from "./webhook.ts"

/** The database of a running node too, or of none. */
const OnDatabase = Database.layer.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer))

/** Loads the node's program lazily, so that other commands start fast. */
const serve = Command.make(
  "serve",
  {},
  () => Effect.flatMap(Effect.promise(() => import("../server/runNode.ts")), ({ runNode }) => runNode)
).pipe(Command.withDescription("Run a node of the service: HTTP and actors, until Ctrl-C or SIGTERM"))

/** `serve` migrates too. This command is for deployments that migrate first. */
const migrate = Command.make("migrate", {}, () =>
  Console.log("The database is up to date.").pipe(
    Effect.provide(DatabaseOfMainKey.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer)))
  )).pipe(Command.withDescription("Migrate the database"))

/** Loads the checks lazily: they import every channel, which other commands need not wait for. */
const doctor = Command.make(
  "doctor",
  {},
  () => Effect.flatMap(Effect.promise(() => import("./diagnose.ts")), ({ diagnose }) => diagnose)
).pipe(
  Command.withDescription(
    "Check database, secrets, mail relay, bounces, links, DNS, SMS and WhatsApp"
  )
)

/** Provides the stored MAC keys, because none may be derived from the previous key after the rotation. */
const StoredMacKeys = MacKeys.layer.pipe(
  Layer.provideMerge(MainVault),
  Layer.provideMerge(OnDatabase)
)

const rotateKey = Command.make("rotate-key", {}, () =>
  Effect.gen(function*() {
    const { encryptionKeyPrevious } = yield* AppConfig
    yield* MacKeys
    const total = yield* rotateMainKey(sealedColumns, (column, count) => Console.log(`${column}: ${count}`))
    yield* Console.log(`Stored secrets rewrapped with ENCRYPTION_KEY: ${total}. No other key is in use.`)
    if (encryptionKeyPrevious !== undefined) yield* Console.log("You can remove ENCRYPTION_KEY_PREVIOUS now.")
  }).pipe(Effect.provide(StoredMacKeys))).pipe(
    Command.withDescription("Rewrap all stored secrets from ENCRYPTION_KEY_PREVIOUS to ENCRYPTION_KEY")
  )

const rebuild = Command.make(
  "rebuild",
  {},
  Effect.fnUntraced(function*() {
    const rows = yield* rebuildUsage
    yield* Console.log(`Recounted the usage of messages and codes: ${pluralize(rows, "row")}.`)
  }, Effect.provide(OnDatabase))
).pipe(Command.withDescription("Recount usage from the stored messages and codes; nodes may keep running"))

const usage = Command.make("usage").pipe(
  Command.withDescription("Maintain the usage counts"),
  Command.withSubcommands([rebuild])
)

/** The settings and the log, for the command that runs. Help and wrong options need neither. */
const Configured = Logs.pipe(Layer.provideMerge(AppConfig.layerWithDotEnv), Layer.provideMerge(DotEnv.layer))

/** Its name is what people type, so that they can paste the lines of its help. */
const root = Command.make("npm run cli --").pipe(
  Command.withDescription("Self-hosted messaging: email, SMS, WhatsApp and codes out, signed webhooks back"),
  Command.withSubcommands([
    serve,
    migrate,
    config,
    account,
    consoleAccess,
    webhook,
    prices,
    doctor,
    rotateKey,
    restored,
    usage
  ]),
  Command.provide(Configured)
)

/** Runs the command line as this process. */
export const run = () => runProcess(root, { forUsers: false })
