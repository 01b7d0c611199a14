import { WebhookVerificationError } from "./core/ApiError.ts"
import type { WebhookEvent } from "./generated/events.ts"

/** Headers as frameworks give them. Names are compared without case. */
export type WebhookHeaders =
  | { readonly get: (name: string) => string | null | undefined }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Options of a verification. */
export interface VerifyOptions {
  /** Seconds that the request's time may differ from this machine's clock. Default: 300. */
  readonly tolerance?: number | undefined
  /**
   * `standard` (default) checks `webhook-signature`, which covers the time, so that an old request is rejected.
   * `service` checks `X-Service-Signature`, which never expires: deduplicate by the event's id.
   */
  readonly scheme?: "standard" | "service" | undefined
}

type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

const bytesOf = (body: string | Uint8Array | ArrayBuffer): Bytes =>
  typeof body === "string" ? encoder.encode(body) : new Uint8Array(body)

const headerOf = (headers: WebhookHeaders, name: string): string => {
  if (typeof headers.get === "function") return headers.get(name) ?? ""
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return (typeof found === "object" ? found[0] : typeof found === "string" ? found : undefined) ?? ""
}

const base64 = (text: string): Bytes | undefined => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const hex = (text: string): Bytes | undefined =>
  /^([0-9a-f]{2})+$/i.test(text)
    ? Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
    : undefined

/** Whether one of the signatures is the HMAC of the content. WebCrypto compares in constant time. */
const isSigned = async (key: Bytes, content: Bytes, signatures: ReadonlyArray<Bytes | undefined>) => {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
  for (const signature of signatures) {
    if (signature !== undefined && await crypto.subtle.verify("HMAC", imported, signature, content)) return true
  }
  return false
}

const decodedSecret = (secret: string): Bytes => {
  const key = secret.startsWith("whsec_") ? base64(secret.slice(6)) : undefined
  if (key !== undefined && key.length > 0) return key
  throw new WebhookVerificationError("secret_invalid", "The secret has to be the whole text that begins with whsec_.")
}

const requireHeader = (headers: WebhookHeaders, name: string) => {
  const value = headerOf(headers, name)
  if (value !== "") return value
  throw new WebhookVerificationError("headers_missing", `The request has no header ${name}.`)
}

const requireRecent = (timestamp: string, tolerance: number) => {
  const age = Date.now() / 1000 - (/^\d+$/.test(timestamp) ? Number(timestamp) : Number.NaN)
  if (Math.abs(age) <= tolerance) return
  throw new WebhookVerificationError(
    "timestamp_outside_tolerance",
    `The request's time differs by more than ${tolerance} seconds from this machine's clock.`
  )
}

const isStandard = (secret: string, content: Bytes, headers: WebhookHeaders) => {
  const entries = headerOf(headers, "webhook-signature").split(" ").filter((entry) => entry.startsWith("v1,"))
  const head = encoder.encode(`${headerOf(headers, "webhook-id")}.${headerOf(headers, "webhook-timestamp")}.`)
  const signed = new Uint8Array(head.length + content.length)
  signed.set(head)
  signed.set(content, head.length)
  return isSigned(decodedSecret(secret), signed, entries.map((entry) => base64(entry.slice(3))))
}

const isService = (secret: string, content: Bytes, headers: WebhookHeaders) =>
  isSigned(
    encoder.encode(secret),
    content,
    ["x-service-signature", "x-service-signature-previous"].map((name) => hex(headerOf(headers, name)))
  )

/** Whether any of the secrets signed the request. */
const isAuthentic = async (
  secrets: ReadonlyArray<string>,
  check: (secret: string) => Promise<boolean>
): Promise<boolean> => {
  for (const secret of secrets) {
    if (await check(secret)) return true
  }
  return false
}

/** A webhook's request as it arrived. */
export interface WebhookRequest {
  /** The bytes as they came, before anything parsed them. */
  readonly body: string | Uint8Array | ArrayBuffer
  readonly headers: WebhookHeaders
}

/**
 * The event of a webhook's request, if the holder of the secret sent it within the tolerance. During a rotation either
 * secret is right; pass both to switch at any time.
 */
export const verifyWebhook = async (
  { body, headers }: WebhookRequest,
  secret: string | ReadonlyArray<string>,
  { scheme = "standard", tolerance = 300 }: VerifyOptions = {}
): Promise<WebhookEvent> => {
  const content = bytesOf(body)
  const secrets = typeof secret === "string" ? [secret] : secret
  const isOfService = scheme === "service"
  if (isOfService) requireHeader(headers, "x-service-signature")
  else {
    for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) requireHeader(headers, name)
  }
  const check = isOfService ? isService : isStandard
  if (!await isAuthentic(secrets, (each) => check(each, content, headers))) {
    throw new WebhookVerificationError(
      "signature_mismatch",
      "The signature does not fit. Pass the bytes of the body as they came, and the webhook's own secret."
    )
  }
  if (!isOfService) requireRecent(headerOf(headers, "webhook-timestamp"), tolerance)
  return JSON.parse(new TextDecoder().decode(content))
}
