import { assert, describe, it } from "@effect/vitest"
import { causeOf, detailOf } from "../../../../src/channels/whatsapp/baileys/BaileysErrors.ts"

const end = (statusCode: number | undefined, message: string) =>
  Object.assign(new Error(message), statusCode === undefined ? {} : { output: { statusCode } })

describe("the end of a connection", () => {
  it("is a log-out when the server or the phone says that the credentials are worth nothing", () => {
    for (const code of [401, 403, 411, 419]) {
      assert.strictEqual(causeOf(end(code, "Connection Failure")), "logged_out")
      assert.strictEqual(causeOf(end(code, "Stream Errored (conflict)")), "logged_out")
    }
  })

  it("is no log-out when whatever stands before the server has answered, and erases no credentials", () => {
    for (const status of [401, 403, 411, 419, 440, 515]) {
      const error = end(status, `WebSocket Error (Unexpected server response: ${status})`)
      assert.strictEqual(causeOf(error), "lost")
    }
  })

  it("is lost for a version that is refused, a server that is away or has trouble, and a line that breaks", () => {
    for (const code of [405, 408, 428, 500, 503]) assert.strictEqual(causeOf(end(code, "Connection Failure")), "lost")
    assert.strictEqual(causeOf(end(undefined, "the server did not answer")), "lost")
    assert.strictEqual(causeOf(undefined), "lost")
  })

  it("is a restart, another device in its place, or the last code that nobody has scanned", () => {
    assert.strictEqual(causeOf(end(515, "Stream Errored (restart required)")), "restart")
    assert.strictEqual(causeOf(end(440, "Stream Errored (conflict)")), "replaced")
    assert.strictEqual(causeOf(end(408, "QR refs attempts ended")), "codes_used_up")
    assert.strictEqual(causeOf(end(408, "Connection was lost")), "lost")
  })

  it("is in the log with its code and what was said", () => {
    assert.strictEqual(detailOf(end(403, "Connection Failure")), "403: Connection Failure")
    assert.strictEqual(detailOf(undefined), "closed: ")
    assert.include(detailOf(end(405, "Connection Failure")), "WHATSAPP_VERSION sets another")
    assert.notInclude(detailOf(end(405, "WebSocket Error (Unexpected server response: 405)")), "WHATSAPP_VERSION")
  })
})
