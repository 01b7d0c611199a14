import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeHeaders, encodeHeaders, WebhookHeaders } from "../../../src/webhooks/endpoint/WebhookHeaders.ts"

const decode = (headers: unknown) => Schema.decodeUnknownResult(WebhookHeaders)(headers, { errors: "all" })
const isRefused = (headers: unknown) => Result.isFailure(decode(headers))

describe("WebhookHeaders", () => {
  it("accepts ten headers with tokens as names and printable values", () => {
    const ten = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [`X-Gateway-${index}`, `Bearer ${index} \t~`])
    )
    assert.isTrue(Result.isSuccess(decode(ten)))
    assert.isTrue(isRefused({ ...ten, "X-Gateway-10": "x" }))
    assert.isTrue(Result.isSuccess(decode({ Authorization: "Basic dTpw", "CF-Access-Client-Id": "x".repeat(1_000) })))
  })

  it("refuses names of the service, of HTTP and of the connection in any case", () => {
    for (
      const name of [
        "X-Service-Signature",
        "x-service-anything",
        "webhook-id",
        "Webhook-Signature",
        "Host",
        "Content-Type",
        "content-length",
        "Connection",
        "Keep-Alive",
        "Proxy-Authorization",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "Expect",
        "User-Agent"
      ]
    ) assert.isTrue(isRefused({ [name]: "x" }), name)
  })

  it("refuses names that are no tokens, and one name in two cases", () => {
    for (const name of ["", "X Y", "X:Y", "X\r\nY", "Ü", "x".repeat(101)]) {
      assert.isTrue(isRefused({ [name]: "x" }), name)
    }
    assert.isTrue(isRefused({ "X-Team": "a", "x-team": "b" }))
  })

  it("refuses values that would end or change a header", () => {
    for (const value of ["", " ", " x", "x ", "a\r\nb", "a\nb", "a\0b", "ü", "x".repeat(1_001)]) {
      assert.isTrue(isRefused({ "X-Team": value }), JSON.stringify(value))
    }
    for (const value of [1, null, ["x"], {}]) assert.isTrue(isRefused({ "X-Team": value }))
  })

  it("a refusal names the header and never shows its value", () => {
    const refused = decode({ "Transfer-Encoding": "secret-1", "X-Team": "secret-2\n" })
    const message = Result.isFailure(refused) ? refused.failure.message : ""
    assert.include(message, "Transfer-Encoding")
    assert.include(message, "X-Team")
    assert.notInclude(message, "secret")
  })

  it("stored headers read back as they were", () => {
    const headers = { "X-Team": "ops \"quoted\"", Authorization: "Bearer x" }
    assert.deepStrictEqual(decodeHeaders(encodeHeaders(headers)), headers)
  })
})
