import { assert, describe, it } from "@effect/vitest"
import { Headers } from "effect/http"
import { isOwnForm } from "../../../../src/sandbox/whatsapp/model/isOwnForm.ts"

const sent = (headers: Record<string, string>) =>
  isOwnForm({ headers: Headers.fromInput({ host: "127.0.0.1:8080", ...headers }) })

describe("isOwnForm", () => {
  it("forms from the same server and requests from other programs than browsers are accepted", () => {
    assert.isTrue(sent({}))
    assert.isTrue(sent({ origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" }))
  })

  it("forms from another origin or port, or with a hidden origin, are refused", () => {
    for (const origin of ["https://evil.example", "http://127.0.0.1:9000", "http://localhost:8080", "null", ""]) {
      assert.isFalse(sent({ origin }), origin)
    }
    for (const site of ["cross-site", "same-site"]) assert.isFalse(sent({ "sec-fetch-site": site }), site)
  })
})
