import { Effect, Option, Redacted, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { endless } from "../shell/commandLine.ts"
import { webhookListener } from "../shell/webhookListener.ts"
import { call, client, items, json, print } from "./connection.ts"

const listen = Command.make(
  "listen",
  {
    forwardTo: Flag.String("forward-to").pipe(
      Flag.withDescription("Forward deliveries to this URL, and answer its status"),
      Flag.optional
    ),
    events: Flag.String("events").pipe(
      Flag.withDescription("Names or prefixes, with commas: email.*,message.failed"),
      Flag.withDefault("*")
    ),
    port: Flag.Int("port").pipe(Flag.withDescription("Port on 127.0.0.1"), Flag.withDefault(9000)),
    publicUrl: Flag.String("public-url").pipe(
      Flag.withDescription("A URL of this port, for a service on another machine"),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function*({ events, forwardTo, json, port, publicUrl }) {
    const { webhooks } = yield* client
    const url = Option.getOrElse(publicUrl, () => `http://127.0.0.1:${port}/`)
    const webhook = yield* Effect.acquireRelease(
      call(() => webhooks.create({ url, events: events.split(",").map((name) => name.trim()) })),
      ({ id }) => Effect.ignore(call(() => webhooks.delete(id)))
    )
    const to = Option.match(forwardTo, { onNone: () => "", onSome: (target) => `, forwards them to ${target}` })
    return yield* endless(webhookListener(
      {
        port,
        secret: Option.some(Redacted.make(webhook.secret)),
        forwardTo,
        json,
        commandFor: (other) => `messaging webhooks listen --port ${other}`
      },
      print(
        json,
        webhook,
        `Webhook ${webhook.id} sends ${events} to ${url}${to}. Its secret is ${webhook.secret}`,
        "Ctrl-C deletes the webhook."
      )
    ))
  }, Effect.scoped)
).pipe(
  Command.withDescription("Receive, verify and forward events, by a webhook that ends with it"),
  Command.withExamples([{ command: "messaging webhooks listen --forward-to http://127.0.0.1:3000/hooks" }])
)

const list = Command.make(
  "list",
  { json },
  Effect.fnUntraced(function*({ json }) {
    const { webhooks } = yield* client
    yield* Stream.runForEach(
      items(() => webhooks.list({ per_page: 100 })),
      (each) => print(json, each, `${each.id}\t${each.status}\t${each.url}\t${each.events.join(",")}`)
    )
  })
).pipe(Command.withDescription("List the webhooks"), Command.withExamples([{ command: "messaging webhooks list" }]))

export const webhooks = Command.make("webhooks").pipe(
  Command.withDescription("Receive events during development"),
  Command.withExamples([{ command: "messaging webhooks listen --events 'email.*'" }]),
  Command.withSubcommands([listen, list])
)
