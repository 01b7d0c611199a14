import { Option, Schema } from "effect"
import type { Receipt } from "../parts/Receipt.ts"
import type { Outgoing, SubmitOutcome } from "../parts/SubmitOutcome.ts"
import type { HttpProfile } from "./HttpProfile.ts"

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** A body as it came: JSON, or the fields of a form. */
const readFields = (text: string): unknown =>
  Option.getOrElse(decodeJson(text), () => Object.fromEntries(new URLSearchParams(text)))

/** What stands at a place; own properties alone are ever read. */
const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (holder, key) =>
      typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
        ? Reflect.get(holder, key)
        : undefined,
    value
  )

const textAt = (value: unknown, path: string | undefined): string | undefined => {
  const found = path === undefined ? undefined : at(value, path)
  return typeof found === "string" || typeof found === "number" ? String(found) : undefined
}

/** What stands for the message in the profile's body. */
const valuesOf = (part: Outgoing, callbackUrl: string): Readonly<Record<string, string>> => ({
  to: part.recipient,
  to_digits: part.recipient.slice(1),
  from: part.sender ?? "",
  text: part.body,
  message_id: `${part.message_id}.${part.part_no}`,
  callback_url: callbackUrl
})

/** A string that is nothing but a value which the message lacks is left out with its key. */
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

/** The request that hands a text over. */
export const requestOf = (profile: HttpProfile, part: Outgoing, callbackUrl: string) => {
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

/** What a provider that is busy is given before it is asked again. */
const patience = 5_000

const meets = (fields: unknown, condition: HttpProfile["put_off"]): boolean =>
  condition !== undefined && condition.values.includes(textAt(fields, condition.path) ?? "")

/** What an answer means. Some providers refuse with 200, so the profile says what a yes looks like. */
export const outcomeOf = (
  profile: HttpProfile,
  { status, text }: { readonly status: number; readonly text: string }
): SubmitOutcome => {
  const fields = readFields(text)
  const reason = (textAt(fields, profile.error) ?? `The provider answered with ${status}.`).slice(0, 500)
  const code = `http_${status}`
  if (status === 429 || status === 503) return { _tag: "NotTaken", reason, retryInMillis: patience }
  if (meets(fields, profile.put_off) || status >= 500) return { _tag: "PutOff", code, reason }
  const isYes = profile.accepted === undefined || meets(fields, profile.accepted)
  if (status >= 200 && status < 300 && isYes) return { _tag: "Accepted", id: textAt(fields, profile.id) ?? null }
  return { _tag: "Refused", code: status < 300 ? "rejected" : code, reason }
}

/** The receipts in a body of the provider's. Total; what settles nothing, or names nobody, is none. */
export const receiptsOf = (profile: HttpProfile, text: string): ReadonlyArray<Receipt> => {
  const { delivered, each, error, failed, id, status } = profile.receipt
  const fields = readFields(text)
  const listed = each === undefined ? [fields] : at(fields, each)
  return (Array.isArray(listed) ? listed : []).slice(0, 1_000).flatMap((entry: unknown): ReadonlyArray<Receipt> => {
    const provider_message_id = textAt(entry, id)
    const said = textAt(entry, status)
    if (provider_message_id === undefined || said === undefined) return []
    const receipt = { provider: profile.name, provider_message_id: provider_message_id.slice(0, 200) }
    if (delivered.includes(said)) return [{ ...receipt, state: "delivered", error_code: null, error_message: null }]
    if (!failed.includes(said)) return []
    const detail = textAt(entry, error)
    const error_message = `The provider says ${said}${detail === undefined ? "" : `, ${detail}`}.`.slice(0, 500)
    return [{ ...receipt, state: "failed", error_code: "undeliverable", error_message }]
  })
}
