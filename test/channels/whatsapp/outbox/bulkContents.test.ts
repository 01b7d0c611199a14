import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ChatName } from "../../../../src/channels/whatsapp/content/MessageContent.ts"
import { bulkContents } from "../../../../src/channels/whatsapp/outbox/bulkContents.ts"

const to = ChatName.make("+250788123456")

describe("bulkContents", () => {
  it.effect("allows at most 500 different variables, as stored templates do", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 501 }, (_, index) => `v${index}`)
      const variables = Object.fromEntries(names.map((name) => [name, "x"]))
      const contents = (count: number) => {
        const body = names.slice(0, count).map((name) => `{{${name}}}`).join("")
        return bulkContents({ type: "text", content: { body } }, [{ to, variables }])
      }
      assert.deepInclude((yield* contents(500))[0], { body: "x".repeat(500) })
      const { errors, param } = yield* Effect.flip(contents(501))
      assert.strictEqual(param, "content.body")
      assert.match(errors[0]?.message ?? "", /^must have at most 500 different variables/)
    }))

  it.effect("limits each text like that of a single message, and counts an emoji as one character", () =>
    Effect.gen(function*() {
      const contents = (count: number) =>
        bulkContents({ type: "text", content: { body: "{{all}}" } }, [{ to, variables: { all: "😀".repeat(count) } }])
      assert.deepStrictEqual(yield* contents(4_096), [{ body: "😀".repeat(4_096) }])
      const { errors, param } = yield* Effect.flip(contents(4_097))
      assert.strictEqual(param, "recipients[0].variables")
      assert.match(errors[0]?.message ?? "", /at most 4096 characters/)
    }))
})
