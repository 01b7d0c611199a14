import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, FileSystem, Layer, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { Prices } from "../../pricing/Prices.ts"

/** The file is missing or not readable. */
class FileUnreadable extends Schema.TaggedError<FileUnreadable>()("FileUnreadable", { path: Schema.String }) {
  override get message() {
    return `${this.path} cannot be read.`
  }
}

/** Works on the database of a running node too. */
const Services = Prices.layer.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provideMerge(NodeServices.layer)
)

const importPrices = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("CSV with the header code,country,dial_prefix,price_usd")
    ),
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription("Remove every country that the file does not list"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ file, replace }) {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Effect.mapError(fs.readFileString(file), () => new FileUnreadable({ path: file }))
    const { changed, disabled, total } = yield* (yield* Prices).import(text, { replace })
    yield* Console.log(
      `Imported ${total} prices: ${changed} changed, ${total - changed} unchanged, ${disabled} removed.`
    )
  }, Effect.provide(Services))
).pipe(Command.withDescription("Import a list of SMS prices, entirely or not at all"))

export const prices = Command.make("prices").pipe(
  Command.withDescription("Change SMS prices"),
  Command.withSubcommands([importPrices])
)
