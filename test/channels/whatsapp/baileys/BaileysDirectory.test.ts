import { assert, describe, it } from "@effect/vitest"
import type { WASocket } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import { directoryOf } from "../../../../src/channels/whatsapp/baileys/BaileysDirectory.ts"

describe("BaileysDirectory", () => {
  it.effect("removes what the database refuses from the names and descriptions of groups", () =>
    Effect.gen(function*() {
      const group = { id: "1@g.us", subject: "Te\u0000am\ud800", desc: "\u0000", participants: [] }
      // Only the request for one group is called.
      const socket = { groupMetadata: () => Promise.resolve(group) } as unknown as WASocket
      const { description, name } = yield* directoryOf(socket).group("1@g.us")
      assert.deepStrictEqual({ name, description }, { name: "Team\ufffd", description: null })
    }))
})
