import { assert, describe, it } from "@effect/vitest"
import { proto } from "@whiskeysockets/baileys"
import { mediaPart } from "../../../../src/channels/whatsapp/inbox/inboundMessage.ts"
import { mediaLocation } from "../../../../src/channels/whatsapp/inbox/mediaLocation.ts"

describe("mediaLocation", () => {
  const part = (url: string, directPath: string) => {
    const image = { url, directPath, mediaKey: new Uint8Array(32), mimetype: "image/png" }
    return mediaPart(proto.Message.encode({ imageMessage: image }).finish()) ?? assert.fail("has no file")
  }

  it("allows only WhatsApp's own hosts, and this machine if WhatsApp is simulated", () => {
    const whatsapp = "https://media-fra1.cdn.whatsapp.net/v/x"
    assert.strictEqual(mediaLocation(part(whatsapp, "/v/y"), true), "https://media-fra1.cdn.whatsapp.net/v/y")
    assert.strictEqual(mediaLocation(part("https://evil.example/", "/v/y"), true), "https://mmg.whatsapp.net/v/y")
    assert.isUndefined(mediaLocation(part("https://evil.example/whatsapp.net", ""), true))
    assert.isUndefined(mediaLocation(part("https://evilwhatsapp.net/", ""), true))
    assert.isUndefined(mediaLocation(part("http://127.0.0.1:1/x", ""), true))
    assert.strictEqual(mediaLocation(part("http://127.0.0.1:1/x", ""), false), "http://127.0.0.1:1/x")
    assert.isUndefined(mediaLocation(part("http://169.254.169.254/x", ""), false))
  })
})
