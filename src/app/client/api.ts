import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { call, client, json, print } from "./connection.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** The body is not JSON, so the service would refuse it. */
class BodyMalformed extends Schema.TaggedError<BodyMalformed>()("BodyMalformed", {}) {
  override get message() {
    return `--data must be JSON, such as '{"to": "ada@example.com"}'`
  }
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** `api`: any endpoint, also those that have no command. */
export const api = Command.make(
  "api",
  {
    method: Argument.Literals("method", methods).pipe(Argument.withDescription(methods.join(", "))),
    path: Argument.String("path").pipe(Argument.withDescription("Such as /v1/email/batches?per_page=5")),
    data: Flag.String("data").pipe(Flag.withDescription("The body, as JSON"), Flag.optional),
    json
  },
  Effect.fnUntraced(function*({ data, json, method, path }) {
    const connected = yield* client
    const body = yield* Option.match(data, {
      onNone: () => Effect.undefined,
      onSome: (text) => Effect.mapError(decode(text), () => new BodyMalformed())
    })
    const answer = yield* call(() => connected.request(method, path, { body }))
    yield* print(json, answer, JSON.stringify(answer, null, 2))
  })
).pipe(
  Command.withDescription("Call any endpoint: the answer is JSON"),
  Command.withExamples([{ command: "messaging api GET '/v1/email/batches?per_page=5'" }])
)
