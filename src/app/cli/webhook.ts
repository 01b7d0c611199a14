import { Clock, Console, Effect, Layer, Option, type Redacted, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { httpServerAt } from "../../platform/net/Listening.ts"
import { verify } from "../../webhooks/endpoint/WebhookSecret.ts"
import { secretLine } from "./secretLine.ts"

const pretty = (body: string) => {
  const event = Option.liftThrowable(JSON.parse)(body)
  return Option.isSome(event) ? JSON.stringify(event.value, null, 2) : body
}

/** Prints one delivery. Answers 401 if it does not verify, as receivers should. */
const receive = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  secret: Option.Option<Redacted.Redacted>
) {
  const body = Buffer.from(yield* Effect.orDie(request.arrayBuffer))
  const { headers } = request
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const verdict = Option.map(secret, (known) => verify({ headers, body }, known, now))
  const result = Option.match(verdict, {
    onNone: () => "not verified (no --secret-stdin)",
    onSome: Result.match({ onSuccess: () => "verified", onFailure: (reason) => `REFUSED: ${reason}` })
  })
  const name = headers["x-service-event"] ?? "no X-Service-Event"
  yield* Console.log(
    `\n${name}, attempt ${headers["x-service-attempt"] ?? "?"}, ${headers["webhook-id"] ?? "no id"}: ${result}`
  )
  yield* Console.log(pretty(body.toString("utf8")))
  return HttpServerResponse.empty({ status: Option.exists(verdict, Result.isFailure) ? 401 : 204 })
})

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
    const secret = verifies ? Option.some(yield* secretLine("secret of the webhook")) : Option.none()
    const routes = HttpRouter.add(
      "POST",
      "/*",
      (request: HttpServerRequest.HttpServerRequest) => receive(request, secret)
    )
    const ready = Layer.effectDiscard(
      Console.log(`Listening on http://127.0.0.1:${port}/ (create a webhook with this URL; Ctrl-C stops)`)
    )
    const server = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
    const place = {
      host: "127.0.0.1",
      port,
      hostSetting: "the address",
      commandFor: (other: number) => `npm run cli -- webhook listen --port ${other}`
    }
    return yield* Layer.launch(ready.pipe(
      Layer.provideMerge(server),
      Layer.provide(httpServerAt(createServer, place))
    ))
  })
).pipe(Command.withDescription("Receive, verify and print webhooks on this machine"))

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Receive webhooks during development"),
  Command.withSubcommands([listen])
)
