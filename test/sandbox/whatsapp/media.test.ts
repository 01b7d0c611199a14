import { assert, describe, it } from "@effect/vitest"
import { downloadMediaMessage } from "@whiskeysockets/baileys"
import type { WAMessage } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { plainAgent } from "../../../src/platform/net/plainAgent.ts"
import type { BaileysClient } from "../../support/baileysClient.ts"
import { readUntil } from "../../support/readUntil.ts"
import { ann, bob, jid, makeSimulator, session } from "../../support/simulatedSession.ts"

const document = Buffer.from("%PDF-1.7 not a real one, but long enough for two blocks of AES")

const pdf = { document, mimetype: "application/pdf", fileName: "a.pdf", caption: "read" }

/** The file of the first message with a file that the client receives. */
const fileOf = (client: BaileysClient) =>
  Effect.promise(async () => {
    const hasFile = ({ message }: WAMessage) => Boolean(message?.imageMessage ?? message?.documentMessage)
    await client.until(() => client.received.some(hasFile))
    const message = client.received.find(hasFile)
    return message && downloadMediaMessage(message, "buffer", {})
  })

describe("media on the simulated WhatsApp", () => {
  it.live("files are uploaded without TLS and downloaded by phones and sessions in both directions", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const fetchAgent = plainAgent({ host: "127.0.0.1", port: simulator.port })
      const { client } = yield* session(simulator, ann, { fetchAgent })
      const { client: other } = yield* session(simulator, bob)
      yield* Effect.promise(() => client.socket.sendMessage(jid(bob), pdf))
      const [message] = yield* readUntil(() => simulator.controls.messages(bob), ({ length }) => length === 1)
      assert.strictEqual(message?.text, "read")
      const file = yield* Effect.promise(() => simulator.controls.media(bob, message?.id ?? ""))
      assert.deepStrictEqual(file, { mimetype: "application/pdf", base64: document.toString("base64") })
      assert.deepStrictEqual(yield* fileOf(other), document)

      const image = { kind: "image", mimetype: "image/png", base64: document.toString("base64") } as const
      yield* Effect.promise(() => simulator.controls.sendMedia(bob, ann, { ...image, caption: "look" }))
      assert.deepStrictEqual(yield* fileOf(client), document)
      assert.strictEqual(client.received.at(-1)?.message?.imageMessage?.caption, "look")
    }))

  it.live("reactions, polls and quotes arrive with their type and content", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { client } = yield* session(simulator, ann)
      const sent = yield* Effect.promise(() => client.socket.sendMessage(jid(bob), { text: "lunch?" }))
      const id = sent?.key.id ?? ""
      yield* readUntil(() => simulator.controls.messages(bob), ({ length }) => length === 1)
      yield* Effect.promise(() => simulator.controls.react(bob, id, "👍"))
      yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "yes", replyTo: id }))
      yield* Effect.promise(() => simulator.controls.poll(bob, ann, { name: "where", options: ["here", "there"] }))
      yield* Effect.promise(() => client.until(() => client.received.filter(({ key }) => !key.fromMe).length === 3))
      const [reaction, reply, poll] = client.received.filter(({ key }) => !key.fromMe).map(({ message }) => message)
      assert.strictEqual(reaction?.reactionMessage?.text, "👍")
      assert.strictEqual(reaction?.reactionMessage?.key?.id, id)
      assert.strictEqual(reply?.extendedTextMessage?.contextInfo?.stanzaId, id)
      assert.strictEqual(poll?.pollCreationMessage?.name, "where")
    }))
})
