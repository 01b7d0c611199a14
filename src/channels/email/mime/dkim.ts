import { Effect, Schema } from "effect"
import { createPrivateKey, hash, type KeyObject, sign as signBytes } from "node:crypto"
import type { DomainName } from "../../../values/DomainName.ts"

/** A private key that cannot sign mail: invalid, not RSA, or too short. The error contains nothing of the key. */
export class DkimKeyUnusable extends Schema.TaggedError<DkimKeyUnusable>()("DkimKeyUnusable", {
  reason: Schema.String
}) {
  override get message() {
    return `The DKIM key cannot be used: ${this.reason}.`
  }
}

/** How the message of every `DkimSigningFailed` begins. */
export const notSigned = "The message could not be signed for "

/** Signing a message failed. It must not be sent: unsigned mail fails DMARC and harms the domain's reputation. */
export class DkimSigningFailed extends Schema.TaggedError<DkimSigningFailed>()("DkimSigningFailed", {
  domain: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${notSigned}${this.domain}: ${this.reason}.`
  }
}

/** Canonicalizes a field in the relaxed form (RFC 6376 3.4.2), without its line end. */
const relaxedField = (field: string): string => {
  const colon = field.indexOf(":")
  const value = field.slice(colon + 1).replaceAll(/[ \t\r\n]{2,}|[\t\r\n]/g, " ")
  const start = value.startsWith(" ") ? 1 : 0
  const end = value.endsWith(" ") ? value.length - 1 : value.length
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value.slice(start, end)}`
}

const bareLineEnd = /\r(?!\n)|(?<!\r)\n/

/**
 * Canonicalizes a body in the relaxed form (RFC 6376 3.4.4). Undefined when it has a bare CR or LF, because the next relay
 * would change it and break the signature. It works on text, which V8 searches faster than a loop reads bytes.
 */
export const relaxedBody = (body: Buffer): Buffer | undefined => {
  const text = body.toString("latin1")
  if (bareLineEnd.test(text)) return undefined
  const lines = text.replaceAll(/[ \t]{2,}|\t/g, " ").replaceAll(" \r\n", "\r\n")
  let end = lines.endsWith(" ") ? lines.length - 1 : lines.length
  while (lines.endsWith("\r\n", end)) end -= 2
  return Buffer.from(end === 0 ? "" : `${lines.slice(0, end)}\r\n`, "latin1")
}

/** The `d=` domain, the selector of its published public key, and the private key. */
export interface DkimSigner {
  readonly domain: DomainName
  readonly selector: string
  /** From {@link parseKey}, once per domain: parsing a key costs as much as a signature. */
  readonly key: KeyObject
}

/**
 * The fields to sign if they are present, in this order, before all others of the message. RFC 8058 requires signatures
 * of both List-Unsubscribe fields; without them mailbox providers show no unsubscribe button.
 */
const signedFields = [
  "From",
  "Reply-To",
  "To",
  "Cc",
  "Subject",
  "Date",
  "Message-ID",
  "In-Reply-To",
  "References",
  "MIME-Version",
  "Content-Type",
  "Content-Transfer-Encoding",
  "List-Id",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "Feedback-ID"
]

/**
 * Listed once more than they occur, so that a second one breaks the signature (RFC 6376
 * 8.15).
 */
const sealedFields: ReadonlySet<string> = new Set(["From", "Reply-To", "To", "Cc", "Subject", "Date"])

/** RFC 8301 3.2: verifiers must not accept a shorter key. */
const minKeyBits = 1_024

/** Parses a private key in PEM form. Only RSA keys pass, as the DNS record says `k=rsa`. */
export const parseKey = (pem: string): Effect.Effect<KeyObject, DkimKeyUnusable> =>
  Effect.try({
    try: () => createPrivateKey(pem),
    catch: () => new DkimKeyUnusable({ reason: "it is not an unencrypted private key in PEM form" })
  }).pipe(Effect.filterOrFail(
    (key) => key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= minKeyBits,
    (key) => new DkimKeyUnusable({ reason: `it must be RSA of at least ${minKeyBits} bits, not ${keyName(key)}` })
  ))

const keyName = ({ asymmetricKeyDetails, asymmetricKeyType }: KeyObject): string =>
  [asymmetricKeyType, asymmetricKeyDetails?.modulusLength].filter((part) => part !== undefined).join(" ")

const signedKeys = signedFields.map((name) => [name, name.toLowerCase()] as const)
const knownKeys: ReadonlySet<string> = new Set(signedKeys.map(([, key]) => key))

/** The message's fields by lower-case name, each list from last to first, as `h=` counts them. */
const fieldsOf = (head: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const fields = new Map<string, Array<string>>()
  for (const field of head.split(/\r\n(?![ \t])/)) {
    const name = field.slice(0, field.indexOf(":")).trimEnd().toLowerCase()
    const same = fields.get(name)
    if (same === undefined) fields.set(name, [field])
    else same.unshift(field)
  }
  return fields
}

/** The names in `h=`, and the fields themselves. */
const fieldsToSign = (fields: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const names: Array<string> = []
  const present: Array<string> = []
  for (const [name, key] of signedKeys) {
    for (const field of fields.get(key) ?? []) {
      names.push(name)
      present.push(field)
    }
    if (sealedFields.has(name)) names.push(name)
  }
  for (const [key, ofName] of fields) {
    if (knownKeys.has(key)) continue
    for (const field of ofName) {
      names.push(key)
      present.push(field)
    }
  }
  return { names, present }
}

/** Folds a long tag value over several lines. */
const folded = (value: string, row: RegExp): string => (value.match(row) ?? []).join("\r\n  ")

/** The bytes to sign, and the signature's own field up to its empty `b=`. */
const prepare = (message: Buffer, { domain, selector }: DkimSigner) => {
  const end = message.indexOf("\r\n\r\n")
  if (end < 0) return "it has no empty line after its header"
  const body = relaxedBody(message.subarray(end + 4))
  if (body === undefined) return "its body has a line end other than CRLF"
  const fields = fieldsOf(message.toString("latin1", 0, end))
  if (!fields.has("from")) return "it has no From field"
  const { names, present } = fieldsToSign(fields)
  const field = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};`,
    ` h=${folded(names.join(":"), /.{1,72}(?::|$)|[^:]+(?::|$)/g)};`,
    ` bh=${hash("sha256", body, "base64")};`,
    " b="
  ].join("\r\n")
  const signed = [...present, field].map(relaxedField).join("\r\n")
  return { field, signed: Buffer.from(signed, "latin1") }
}

// The key is parsed already, so only the callback reports failures.
const signature = (bytes: Buffer, { domain, key }: DkimSigner): Effect.Effect<Buffer, DkimSigningFailed> =>
  Effect.callback((resume) => {
    signBytes("sha256", bytes, key, (error, signature) =>
      resume(
        error === null
          ? Effect.succeed(signature)
          : Effect.fail(new DkimSigningFailed({ domain, reason: "the signature failed" }))
      ))
  })

/**
 * Adds the DKIM-Signature (RFC 6376, relaxed/relaxed, rsa-sha256) in front of the message. It has no `t=`, so the same
 * message has the same bytes at each attempt. A thread of libuv's pool signs. It never returns an unsigned message.
 */
export const sign = Effect.fnUntraced(function*(message: Buffer, signer: DkimSigner) {
  const { domain, key } = signer
  // An EC key would sign too, but no verifier would accept the signature.
  if (key.type !== "private" || key.asymmetricKeyType !== "rsa") {
    return yield* new DkimSigningFailed({ domain, reason: "its key is not a private RSA key" })
  }
  const prepared = prepare(message, signer)
  if (typeof prepared === "string") return yield* new DkimSigningFailed({ domain, reason: prepared })
  const b = yield* signature(prepared.signed, signer)
  return Buffer.concat([
    Buffer.from(`${prepared.field}${folded(b.toString("base64"), /.{1,72}/g)}\r\n`, "latin1"),
    message
  ])
})
