import { assert, describe, it } from "@effect/vitest"
import { causeOf, detailOf } from "../../../../src/channels/whatsapp/baileys/BaileysErrors.ts"

const end = (statusCode: number | undefined, message: string) =>
  Object.assign(new Error(message), statusCode === undefined ? {} : { output: { statusCode } })

describe("the cause of a closed connection", () => {
  it("is logged_out if the server or the phone revokes the credentials", () => {
    for (const code of [401, 403, 411, 419]) {
      assert.strictEqual(causeOf(end(code, "Connection Failure")), "logged_out")
      assert.strictEqual(causeOf(end(code, "Stream Errored (conflict)")), "logged_out")
    }
  })

  it("is lost, not logged_out, if a proxy has answered", () => {
    for (const status of [401, 403, 411, 419, 440, 515]) {
      const error = end(status, `WebSocket Error (Unexpected server response: ${status})`)
      assert.strictEqual(causeOf(error), "lost")
    }
  })

  it("is lost for a rejected version, a server error, and a broken connection", () => {
    for (const code of [405, 408, 428, 500, 503]) assert.strictEqual(causeOf(end(code, "Connection Failure")), "lost")
    assert.strictEqual(causeOf(end(undefined, "the server did not answer")), "lost")
    assert.strictEqual(causeOf(undefined), "lost")
  })

  it("is restart, replaced or codes_expired for the codes of the protocol", () => {
    assert.strictEqual(causeOf(end(515, "Stream Errored (restart required)")), "restart")
    assert.strictEqual(causeOf(end(440, "Stream Errored (conflict)")), "replaced")
    assert.strictEqual(causeOf(end(408, "QR refs attempts ended")), "codes_expired")
    assert.strictEqual(causeOf(end(408, "Connection was lost")), "lost")
  })

  it("appears in the log with its code and message", () => {
    assert.strictEqual(detailOf(end(403, "Connection Failure")), "403: Connection Failure")
    assert.strictEqual(detailOf(undefined), "closed: ")
    assert.include(detailOf(end(405, "Connection Failure")), "set a newer one in WHATSAPP_VERSION")
    assert.notInclude(detailOf(end(405, "WebSocket Error (Unexpected server response: 405)")), "WHATSAPP_VERSION")
  })
})
