import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto"

const length = 32

const macOf = (key: KeyObject, bound: string) => createHmac("sha256", key).update(bound).digest()

const xor = (a: Uint8Array, b: Uint8Array) => a.map((byte, index) => byte ^ (b[index] ?? 0))

/**
 * The token of a form: a MAC of what it is bound to, under another random mask in each answer, so that compressed answers
 * tell nothing about it.
 */
export const formToken = (key: KeyObject, bound: string): string => {
  const mask = randomBytes(length)
  return Buffer.concat([mask, xor(macOf(key, bound), mask)]).toString("base64url")
}

export const isFormToken = (key: KeyObject, bound: string, token: string): boolean => {
  const bytes = Buffer.from(token, "base64url")
  if (bytes.length !== 2 * length) return false
  const mac = xor(bytes.subarray(length), bytes.subarray(0, length))
  return timingSafeEqual(mac, macOf(key, bound))
}

/** Whether a page of ours sent a request that changes something. */
export const isOwnPage = (
  headers: Readonly<Record<string, string | undefined>>,
  /** The scheme and host by which the browser reached us. */
  origin: string
): boolean => {
  const site = headers["sec-fetch-site"]
  // Every current browser sends it, and no page can change it.
  if (site !== undefined) return site === "same-origin"
  return headers["origin"] === origin
}
