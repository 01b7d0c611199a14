import { Option, Schema } from "effect"
import { createHmac, type KeyObject } from "node:crypto"
import type { AccountId } from "../values/Ids.ts"

/** Most recipients of a request that are kept. */
const mostRecipients = 10

/** A larger body is not parsed once more for the sake of its recipients. */
const largestBody = 256 * 1024

const longestRecipient = 320

/** The bytes of a hash that are kept. */
const hashBytes = 16

/** The fields that hold recipients, and those of their parts. */
const names = ["to", "cc", "bcc", "recipients", "steps", "email", "phone"]

const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (typeof value !== "object" || value === null) return []
  return names.flatMap((name) => textsIn(Reflect.get(value, name)))
}

/** The form in which recipients are compared: an address in lower case without its name, or the digits of a number. */
const comparable = (recipient: string): string => {
  const text = recipient.slice(0, longestRecipient).trim().toLowerCase()
  if (/^[+\d\s().\-/]+$/.test(text)) return text.replaceAll(/\D/g, "").replace(/^00/, "")
  return /<([^<>]+)>$/.exec(text)?.[1] ?? text
}

/** The hash by which the log of requests finds a recipient of an account. The log has no recipient itself. */
export const recipientHash = (key: KeyObject, accountId: AccountId, recipient: string): Uint8Array =>
  createHmac("sha256", key).update(`${accountId} ${comparable(recipient)}`).digest().subarray(0, hashBytes)

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** The first recipients that the body of a refused send names. */
export const recipientsIn = (body: string | undefined): ReadonlyArray<string> =>
  body === undefined || body.length > largestBody
    ? []
    : [...new Set(textsIn(Option.getOrUndefined(parsed(body))).map(comparable))].slice(0, mostRecipients)
