import { Context, Effect, FileSystem, Layer, Schema } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { PublicHttp, type PublicHttpFailure } from "../../../platform/net/PublicHttp.ts"
import { SmsProvider } from "../parts/SmsProvider.ts"
import type { Outgoing, SubmitOutcome } from "../parts/SubmitOutcome.ts"
import { outcomeOf, requestOf } from "./httpExchange.ts"
import { HttpProfile } from "./HttpProfile.ts"

/** Requests under way at once, of one node. */
const width = 32

/** The profile of the HTTP provider, read once at the start. */
export class SmsHttpProfile extends Context.Service<SmsHttpProfile, HttpProfile>()(
  "messaging-service/channels/sms/providers/HttpSmsProvider/SmsHttpProfile"
) {
  /** Fails with `WrongSetting` when there is no file, or none that can be used. */
  static readonly layer = Layer.effect(
    SmsHttpProfile,
    Effect.gen(function*() {
      const { smsHttpProfile: path = "" } = yield* AppConfig
      const fs = yield* FileSystem.FileSystem
      const wrong = (why: string) =>
        new WrongSetting({
          name: "SMS_HTTP_PROFILE",
          expects: `a file as docs/sms/http.md describes (${why})`,
          value: path
        })
      const text = yield* Effect.mapError(fs.readFileString(path), () => wrong("it cannot be read"))
      return yield* Schema.decodeEffect(Schema.fromJsonString(HttpProfile))(text).pipe(
        Effect.mapError(({ message }) => wrong(message.replaceAll(/\s+/g, " ").slice(0, 200)))
      )
    })
  )
}

/** Of these it is sure that the provider never saw the request. */
const unsent: ReadonlySet<PublicHttpFailure["reason"]> = new Set([
  "connection_refused",
  "dns_error",
  "tls_error",
  "blocked_address"
])

const failed = ({ detail, reason }: PublicHttpFailure): SubmitOutcome =>
  unsent.has(reason)
    ? { _tag: "NotTaken", reason: detail, retryInMillis: 5_000 }
    : { _tag: "Unanswered", reason: detail }

/** An aggregator with an HTTP API, asked as its profile says. It gets whole texts and cuts them itself. */
export const HttpSmsProvider = Layer.effect(
  SmsProvider,
  Effect.gen(function*() {
    const profile = yield* SmsHttpProfile
    const http = yield* PublicHttp
    const { base } = yield* PublicUrl
    const callbackUrl = `${base}/v1/callbacks/sms/${profile.name}/${profile.receipt.secret}`
    return SmsProvider.of({
      name: profile.name,
      takes: "texts",
      width,
      submit: Effect.fn("HttpSmsProvider.submit")((part: Outgoing) => {
        const { headers, ...request } = requestOf(profile, part, callbackUrl)
        return Effect.match(http.post({ ...request, headers: () => headers }), {
          onSuccess: ({ body, status }) => outcomeOf(profile, { status, text: Buffer.from(body).toString("utf8") }),
          onFailure: failed
        })
      })
    })
  })
)
