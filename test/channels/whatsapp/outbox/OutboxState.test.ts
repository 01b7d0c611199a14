import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type OutboxStatus,
  type ReportedStatus,
  transition
} from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"

const Reported = Schema.Literals(["sent", "delivered", "read", "failed"])

/** Applies the updates in order and collects what they publish. */
const applyAll = (all: ReadonlyArray<ReportedStatus>) => {
  let status: OutboxStatus = "written"
  let left = 0
  const published: Array<ReportedStatus> = []
  for (const reported of all) {
    const next = transition(status, reported)
    if (next === undefined) continue
    status = next.status
    published.push(...next.published)
    if (next.leavesQueue) left++
  }
  return { status, published, left }
}

describe("transition", () => {
  it.prop(
    "publishes each status at most once and in order, and leaves the queue once, for any sequence of updates",
    { updates: Schema.Array(Reported) },
    ({ updates }) => {
      const { left, published, status } = applyAll(updates)
      const order: ReadonlyArray<ReportedStatus> = published.at(-1) === "failed"
        ? ["sent", "failed"]
        : ["sent", "delivered", "read"]
      assert.strictEqual(new Set(published).size, published.length)
      assert.deepStrictEqual(published, order.filter((word) => published.includes(word)))
      assert.strictEqual(status, published.at(-1) ?? "written")
      assert.strictEqual(left, updates.length === 0 ? 0 : 1)
    }
  )

  it("publishes the statuses that a later status implies", () => {
    assert.deepStrictEqual(transition("queued", "read"), {
      status: "read",
      published: ["sent", "delivered", "read"],
      leavesQueue: true
    })
    assert.deepStrictEqual(transition("sent", "read")?.published, ["delivered", "read"])
  })

  it("never goes back to an earlier status", () => {
    assert.isUndefined(transition("read", "delivered"))
    assert.isUndefined(transition("delivered", "failed"))
    assert.isUndefined(transition("failed", "sent"))
  })
})
