import { assert, describe, it } from "@effect/vitest"
import { noteTold, strayRejection } from "../../../../src/channels/whatsapp/baileys/unhandledRejections.ts"

const failure = (code?: string, frame?: string) =>
  Object.assign(new Error("what a stranger has written"), {
    ...(code !== undefined && { code }),
    ...(frame !== undefined && { stack: `Error: what a stranger has written\n    at send (${frame}:1:1)` })
  })

describe("a rejection that nobody has handled", () => {
  it("is the library's when it is no error, as the number that a line was closed with", () => {
    assert.strictEqual(strayRejection(1006), "number")
    assert.strictEqual(strayRejection(undefined), "undefined")
    assert.strictEqual(strayRejection("what a stranger has written"), "string")
  })

  it("is the line's when Node says that it is broken, wherever that was noticed", () => {
    const ours = "/srv/src/channels/whatsapp/baileys/BaileysLine.ts"
    for (const code of ["EPIPE", "ECONNRESET", "ERR_SOCKET_CLOSED", "ERR_STREAM_DESTROYED"]) {
      assert.strictEqual(strayRejection(failure(code, ours)), code)
    }
  })

  it("is the library's when its stack names it, or the library was told of it by us", () => {
    const stacks = ["@whiskeysockets/baileys/lib/Socket/socket.js", "libsignal/src/queue_job.js", "ws/lib/sender.js"]
    for (const file of stacks) {
      assert.strictEqual(strayRejection(failure(undefined, `/srv/node_modules/${file}`)), "error")
    }
    const told = failure()
    noteTold(told)
    assert.strictEqual(strayRejection(told), "error")
  })

  it("is a fault of ours when nothing says otherwise", () => {
    assert.isUndefined(strayRejection(failure()))
    assert.isUndefined(strayRejection(failure("ENOENT")))
    assert.isUndefined(strayRejection(new TypeError("not a function")))
  })
})
