/** What the operator's and the users' command lines have in common. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, type Runtime } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import manifest from "../../../package.json" with { type: "json" }

const formatter = CliOutput.defaultFormatter({ colors: false })

/** A wrong command gets its error and the way to the help, which alone would fill the screen. */
const Output = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
        [
          ...event.errors.map(formatter.formatCliError),
          "",
          `Help: ${event.commandPath.join(" ")} --help`
        ].join("\n")
      )
      : CliOutput.defaultPresenter.present(event)
})

/** Prints the error's own sentence, or the whole cause of an unexpected error. */
const explain = (cause: Cause.Cause<unknown>, isJson: boolean) => {
  const failure = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(failure)) return Effect.void
  const known = failure instanceof Error && "_tag" in failure && failure.message !== ""
  const message = known ? failure.message : Cause.pretty(cause)
  return Console.error(isJson ? JSON.stringify({ error: { ...Object(failure), message } }) : message)
}

/** A requested stop (SIGTERM, Ctrl-C) is a success. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)

/** Runs the words of this process as a command of a tree. Users also get completions, and errors as JSON with `--json`. */
export const runProcess = <Name extends string, Input, ContextInput, E>(
  root: Command.Command<Name, Input, ContextInput, E, NodeServices.NodeServices>,
  { forUsers }: { readonly forUsers: boolean }
) => {
  const builtIns = [GlobalFlag.Help, GlobalFlag.Version, ...(forUsers ? [GlobalFlag.Completions] : [])]
  const program = Command.run(root, { version: manifest.version }).pipe(
    Effect.provide([Output, CliConfig.layer({ builtIns }), NodeServices.layer]),
    Effect.tapCause((cause) => explain(cause, forUsers && process.argv.includes("--json")))
  )
  NodeRuntime.runMain(program, { teardown, disableErrorReporting: true })
}
