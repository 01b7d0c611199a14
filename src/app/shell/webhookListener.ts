import { Clock, Console, Effect, Layer, Option, type Redacted, Result } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientRequest,
  HttpRouter,
  type HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { createServer } from "node:http"
import { httpServerAt } from "../../platform/net/Listening.ts"
import { verify } from "../../webhooks/endpoint/WebhookSecret.ts"

/** How deliveries are received and shown. */
export interface ListenerOptions {
  readonly port: number
  /** Without it, no delivery is verified. */
  readonly secret: Option.Option<Redacted.Redacted>
  /** Gets each delivery as it came, if it verifies. Its status is the answer. */
  readonly forwardTo: Option.Option<string>
  /** One line of JSON for each delivery. */
  readonly json: boolean
  /** A command that uses another port. */
  readonly commandFor: (port: number) => string
}

interface Delivery {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

/** Headers that belong to one connection, or that the client writes itself. */
const ofConnection = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "expect"])

/** The status of the program that the delivery is forwarded to; 502 if it does not answer. */
const forward = Effect.fnUntraced(function*(url: string, { body, headers }: Delivery) {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !ofConnection.has(name))
  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders(Object.fromEntries(kept) as Record<string, string>), // undefined values are filtered
    HttpClientRequest.bodyUint8Array(body, headers["content-type"] ?? "application/json")
  )
  return yield* HttpClient.execute(request).pipe(
    Effect.map(({ status }) => status),
    Effect.timeout("10 seconds"),
    Effect.orElseSucceed(() => 502),
    Effect.provide(FetchHttpClient.layer),
    // A followed redirect would turn the POST into a GET without the event.
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })
  )
})

const parsed = (body: string) => Option.liftThrowable((text: string): unknown => JSON.parse(text))(body)

const readable = (body: string) =>
  Option.match(parsed(body), { onNone: () => body, onSome: (event) => JSON.stringify(event, null, 2) })

/** Prints one delivery. Answers 401 if it does not verify, as receivers should. */
const receive = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, options: ListenerOptions) {
  const body = Buffer.from(yield* Effect.orDie(request.arrayBuffer))
  const { headers } = request
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const verdict = Option.map(options.secret, (known) => verify({ headers, body }, known, now))
  const isRefused = Option.exists(verdict, Result.isFailure)
  const result = Option.match(verdict, {
    onNone: () => "not verified (no --secret-stdin)",
    onSome: Result.match({ onSuccess: () => "verified", onFailure: (reason) => `REFUSED: ${reason}` })
  })
  const answer = isRefused
    ? 401
    : yield* Option.match(options.forwardTo, {
      onNone: () => Effect.succeed(204),
      onSome: (url) => forward(url, { headers, body })
    })
  const [text, name, attempt] = [body.toString("utf8"), headers["x-service-event"], headers["x-service-attempt"]]
  if (options.json) {
    const event = Option.getOrElse(parsed(text), () => text)
    yield* Console.log(JSON.stringify({ event, attempt: Number(attempt), result, status: answer }))
  } else {
    const forwarded = Option.isSome(options.forwardTo) && !isRefused ? `, forwarded: ${answer}` : ""
    const of = `${name ?? "no X-Service-Event"}, attempt ${attempt ?? "?"}, ${headers["webhook-id"] ?? "no id"}`
    yield* Console.log(`\n${of}: ${result}${forwarded}`)
    yield* Console.log(readable(text))
  }
  return HttpServerResponse.empty({ status: answer })
})

/** Receives webhooks on 127.0.0.1. `ready` runs once it listens. */
export const webhookListener = <E, R>(options: ListenerOptions, ready: Effect.Effect<void, E, R>) => {
  const { commandFor, port } = options
  const routes = HttpRouter.add(
    "POST",
    "/*",
    (request: HttpServerRequest.HttpServerRequest) => receive(request, options)
  )
  const server = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
  const place = { host: "127.0.0.1", port, hostSetting: "the address", commandFor }
  return Layer.launch(
    Layer.effectDiscard(ready).pipe(Layer.provideMerge(server), Layer.provide(httpServerAt(createServer, place)))
  )
}
