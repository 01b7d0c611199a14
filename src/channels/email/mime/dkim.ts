import { Effect } from "effect"
import { createPrivateKey, hash, type KeyObject, sign as signBytes } from "node:crypto"
import type { DomainName } from "../../../values/DomainName.ts"
import { relaxedBody, relaxedField } from "./canonical.ts"
import { DkimKeyUnusable, DkimSigningFailed } from "./DkimErrors.ts"

/** Who signs: the `d=` domain, the selector under which its public key is published, and the private key. */
export interface DkimSigner {
  readonly domain: DomainName
  readonly selector: string
  /** From {@link parseKey}, once per domain: reading a key costs as much as a signature. */
  readonly key: KeyObject
}

/**
 * The fields that are signed where they are present. RFC 8058 wants both List-Unsubscribe fields signed, else mailbox
 * providers show no button.
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

/** RFC 8301 3.2: verifiers must not accept a shorter key. */
const shortestKey = 1_024

/** Reads a private key in PEM form. Only what `k=rsa` in the DNS record can stand for is a key. */
export const parseKey = (pem: string): Effect.Effect<KeyObject, DkimKeyUnusable> =>
  Effect.try({
    try: () => createPrivateKey(pem),
    catch: () => new DkimKeyUnusable({ reason: "it is not an unencrypted private key in PEM form" })
  }).pipe(Effect.filterOrFail(
    (key) => key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= shortestKey,
    (key) => new DkimKeyUnusable({ reason: `it must be RSA of at least ${shortestKey} bits, not ${keyName(key)}` })
  ))

const keyName = ({ asymmetricKeyDetails, asymmetricKeyType }: KeyObject): string =>
  [asymmetricKeyType, asymmetricKeyDetails?.modulusLength].filter((part) => part !== undefined).join(" ")

const signedKeys = signedFields.map((name) => [name, name.toLowerCase()] as const)

/** The message's fields by lower-case name, each list from the last to the first, as `h=` counts them. */
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

/** What `h=` lists, and the fields themselves. */
const listed = (fields: ReadonlyMap<string, ReadonlyArray<string>>) => {
  // Once more than it occurs, so that a second From would break the signature.
  const names = ["From"]
  const present: Array<string> = []
  for (const [name, key] of signedKeys) {
    for (const field of fields.get(key) ?? []) {
      names.push(name)
      present.push(field)
    }
  }
  return { names, present }
}

/** A long tag value on several lines. */
const rows = (value: string, row: RegExp): string => (value.match(row) ?? []).join("\r\n  ")

/** What is to be signed, and the signature's own field up to its empty `b=`. */
const prepare = (message: Buffer, { domain, selector }: DkimSigner) => {
  const end = message.indexOf("\r\n\r\n")
  if (end < 0) return "it has no empty line after its header"
  const body = relaxedBody(message.subarray(end + 4))
  if (body === undefined) return "its body has a line end other than CRLF"
  const fields = fieldsOf(message.toString("latin1", 0, end))
  if (!fields.has("from")) return "it has no From field"
  const { names, present } = listed(fields)
  const field = [
    `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};`,
    ` h=${rows(names.join(":"), /.{1,72}(?::|$)/g)};`,
    ` bh=${hash("sha256", body, "base64")};`,
    " b="
  ].join("\r\n")
  const signed = [...present, field].map(relaxedField).join("\r\n")
  return { field, signed: Buffer.from(signed, "latin1") }
}

// The key was read before, and so the callback alone tells of failures.
const signature = (bytes: Buffer, { domain, key }: DkimSigner): Effect.Effect<Buffer, DkimSigningFailed> =>
  Effect.callback((resume) => {
    signBytes("sha256", bytes, key, (error, signature) =>
      resume(
        error === null
          ? Effect.succeed(signature)
          : Effect.fail(new DkimSigningFailed({ domain, reason: "the signature could not be made" }))
      ))
  })

/**
 * The message with its DKIM-Signature (RFC 6376, relaxed/relaxed, rsa-sha256) in front. Without `t=`: the same message
 * has the same bytes at each attempt. The signature is made on a thread of libuv's pool. Whatever goes wrong is a
 * failure; an unsigned message is never a result.
 */
export const sign = Effect.fnUntraced(function*(message: Buffer, signer: DkimSigner) {
  const { domain, key } = signer
  // An EC key would sign without complaint, and no verifier would accept it.
  if (key.type !== "private" || key.asymmetricKeyType !== "rsa") {
    return yield* new DkimSigningFailed({ domain, reason: "its key is not a private RSA key" })
  }
  const prepared = prepare(message, signer)
  if (typeof prepared === "string") return yield* new DkimSigningFailed({ domain, reason: prepared })
  const b = yield* signature(prepared.signed, signer)
  return Buffer.concat([
    Buffer.from(`${prepared.field}${rows(b.toString("base64"), /.{1,72}/g)}\r\n`, "latin1"),
    message
  ])
})
