import { createHmac, timingSafeEqual } from "node:crypto"

const equal = (expected, given) => {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)]
  return left.length === right.length && timingSafeEqual(left, right)
}

// secret: as it was shown, whsec_ included
// body: a Buffer, the bytes as they came
// headers: names in lower case, as node:http gives them

export const verifyServiceSignature = (secret, body, headers) => {
  const expected = createHmac("sha256", secret).update(body).digest("hex")
  return equal(expected, headers["x-service-signature"] ?? "")
    || equal(expected, headers["x-service-signature-previous"] ?? "")
}

export const verifyStandardSignature = (secret, body, headers) => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const timestamp = headers["webhook-timestamp"] ?? ""
  const signed = createHmac("sha256", key).update(`${headers["webhook-id"] ?? ""}.${timestamp}.`).update(body)
  const expected = `v1,${signed.digest("base64")}`
  const fits = (headers["webhook-signature"] ?? "").split(" ").some((given) => equal(expected, given))
  return fits && Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
}
