import { Option, type Schema } from "effect"
import type { OutgoingPart, Receipt, SubmitOutcome } from "../parts/SmsProvider.ts"
import type { HttpProfile } from "./HttpProfile.ts"

/** Keeps the digits of an integer that a double would round, such as a provider's id. */
const exact = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value

const decodeJson = Option.liftThrowable((text: string): unknown => JSON.parse(text, exact))

/** The fields of a JSON or form body. */
const readFields = (text: string): unknown =>
  Option.getOrElse(decodeJson(text), () => Object.fromEntries(new URLSearchParams(text)))

/** The value at a place. It reads own properties only. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (parent, key) =>
      typeof parent === "object" && parent !== null && Object.hasOwn(parent, key)
        ? Reflect.get(parent, key)
        : undefined,
    value
  )

/** The text, number or boolean at a place as a text, without NUL, which PostgreSQL cannot store. */
const textAt = (value: unknown, path: string | undefined): string | undefined => {
  const found = path === undefined ? undefined : at(value, path)
  return ["string", "number", "boolean"].includes(typeof found) ? String(found).replaceAll("\0", " ") : undefined
}

/** The values of the placeholders in the profile's body. */
const valuesOf = (part: OutgoingPart, callbackUrl: string): Readonly<Record<string, string>> => ({
  to: part.recipient,
  to_digits: part.recipient.slice(1),
  from: part.sender ?? "",
  text: part.body,
  message_id: `${part.message_id}.${part.part_no}`,
  callback_url: callbackUrl
})

/** Fills in the placeholders. A string that becomes empty is omitted with its key. */
const filled = (template: Schema.Json, values: Readonly<Record<string, string>>): Schema.Json | undefined => {
  if (typeof template === "string") {
    const text = template.replaceAll(/\{\{([a-z_]+)\}\}/g, (whole, name: string) => values[name] ?? whole)
    return text === "" && template !== "" ? undefined : text
  }
  if (typeof template !== "object" || template === null) return template
  if (Array.isArray(template)) return template.flatMap((entry: Schema.Json) => filled(entry, values) ?? [])
  return Object.fromEntries(
    Object.entries(template).flatMap(([key, entry]) => {
      const value = filled(entry, values)
      return value === undefined ? [] : [[key, value]]
    })
  )
}

const formText = (value: Schema.Json) => typeof value === "string" ? value : JSON.stringify(value)

/** The request that submits a text. */
export const requestOf = (profile: HttpProfile, part: OutgoingPart, callbackUrl: string) => {
  const body = filled(profile.body, valuesOf(part, callbackUrl)) ?? {}
  const isForm = profile.encoding === "form"
  const text = isForm
    ? new URLSearchParams(Object.entries(body).map(([key, value]): [string, string] => [key, formText(value)]))
      .toString()
    : JSON.stringify(body)
  const headers: Readonly<Record<string, string>> = {
    ...profile.headers,
    accept: "application/json",
    "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json"
  }
  return { url: new URL(profile.url), headers, body: Buffer.from(text) }
}

/** The delay before the next submit to a busy provider, in milliseconds. */
const busyDelay = 5_000

const meets = (fields: unknown, condition: HttpProfile["put_off"]): boolean =>
  condition !== undefined && condition.values.includes(textAt(fields, condition.path) ?? "")

/** The outcome of a response. Some providers refuse with 200, so the profile defines an acceptance. */
export const outcomeOf = (
  profile: HttpProfile,
  { status, text }: { readonly status: number; readonly text: string }
): SubmitOutcome => {
  const fields = readFields(text)
  const reason = (textAt(fields, profile.error) ?? `The provider answered with ${status}.`).slice(0, 500)
  const code = `http_${status}`
  if (status === 429 || status === 503) return { _tag: "Unavailable", reason, retryInMillis: busyDelay }
  if (meets(fields, profile.put_off) || status >= 500) return { _tag: "Deferred", code, reason }
  const isAccepted = profile.accepted === undefined || meets(fields, profile.accepted)
  if (status >= 200 && status < 300 && isAccepted) return { _tag: "Accepted", id: textAt(fields, profile.id) ?? null }
  return { _tag: "Refused", code: status < 300 ? "rejected" : code, reason }
}

/** The receipts in a callback's body. It is total: entries without an id or a final status are ignored. */
export const receiptsOf = (profile: HttpProfile, text: string): ReadonlyArray<Receipt> => {
  const { delivered, each, error, failed, id, status } = profile.receipt
  const fields = readFields(text)
  const listed = each === undefined ? [fields] : at(fields, each)
  return (Array.isArray(listed) ? listed : []).flatMap((entry: unknown): ReadonlyArray<Receipt> => {
    const provider_message_id = textAt(entry, id)
    const providerStatus = textAt(entry, status)
    if (provider_message_id === undefined || providerStatus === undefined) return []
    const receipt = { provider: profile.name, provider_message_id: provider_message_id.slice(0, 200) }
    if (delivered.includes(providerStatus)) {
      return [{ ...receipt, state: "delivered", error_code: null, error_message: null }]
    }
    if (!failed.includes(providerStatus)) return []
    const detail = textAt(entry, error)
    const error_message = `The provider says ${providerStatus}${detail === undefined ? "" : `, ${detail}`}.`.slice(
      0,
      500
    )
    return [{ ...receipt, state: "failed", error_code: "undeliverable", error_message }]
  })
}
