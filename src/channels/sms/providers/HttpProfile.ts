import { Schema } from "effect"

/** Where something stands in an answer or a receipt: keys and indexes, joined by dots. */
const Path = Schema.String.check(Schema.isPattern(/^[^.]+(\.[^.]+)*$/))

/** A value at a place, compared as text. */
const Condition = Schema.Struct({ path: Path, values: Schema.Array(Schema.String) })

/** A URL that can be posted to. */
const Url = Schema.String.check(Schema.makeFilter((text: string) => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:")
    ? undefined
    : "must be a URL that starts with https:// or http://"
}))

/**
 * How a provider with an HTTP API is asked, and what it answers: all that tells one aggregator from another. In the
 * strings of `body`, {{to}}, {{to_digits}}, {{from}}, {{text}}, {{message_id}} and {{callback_url}} stand for the message.
 */
export const HttpProfile = Schema.Struct({
  /** Part of the callback's address. */
  name: Schema.String.check(Schema.isPattern(/^[a-z0-9-]{1,32}$/)),
  url: Url,
  headers: Schema.Record(Schema.String, Schema.String),
  encoding: Schema.Literals(["json", "form"]),
  body: Schema.Record(Schema.String, Schema.Json),
  /** Some providers refuse with 200. Without it every 2xx is a yes. */
  accepted: Schema.optionalKey(Condition),
  /** A refusal that passes. */
  put_off: Schema.optionalKey(Condition),
  id: Path,
  error: Schema.optionalKey(Path),
  receipt: Schema.Struct({
    /** Of at least 16 characters; whoever knows it may tell what became of messages. */
    secret: Schema.String.check(Schema.isPattern(/^[\w-]{16,128}$/)),
    /** Where a list of receipts stands; without it a body is one. */
    each: Schema.optionalKey(Path),
    id: Path,
    status: Path,
    delivered: Schema.Array(Schema.String),
    failed: Schema.Array(Schema.String),
    error: Schema.optionalKey(Path)
  })
})
export type HttpProfile = typeof HttpProfile.Type
