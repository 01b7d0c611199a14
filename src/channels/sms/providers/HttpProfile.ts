import { Context, Effect, FileSystem, Layer, Schema } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"

/** The place of a value in a response or a receipt: keys and indexes, joined by dots. */
const Path = Schema.String.check(Schema.isPattern(/^[^.]+(\.[^.]+)*$/))

/** The values that a place may have, compared as text. */
const Condition = Schema.Struct({ path: Path, values: Schema.Array(Schema.String) })

const Url = Schema.String.check(Schema.makeFilter((text: string) => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:")
    ? undefined
    : "must be a URL that starts with https:// or http://"
}))

/**
 * The requests and responses of one aggregator's HTTP API. The strings of `body` may contain {{to}}, {{to_digits}},
 * {{from}}, {{text}}, {{message_id}} and {{callback_url}}.
 */
export const HttpProfile = Schema.Struct({
  /** Part of the callback's URL. */
  name: Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,32}$/)),
  url: Url,
  headers: Schema.Record(Schema.String, Schema.String),
  encoding: Schema.Literals(["json", "form"]),
  body: Schema.Record(Schema.String, Schema.Json),
  /** For a provider that refuses with 200. Without it every 2xx is an acceptance. */
  accepted: Schema.optionalKey(Condition),
  /** A temporary refusal. */
  put_off: Schema.optionalKey(Condition),
  id: Path,
  error: Schema.optionalKey(Path),
  receipt: Schema.Struct({
    /** At least 16 characters. It authenticates receipts. */
    secret: Schema.String.check(Schema.isPattern(/^[\w-]{16,128}$/)),
    /** The place of a list of receipts; without it the body is one receipt. */
    each: Schema.optionalKey(Path),
    id: Path,
    status: Path,
    delivered: Schema.Array(Schema.String),
    failed: Schema.Array(Schema.String),
    error: Schema.optionalKey(Path)
  })
})
export type HttpProfile = typeof HttpProfile.Type

/** The profile of the HTTP provider, read once at startup. */
export class SmsHttpProfile extends Context.Service<SmsHttpProfile, HttpProfile>()(
  "messaging-service/channels/sms/providers/HttpProfile/SmsHttpProfile"
) {
  /** Fails with `WrongSetting` when the file is missing or invalid. */
  static readonly layer = Layer.effect(
    SmsHttpProfile,
    Effect.gen(function*() {
      const { smsHttpProfile: path = "" } = yield* AppConfig
      const fs = yield* FileSystem.FileSystem
      const wrong = (reason: string) =>
        new WrongSetting({
          name: "SMS_HTTP_PROFILE",
          expects: `a file as docs/sms/http.md describes (${reason})`,
          value: path
        })
      const text = yield* Effect.mapError(fs.readFileString(path), () => wrong("it cannot be read"))
      return yield* Schema.decodeEffect(Schema.fromJsonString(HttpProfile))(text).pipe(
        Effect.mapError(({ message }) => wrong(message.replaceAll(/\s+/g, " ").slice(0, 200)))
      )
    })
  )
}
