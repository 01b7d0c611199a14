import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { shown } from "../../platform/config/Setting.ts"
import { settings } from "../../platform/config/settings.ts"

/** Prints every setting with the value in force, secrets masked. */
export const config = Command.make(
  "config",
  {},
  () =>
    Effect.forEach(
      Object.values(settings),
      (setting) => Effect.flatMap(shown(setting), (value) => Console.log(`${setting.name}=${value}`)),
      { discard: true }
    )
).pipe(Command.withDescription("Print the settings in force, secrets masked"))
