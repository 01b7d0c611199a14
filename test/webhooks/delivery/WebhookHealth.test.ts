import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { WebhookId } from "../../../src/values/Ids.ts"
import { failureCount, healthChanges } from "../../../src/webhooks/delivery/WebhookHealth.ts"

const Sign = Schema.Struct({
  webhookId: Schema.Literals([1, 2, 3]),
  health: Schema.Literals(["success", "exhausted", "gone", "undecided"])
})

const signsOf = (signs: ReadonlyArray<typeof Sign.Type>) =>
  signs.map(({ health, webhookId }) => ({ webhookId: WebhookId.make(webhookId), transition: { health } }))

describe("the health of a webhook", () => {
  it.prop(
    "counts the deliveries used up since the last success, however the outcomes are grouped",
    [Schema.Array(Schema.Array(Sign))],
    ([groups]) => {
      for (const id of [1, 2, 3]) {
        const own = groups.flat().filter(({ webhookId }) => webhookId === id).map(({ health }) => health)
        const decided = own.filter((health) => health !== "undecided")
        const expected = decided.length - 1 - decided.lastIndexOf("success")
        const count = groups.reduce((before, group) => {
          const change = healthChanges(signsOf(group)).find((one) => one.id === id)
          return change === undefined ? before : failureCount(before, change)
        }, 0)
        assert.strictEqual(count, expected)
      }
    }
  )

  it.prop("is gone when a delivery since the last success met 410 alone", [Schema.Array(Sign)], ([signs]) => {
    for (const { gone, id } of healthChanges(signsOf(signs))) {
      const own = signs.filter(({ webhookId }) => webhookId === id).map(({ health }) => health)
      assert.strictEqual(gone, own.slice(own.lastIndexOf("success") + 1).includes("gone"))
    }
  })
})
