import { Effect, Redacted, Schema, Terminal } from "effect"
import { Prompt } from "effect/cli"

/** Standard input ended, or its first line is empty. */
class SecretMissing extends Schema.TaggedError<SecretMissing>()("SecretMissing", { name: Schema.String }) {
  override get message() {
    return `No ${this.name} was entered. Type it, or write it to standard input as one line.`
  }
}

/**
 * Reads a secret from the first line of standard input; a terminal asks for it and does not show it. A secret is no
 * argument, because all users of a machine can list the arguments of its processes.
 */
export const secretLine = Effect.fn("secretLine")(function*(name: string) {
  const terminal = yield* Terminal.Terminal
  const line = process.stdin.isTTY
    ? Prompt.run(Prompt.Password({ message: `The ${name}:` }))
    : Effect.map(terminal.readLine, (read) => Redacted.make(read))
  const secret = yield* Effect.catchTag(line, "QuitError", () => new SecretMissing({ name }))
  return Redacted.value(secret) === "" ? yield* new SecretMissing({ name }) : secret
})
