import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"

/** Brings the database up to date and ends. `serve` does so too; this is for deployments that migrate first. */
export const migrateCommand = Command.make("migrate", {}, () =>
  Console.log("The database is up to date.").pipe(
    Effect.provide(Database.layer.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer)))
  )).pipe(Command.withDescription("Bring the database up to date and end"))
