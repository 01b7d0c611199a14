import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { Headers } from "effect/http"
import { isLocalRequest, isOwnForm } from "../../../src/sandbox/pages/localRequest.ts"

const asked = (peer: string | undefined, headers: Record<string, string>, client = peer) =>
  isLocalRequest({
    peerAddress: Option.fromUndefinedOr(peer),
    remoteAddress: Option.fromUndefinedOr(client),
    headers: Headers.fromInput(headers)
  })

describe("isLocalRequest", () => {
  it("loopback peers that use one of this machine's names are accepted", () => {
    for (const peer of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
      for (const host of ["localhost:8080", "127.0.0.1", "[::1]:80", "dev.localhost"]) {
        assert.isTrue(asked(peer, { host }), `${peer} ${host}`)
      }
    }
  })

  it("other peers, foreign host names and forwarded requests are refused", () => {
    const host = "localhost"
    assert.isFalse(asked("10.0.0.1", { host }))
    assert.isFalse(asked("::ffff:10.0.0.1", { host }))
    assert.isFalse(asked(undefined, { host }))
    assert.isFalse(asked("127.0.0.1", {}))
    assert.isFalse(asked("127.0.0.1", { host: "rebound.example" }))
    assert.isFalse(asked("127.0.0.1", { host: "localhost.evil.example" }))
    assert.isFalse(asked("127.0.0.1", { host: "127.0.0.1.evil.example" }))
    assert.isFalse(asked("127.0.0.1", { host }, "203.0.113.9"))
    assert.isFalse(asked("10.0.0.1", { host }, "127.0.0.1"))
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip"]) {
      assert.isFalse(asked("127.0.0.1", { host, [name]: "203.0.113.9" }), name)
    }
  })
})

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
