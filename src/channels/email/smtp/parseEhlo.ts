import type { SmtpCapabilities } from "./Smtp.ts"

/** Reads an EHLO answer (RFC 5321 4.1.1.1); the first line is the greeting and announces nothing. */
export const parseEhlo = (reply: string, tls: boolean): SmtpCapabilities => {
  const lines = reply.split(/\r?\n/).slice(1).map((line) => line.slice(4).trim().toUpperCase())
  const keywords = lines.map((line) => line.split(/[\s=]/, 1)[0] ?? "")
  const parameters = (keyword: string) => {
    const line = lines[keywords.indexOf(keyword)]
    return line === undefined ? [] : line.split(/[\s=]+/).slice(1)
  }
  const size = Number(parameters("SIZE")[0])
  return {
    extensions: keywords.filter((keyword) => keyword !== ""),
    authMethods: parameters("AUTH"),
    // RFC 1870: 0 and a missing number both mean that no limit is stated.
    maxSize: Number.isSafeInteger(size) && size > 0 ? size : undefined,
    tls
  }
}
