import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { advance, type Heard, type OutboxStatus } from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"

const HeardWord = Schema.Literals(["sent", "delivered", "read", "failed"])

/** What is told when all this is heard, one after the other. */
const tell = (all: ReadonlyArray<Heard>) => {
  let status: OutboxStatus = "written"
  let left = 0
  const told: Array<Heard> = []
  for (const heard of all) {
    const advanced = advance(status, heard)
    if (advanced === undefined) continue
    status = advanced.status
    told.push(...advanced.told)
    if (advanced.leavesQueue) left++
  }
  return { status, told, left }
}

describe("advance", () => {
  it.prop(
    "tells each word once, in the order of the way, and leaves the queue once, whatever comes in whatever order",
    { heard: Schema.Array(HeardWord) },
    ({ heard }) => {
      const { left, status, told } = tell(heard)
      const way: ReadonlyArray<Heard> = told.at(-1) === "failed" ? ["sent", "failed"] : ["sent", "delivered", "read"]
      assert.strictEqual(new Set(told).size, told.length)
      assert.deepStrictEqual(told, way.filter((word) => told.includes(word)))
      assert.strictEqual(status, told.at(-1) ?? "written")
      assert.strictEqual(left, heard.length === 0 ? 0 : 1)
    }
  )

  it("tells what later news implies", () => {
    assert.deepStrictEqual(advance("queued", "read"), {
      status: "read",
      told: ["sent", "delivered", "read"],
      leavesQueue: true
    })
    assert.deepStrictEqual(advance("sent", "read")?.told, ["delivered", "read"])
  })

  it("never goes back", () => {
    assert.isUndefined(advance("read", "delivered"))
    assert.isUndefined(advance("delivered", "failed"))
    assert.isUndefined(advance("failed", "sent"))
  })
})
