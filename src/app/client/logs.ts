import { Cause, Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import type { MessageSummary } from "../../sdk/MessagingClient.ts"
import { endless, explain } from "../shell/commandLine.ts"
import { type CallFailed, client, items, json, print } from "./connection.ts"

const channels = ["email", "sms", "whatsapp"] as const

/** How many of the newest messages `--follow` watches for changes. */
const watched = 100

/** Seconds between two looks at the list. */
const interval = "2 seconds"

/** The service may answer later: it was not reached, or is too busy. */
const isPassing = ({ status }: CallFailed) => status === undefined || status === 429 || status >= 500

const lineOf = ({ channel, created_at, direction, error, from, id, preview, status, to }: MessageSummary) => {
  const text = `${preview}${error === null ? "" : ` (${error})`}`
    // Strangers write to paired phones, and a terminal would obey control characters.
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
  const where = direction === "in" ? `from ${from ?? "a hidden number"}` : `to ${[to].flat().join(", ")}`
  return `${created_at}  ${channel.padEnd(8)}  ${status.padEnd(10)}  ${id}  ${where}  ${text}`
}

const nameOf = ({ channel, id }: MessageSummary) => `${channel} ${id}`

/** `logs`: the newest messages of all channels, the oldest of them first. */
export const logs = Command.make(
  "logs",
  {
    follow: Flag.Boolean("follow").pipe(
      Flag.withAlias("f"),
      Flag.withDescription("Go on, and print each again when its status changes"),
      Flag.withDefault(false)
    ),
    channel: Flag.Literals("channel", channels).pipe(Flag.withDescription(channels.join(", ")), Flag.optional),
    status: Flag.String("status").pipe(Flag.withDescription("Only this status, such as failed"), Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription("How many messages, at most 100"), Flag.withDefault(25)),
    json
  },
  Effect.fnUntraced(function*({ channel, follow, json, limit, status }) {
    const { history } = yield* client
    let seen = new Map<string, string>()
    // The service checks the status, which the type of the SDK lists.
    const filter = {
      channel: Option.getOrUndefined(channel),
      status: Option.getOrUndefined(status) as "sent" | undefined
    }
    let since: string | undefined
    /** This many of the newest messages, and those before them that came since the last look. */
    const newest = (count: number) =>
      items(() => history.list({ ...filter, per_page: Math.min(count, 100) })).pipe(
        Stream.zipWithIndex,
        Stream.takeWhile(([{ created_at }, index]) => index < count || (since !== undefined && created_at > since)),
        Stream.map(([message]) => message),
        Stream.runCollect
      )
    /** Prints what is new among the newest messages: at first the last ones. */
    const look = Effect.fnUntraced(function*(count: number, shown = Infinity) {
      const found = (yield* newest(count)).toReversed()
      for (const [index, message] of found.entries()) {
        if (index < found.length - shown || seen.get(nameOf(message)) === message.status) continue
        yield* print(json, message, lineOf(message))
      }
      seen = new Map(found.map((message) => [nameOf(message), message.status]))
      since = found.at(-1)?.created_at ?? since ?? ""
    })
    if (!follow) return yield* look(limit)
    yield* look(Math.max(limit, watched), limit)
    let told: string | undefined
    /** Looks again after a failure that passes, and tells it once. */
    const lookOn = look(watched).pipe(
      Effect.andThen(Effect.sync(() => void (told = undefined))),
      Effect.catchIf(isPassing, (failed) => {
        if (failed.text === told) return Effect.void
        told = failed.text
        return explain(Cause.fail(failed), json)
      })
    )
    return yield* endless(Effect.forever(Effect.andThen(Effect.sleep(interval), lookOn)))
  })
).pipe(
  Command.withDescription("Print the newest messages; --follow goes on"),
  Command.withExamples([{ command: "messaging logs --follow --channel sms" }])
)
