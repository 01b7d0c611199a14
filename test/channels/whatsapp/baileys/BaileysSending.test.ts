import { assert, describe, it } from "@effect/vitest"
import type { WASocket } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { Readable } from "node:stream"
import { sendingOf } from "../../../../src/channels/whatsapp/baileys/BaileysSending.ts"
import type { Draft } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"

const plain = Buffer.from("plain words of a tenant. ".repeat(100))

/** A directory that is TMPDIR until the scope closes. */
const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => {
    const before = NodeProcess.env["TMPDIR"]
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "sending-"))
    NodeProcess.env["TMPDIR"] = path
    return { before, path }
  }),
  ({ before, path }) =>
    Effect.sync(() => {
      if (before === undefined) delete NodeProcess.env["TMPDIR"]
      else NodeProcess.env["TMPDIR"] = before
      NodeFs.rmSync(path, { recursive: true })
    })
)

describe("compose", () => {
  for (const type of ["audio", "image", "video", "document"] as const) {
    it.effect(`writes only the encrypted bytes of ${type} files to disk, and removes them`, () =>
      Effect.gen(function*() {
        const { path } = yield* temporaryDirectory
        const seen: Array<Buffer> = []
        // Only the upload of the socket is called.
        const socket = {
          waUploadToServer: () => {
            for (const name of NodeFs.readdirSync(path)) seen.push(NodeFs.readFileSync(NodePath.join(path, name)))
            return Promise.resolve({ mediaUrl: "https://mmg.whatsapp.net/x", directPath: "/x" })
          }
        } as unknown as WASocket
        const file = { stream: Readable.from([plain]), mimeType: "application/octet-stream" }
        const draft = { type, content: {}, file } as unknown as Draft
        yield* sendingOf(socket, { logger: undefined, relay: () => Promise.resolve([]) }).compose(draft)
        assert.strictEqual(seen.length, 1)
        assert.isFalse(seen.some((bytes) => bytes.includes("plain words")))
        assert.deepStrictEqual(NodeFs.readdirSync(path), [])
      }))
  }
})
