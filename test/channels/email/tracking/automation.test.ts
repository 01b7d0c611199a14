import { assert, describe, it } from "@effect/vitest"
import { isBotClick, isMachineOpen } from "../../../../src/channels/email/tracking/automation.ts"

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
const readers = [
  firefox,
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 10; CUBOT X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
  "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0; Pro)"
]
const programs = [
  "",
  "curl/8.5.0",
  "python-requests/2.32",
  "Googlebot/2.1",
  "Mozilla/5.0 (compatible; bingbot/2.0)",
  "Barracuda Sentinel"
]
const late = { millisSinceSent: 60_000 }

describe("isMachineOpen and isBotClick", () => {
  it("recognise a reader by a browser or mail program, seconds after acceptance by the relay", () => {
    for (const userAgent of readers) {
      assert.isFalse(isMachineOpen({ ...late, userAgent }), userAgent)
      assert.isFalse(isBotClick({ ...late, userAgent, method: "GET", isOneOfMany: false }), userAgent)
    }
  })

  it("recognise a program by its name or by a missing name", () => {
    for (const userAgent of programs) {
      assert.isTrue(isMachineOpen({ ...late, userAgent }), userAgent)
      assert.isTrue(isBotClick({ ...late, userAgent, method: "GET", isOneOfMany: false }), userAgent)
    }
  })

  it("recognise the image proxies of Apple and Google as machines", () => {
    assert.isTrue(isMachineOpen({ ...late, userAgent: "Mozilla/5.0" }))
    assert.isTrue(
      isMachineOpen({
        ...late,
        userAgent: "Mozilla/5.0 (Windows NT 5.1) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
      })
    )
  })

  it("recognise a program by a visit within five seconds, by HEAD, and by many links at once", () => {
    for (const millisSinceSent of [undefined, 0, 4_999]) {
      assert.isTrue(isMachineOpen({ userAgent: firefox, millisSinceSent }))
      assert.isTrue(isBotClick({ userAgent: firefox, millisSinceSent, method: "GET", isOneOfMany: false }))
    }
    assert.isFalse(isMachineOpen({ userAgent: firefox, millisSinceSent: 5_000 }))
    assert.isTrue(isBotClick({ ...late, userAgent: firefox, method: "HEAD", isOneOfMany: false }))
    assert.isTrue(isBotClick({ ...late, userAgent: firefox, method: "GET", isOneOfMany: true }))
  })
})
