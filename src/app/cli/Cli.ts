import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Console, Effect, Exit, Layer, type Runtime } from "effect"
import { CliError, Command } from "effect/cli"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { Logs } from "../../platform/observability/Logs.ts"
import { account } from "./account.ts"
import { config } from "./config.ts"
import { doctor } from "./doctor.ts"
import { migrateCommand } from "./migrate.ts"
import { prices } from "./prices.ts"
import { rotateKey } from "./rotateKey.ts"
import { serve } from "./serve.ts"
import { usage } from "./usage.ts"
import { webhook } from "./webhook.ts"

const root = Command.make("messaging").pipe(
  Command.withDescription("Self-hosted messaging: email, SMS, WhatsApp and codes out, signed webhooks back"),
  Command.withSubcommands([serve, migrateCommand, config, account, webhook, prices, doctor, rotateKey, usage])
)

/** One sentence for the operator; the whole cause only where no sentence was written for it. */
const explain = (cause: Cause.Cause<unknown>) => {
  const failure = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(failure)) return Effect.void
  const known = failure instanceof Error && "_tag" in failure && failure.message !== ""
  return Console.error(known ? failure.message : Cause.pretty(cause))
}

/** A file `.env` in the working directory speaks where the environment is silent. */
const DotEnv = ConfigProvider.layerAdd(
  ConfigProvider.fromDotEnv().pipe(Effect.orElseSucceed(() => ConfigProvider.fromUnknown({})))
)

/** The command line. */
export const program = Command.run(root, { version: "0.1.0" }).pipe(
  Effect.provide(Logs.pipe(
    Layer.provideMerge(AppConfig.layer),
    Layer.provideMerge(DotEnv),
    Layer.provideMerge(NodeServices.layer)
  )),
  Effect.tapCause(explain)
)

/** A stop that was asked for (SIGTERM, Ctrl-C) is a success. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
