/** What the operator's and the users' command lines have in common. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Option, type Runtime } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag, type HelpDoc } from "effect/cli"
import manifest from "../../../package.json" with { type: "json" }

const formatter = CliOutput.defaultFormatter({ colors: false, globalFlags: "summary" })

/** Without the second list of choices, which would not fit 80 columns: the type or our description has them. */
const shortened = (flag: HelpDoc.FlagDoc): HelpDoc.FlagDoc => ({
  ...flag,
  type: flag.type.replace("|sh|pwsh>", ">"),
  description: Option.map(flag.description, (text) => text.replace(/ \(choices: .*\)$/, ""))
})

/** A section of examples that follows a list of commands comes without its empty line. */
const helpOf = (doc: HelpDoc.HelpDoc) =>
  formatter.formatHelpDoc({
    ...doc,
    flags: doc.flags.map(shortened),
    globalFlags: doc.globalFlags?.map(shortened) ?? []
  }).replace(/(?<!\n)\nEXAMPLES\n/, "\n\nEXAMPLES\n")

const asJson = (error: object) => JSON.stringify({ error })

/** A wrong command gets its error and the way to the help, which alone would fill the screen. */
const outputOf = (isJson: boolean) =>
  CliOutput.layerPresenter({
    present: (event) => {
      if (event._tag === "Help") return Console.log(helpOf(event.helpDoc))
      if (event._tag === "Version") return CliOutput.defaultPresenter.present(event)
      const message = event.errors.map(formatter.formatCliError).join("\n")
      const help = `${event.commandPath.join(" ")} --help`
      return Console.error(isJson ? asJson({ message, help }) : `${message}\n\nHelp: ${help}`)
    }
  })

/** Prints the error's own sentence, or the whole cause of an unexpected error. */
export const explain = (cause: Cause.Cause<unknown>, isJson: boolean) => {
  const failure = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(failure)) return Effect.void
  const known = failure instanceof Error && "_tag" in failure && failure.message !== ""
  const message = known ? failure.message : Cause.pretty(cause)
  return Console.error(isJson ? asJson({ ...Object(failure), message }) : message)
}

let isEndless = false

/** Marks a command that goes on until it is stopped (SIGTERM, Ctrl-C): then the stop is a success. */
export const endless = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    isEndless = true
    return effect
  })

/** 130 tells a script that a command was stopped before its end. Shells have it for Ctrl-C. */
const teardown = (isStoppable: () => boolean): Runtime.Teardown => (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(0)
  if (!Cause.hasInterruptsOnly(exit.cause)) return onExit(1)
  onExit(isStoppable() ? 0 : 130)
}

/** Runs the words of this process as a command of a tree. Users also get completions, and errors as JSON with `--json`. */
export const runProcess = <Name extends string, Input, ContextInput, E>(
  root: Command.Command<Name, Input, ContextInput, E, NodeServices.NodeServices>,
  { forUsers }: { readonly forUsers: boolean }
) => {
  const builtIns = [GlobalFlag.Help, GlobalFlag.Version, ...(forUsers ? [GlobalFlag.Completions] : [])]
  const isJson = forUsers && process.argv.includes("--json")
  const program = Command.run(root, { version: manifest.version }).pipe(
    Effect.provide([outputOf(isJson), CliConfig.layer({ builtIns }), NodeServices.layer]),
    Effect.tapCause((cause) => explain(cause, isJson))
  )
  // Each command of the operator ends with 0 when it is stopped, as the service does.
  NodeRuntime.runMain(program, { teardown: teardown(() => isEndless || !forUsers), disableErrorReporting: true })
}
