import { assert, describe, it } from "@effect/vitest"
import { Headers } from "effect/http"
import { isOwnForm } from "../../../../src/sandbox/whatsapp/model/isOwnForm.ts"

const sent = (headers: Record<string, string>) =>
  isOwnForm({ headers: Headers.fromInput({ host: "127.0.0.1:8080", ...headers }) })

describe("a form of the sandbox", () => {
  it("is taken from a page of the same server, and from a program that is no browser", () => {
    assert.isTrue(sent({}))
    assert.isTrue(sent({ origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-origin" }))
  })

  it("is not taken from a page of anybody else: not of another port, nor of one that hides where it is", () => {
    for (const origin of ["https://evil.example", "http://127.0.0.1:9000", "http://localhost:8080", "null", ""]) {
      assert.isFalse(sent({ origin }), origin)
    }
    for (const site of ["cross-site", "same-site"]) assert.isFalse(sent({ "sec-fetch-site": site }), site)
  })
})
