import { Config, Console, Effect, FileSystem, Option, Redacted, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { ApiError, MessagingClient, MessagingError } from "../../sdk/MessagingClient.ts"
import { secretLine } from "../shell/secretLine.ts"

/** The service refused the call, or did not answer. */
export class CallFailed extends Schema.TaggedError<CallFailed>()("CallFailed", {
  status: Schema.optionalKey(Schema.Int),
  type: Schema.optionalKey(Schema.String),
  text: Schema.String
}) {
  override get message() {
    return this.text
  }
}

/** No key is known for the service that the command would call. */
class NotLoggedIn extends Schema.TaggedError<NotLoggedIn>()("NotLoggedIn", { url: Schema.String }) {
  override get message() {
    return `There is no API key for ${this.url}. Run: messaging login --url ${this.url}. Or set MESSAGING_API_KEY.`
  }
}

class LoginUnreadable extends Schema.TaggedError<LoginUnreadable>()("LoginUnreadable", { path: Schema.String }) {
  override get message() {
    return `${this.path} cannot be read or written. Check its permissions, or set MESSAGING_API_KEY and MESSAGING_URL.`
  }
}

/** The service of this process's command. */
let service = ""

const connect = (apiKey: string, baseUrl: string) => {
  service = baseUrl
  return new MessagingClient({ apiKey, baseUrl })
}

/** A service without a public URL names its own pages by their path alone. */
const addressOf = (page: string) => page.startsWith("/") ? `${service}${page}` : page

const explained = (error: ApiError): CallFailed => {
  const fields = error.errors.length > 1 ? error.errors.map(({ message, param }) => `  ${param}: ${message}`) : []
  const more = error.doc_url === undefined ? [] : [`More: ${addressOf(error.doc_url)}`]
  return new CallFailed({
    status: error.status,
    type: error.type,
    text: [`${error.message} (${error.status} ${error.type})`, ...fields, ...more].join("\n")
  })
}

const failed = (error: unknown): CallFailed =>
  error instanceof ApiError
    ? explained(error)
    : new CallFailed({ text: error instanceof MessagingError ? error.message : String(error) })

/** Calls the service. */
export const call = <A>(run: () => PromiseLike<A>): Effect.Effect<A, CallFailed> =>
  Effect.tryPromise({ try: run, catch: failed })

/** The items of a list, page by page as they are taken. */
export const items = <A>(list: () => AsyncIterable<A>): Stream.Stream<A, CallFailed> =>
  Stream.suspend(() => Stream.fromAsyncIterable(list(), failed))

const Login = Schema.fromJsonString(Schema.Struct({ url: Schema.String, key: Schema.String }))

const variable = (name: string) =>
  Effect.map(
    Effect.orDie(Config.option(Config.String(name))),
    Option.filter((text) => text.trim() !== "")
  )

const loginPath = Effect.map(
  variable("XDG_CONFIG_HOME"),
  (home) =>
    NodePath.join(Option.getOrElse(home, () => NodePath.join(NodeOs.homedir(), ".config")), "messaging", "login.json")
)

const standardUrl = "http://127.0.0.1:8080"

const stored = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const path = yield* loginPath
  if (!(yield* Effect.orElseSucceed(files.exists(path), () => false))) return Option.none()
  return Option.some(
    yield* files.readFileString(path).pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Login)),
      Effect.mapError(() => new LoginUnreadable({ path }))
    )
  )
})

const withoutSlash = (url: string) => url.replace(/\/+$/, "")

/**
 * The client of a command. The environment replaces what `login` has stored. A stored key goes only to the service that it
 * was stored for.
 */
export const client = Effect.gen(function*() {
  const [key, url] = [yield* variable("MESSAGING_API_KEY"), yield* variable("MESSAGING_URL")]
  const login = Option.isSome(key) && Option.isSome(url) ? Option.none() : yield* stored
  const baseUrl = withoutSlash(
    Option.getOrElse(url, () => Option.match(login, { onNone: () => standardUrl, onSome: ({ url }) => url }))
  )
  const own = Option.map(Option.filter(login, (known) => known.url === baseUrl), (known) => known.key)
  const apiKey = Option.getOrUndefined(Option.orElse(key, () => own))
  return apiKey === undefined ? yield* new NotLoggedIn({ url: baseUrl }) : connect(apiKey, baseUrl)
})

/** Of every command: its whole output is JSON. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON only, one value per line"),
  Flag.withDefault(false)
)

/** Prints a value for programs, or sentences for people. */
export const print = (isJson: boolean, value: unknown, ...lines: ReadonlyArray<string>) =>
  Console.log(isJson ? JSON.stringify(value) : lines.join("\n"))

/** Whose key it is. A key without that scope is valid too. */
const ownerOf = (connected: MessagingClient) =>
  Effect.matchEffect(call(() => connected.account.get()), {
    onSuccess: ({ email, name }) => Effect.succeed(`${name} <${email}>`),
    onFailure: (failed) => failed.status === 403 ? Effect.succeed("a key with limited scopes") : Effect.fail(failed)
  })

/** `login`: stores a key that the service accepts. */
export const login = Command.make(
  "login",
  {
    url: Flag.String("url").pipe(
      Flag.withDescription(`Default: MESSAGING_URL, or ${standardUrl}`),
      Flag.optional
    ),
    json
  },
  Effect.fnUntraced(function*({ json, url }) {
    const files = yield* FileSystem.FileSystem
    const fromEnvironment = yield* variable("MESSAGING_URL")
    const baseUrl = withoutSlash(Option.getOrElse(Option.orElse(url, () => fromEnvironment), () => standardUrl))
    const apiKey = Redacted.value(yield* secretLine("API key"))
    const owner = yield* ownerOf(connect(apiKey, baseUrl))
    const path = yield* loginPath
    const text = JSON.stringify({ url: baseUrl, key: apiKey })
    // Only this account may read it, from its first moment: the former file may have had other permissions.
    yield* files.makeDirectory(NodePath.dirname(path), { recursive: true, mode: 0o700 }).pipe(
      Effect.andThen(files.remove(path, { force: true })),
      Effect.andThen(files.writeFileString(path, text, { flag: "wx", mode: 0o600 })),
      Effect.mapError(() => new LoginUnreadable({ path }))
    )
    yield* print(json, { url: baseUrl, owner, path }, `Logged in to ${baseUrl} as ${owner}. Stored in ${path}.`)
  })
).pipe(
  Command.withDescription("Store the URL and an API key (typed, or from standard input)"),
  Command.withExamples([{ command: "messaging login --url https://messaging.example.com" }])
)

/** `logout`: forgets the key. */
export const logout = Command.make(
  "logout",
  { json },
  Effect.fnUntraced(function*({ json }) {
    const files = yield* FileSystem.FileSystem
    const path = yield* loginPath
    yield* Effect.mapError(files.remove(path, { force: true }), () => new LoginUnreadable({ path }))
    yield* print(json, { path }, `The stored key is deleted. It stays valid until you revoke it in the console.`)
  })
).pipe(Command.withDescription("Delete the stored key"), Command.withExamples([{ command: "messaging logout" }]))
