import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { rebuildUsage } from "../../usage/rebuildUsage.ts"
import { counted } from "../../values/counted.ts"

const Services = Database.layer.pipe(Layer.provide(DatabaseAddress.layer), Layer.provide(NodeServices.layer))

const rebuild = Command.make(
  "rebuild",
  {},
  Effect.fnUntraced(function*() {
    const rows = yield* rebuildUsage
    yield* Console.log(`The usage of messages and codes was counted anew: ${counted(rows, "row")}.`)
  }, Effect.provide(Services))
).pipe(Command.withDescription("Count the usage of messages and codes anew from the messages, beside running nodes"))

/** What accounts have used. */
export const usage = Command.make("usage").pipe(
  Command.withDescription("See to the counts of what accounts use"),
  Command.withSubcommands([rebuild])
)
