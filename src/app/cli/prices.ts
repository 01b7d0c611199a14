import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { Prices } from "../../pricing/Prices.ts"

/** The file is not there, or may not be read. */
class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", { path: Schema.String }) {
  override get message() {
    return `${this.path} cannot be read.`
  }
}

/** The prices, on the database that a running node uses as well. */
const Services = Prices.layer.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provideMerge(NodeServices.layer)
)

const take = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("CSV with the header code,country,dial_prefix,price_usd")
    ),
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription("Take every country off the list that the file does not have"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ file, replace }) {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fs.readFileString(file), () => new FileUnreadable({ path: file }))
    const { changed, disabled, total } = yield* (yield* Prices).import(text, { replace })
    yield* Console.log(
      `${total} prices read: ${changed} changed, ${total - changed} as before, ${disabled} taken off the list.`
    )
  }, Effect.provide(Services))
).pipe(Command.withDescription("Take a list of SMS prices, as a whole or not at all"))

/** Prices of SMS, beside a running node or without one. */
export const prices = Command.make("prices").pipe(
  Command.withDescription("Change the prices of SMS"),
  Command.withSubcommands([take])
)
