import type { Judgement } from "./EmailDomain.ts"
import { judge, tagList } from "./judge.ts"

const isKey = /(?:^|;)\s*p\s*=/i
const base64 = /^[A-Za-z0-9+/]+={0,2}$/

const publish = "Publish the value of this record exactly"

/** Why a verifier would not accept the key record as ours, or undefined. */
const fault = (text: string, publicKey: string): string | undefined => {
  const tags = tagList(text)
  if (tags === undefined) return `The record is not a list of DKIM tags. ${publish}, without quotes.`
  const list = (name: string) => (tags.get(name) ?? "").toLowerCase().split(":").map((word) => word.trim())
  if ((tags.get("v") ?? "DKIM1") !== "DKIM1") return `Its version is not DKIM1. ${publish}.`
  if ((tags.get("k") ?? "rsa").toLowerCase() !== "rsa") return `Its key type is not rsa. ${publish}.`
  if (tags.has("h") && !list("h").includes("sha256")) return `It does not allow SHA-256. ${publish}.`
  if (tags.has("s") && !list("s").some((service) => service === "*" || service === "email")) {
    return `It does not allow the key for email. ${publish}.`
  }
  const key = (tags.get("p") ?? "").replaceAll(/\s/g, "")
  if (key === "") return `Its key is empty, which marks it as revoked. ${publish}.`
  if (!base64.test(key)) return `Its key is not valid base64. ${publish}, without quotes or line breaks.`
  return Buffer.from(key, "base64").equals(Buffer.from(publicKey, "base64"))
    ? undefined
    : `Its key is not this domain's key, or it was cut off. ${publish}.`
}

/** Whether the selector's texts contain our public key (RFC 6376, 3.6.1). Required: it proves control of the domain. */
export const judgeDkim = (texts: ReadonlyArray<string>, publicKey: string): Judgement => {
  const keys = texts.filter((text) => isKey.test(text))
  const [key] = keys
  if (key === undefined) {
    return texts.length === 0
      ? judge("missing", texts, "There is no TXT record. Publish this one; it can take minutes to become visible.")
      : judge("mismatch", texts, `There is a TXT record, but no DKIM key. ${publish}.`)
  }
  if (keys.length > 1) {
    return judge("conflict", keys, `There are ${keys.length} DKIM keys. Remove all but the one with this value.`)
  }
  const wrong = fault(key, publicKey)
  if (wrong !== undefined) return judge("mismatch", keys, wrong)
  return /(?:^|;)\s*t\s*=[^;]*\by\b/i.test(key)
    ? judge("verified", keys, "The key is published, but marked as a test (t=y), so receivers may ignore it.")
    : judge("verified", keys, "The key is published.")
}
