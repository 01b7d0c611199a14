import { Console, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { secretLine } from "../shell/secretLine.ts"
import { webhookListener } from "../shell/webhookListener.ts"

/** No webhook has the entered text as its secret, so every delivery would be refused. */
class SecretMalformed extends Schema.TaggedError<SecretMalformed>()("SecretMalformed", {}) {
  override get message() {
    return "A webhook's secret is whsec_ and 44 characters. Copy it whole from the answer that created the webhook."
  }
}

const secretOfWebhook = Effect.filterOrFail(
  secretLine("secret of the webhook"),
  (secret) => /^whsec_[A-Za-z0-9+/]{43}=$/.test(Redacted.value(secret)),
  () => new SecretMalformed()
)

const listen = Command.make(
  "listen",
  {
    port: Flag.Int("port").pipe(Flag.withDescription("Port on 127.0.0.1"), Flag.withDefault(9000)),
    verifies: Flag.Boolean("secret-stdin").pipe(
      Flag.withDescription("Read the webhook's secret (whsec_…) from standard input, and verify each delivery"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ port, verifies }) {
    const secret = verifies ? Option.some(yield* secretOfWebhook) : Option.none()
    const commandFor = (other: number) => `npm run cli -- webhook listen --port ${other}`
    return yield* webhookListener(
      { port, secret, forwardTo: Option.none(), json: false, commandFor },
      Console.log(`Listening on http://127.0.0.1:${port}/ (create a webhook with this URL; Ctrl-C stops)`)
    )
  })
).pipe(Command.withDescription("Receive, verify and print webhooks on this machine"))

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Receive webhooks during development"),
  Command.withSubcommands([listen])
)
