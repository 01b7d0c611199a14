import { assert, describe, it } from "@effect/vitest"
import { classifyRejection, markReported } from "../../../../src/channels/whatsapp/baileys/unhandledRejections.ts"

const failure = (code?: string, frame?: string) =>
  Object.assign(new Error("text of a stranger"), {
    ...(code !== undefined && { code }),
    ...(frame !== undefined && { stack: `Error: text of a stranger\n    at send (${frame}:1:1)` })
  })

describe("classifyRejection", () => {
  it("returns the type of a rejection that is not an error, such as a close code", () => {
    assert.strictEqual(classifyRejection(1006), "number")
    assert.strictEqual(classifyRejection(undefined), "undefined")
    assert.strictEqual(classifyRejection("text of a stranger"), "string")
  })

  it("returns Node's code of a broken connection, whatever the stack says", () => {
    const ours = "/srv/src/channels/whatsapp/baileys/BaileysAuth.ts"
    for (const code of ["EPIPE", "ECONNRESET", "ERR_SOCKET_CLOSED", "ERR_STREAM_DESTROYED"]) {
      assert.strictEqual(classifyRejection(failure(code, ours)), code)
    }
  })

  it("recognises errors of the library by their stack, and our errors that were passed to it", () => {
    const stacks = ["@whiskeysockets/baileys/lib/Socket/socket.js", "libsignal/src/queue_job.js", "ws/lib/sender.js"]
    for (const file of stacks) {
      assert.strictEqual(classifyRejection(failure(undefined, `/srv/node_modules/${file}`)), "error")
    }
    const reported = failure()
    markReported(reported)
    assert.strictEqual(classifyRejection(reported), "error")
  })

  it("returns undefined for a fault of our own code", () => {
    assert.isUndefined(classifyRejection(failure()))
    assert.isUndefined(classifyRejection(failure("ENOENT")))
    assert.isUndefined(classifyRejection(new TypeError("not a function")))
  })
})
