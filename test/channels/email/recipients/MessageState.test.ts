import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RecipientStatus } from "../../../../src/channels/email/bulk/Batch.ts"
import { advance, type MessageStatus, type News } from "../../../../src/channels/email/recipients/MessageState.ts"

const Status = Schema.Union([RecipientStatus, Schema.Literal("sending")])
const AnyNews = Schema.Literals(["delivered", "opened", "clicked", "bounced", "complained"])
const Story = Schema.Array(AnyNews)

const after = (start: MessageStatus, story: ReadonlyArray<News>) =>
  story.reduce<MessageStatus>((status, news) => advance(status, news)?.status ?? status, start)

describe("a message and news of it", () => {
  it("goes from sent to delivered, opened and clicked, and may bounce or be complained about after any of them", () => {
    const line = ["sent", "delivered", "opened", "clicked", "bounced", "complained"] as const
    for (const [at, status] of line.entries()) {
      for (const [further, news] of line.entries()) {
        if (news === "sent") continue
        const expected = further > at ? { status: news, impliesSent: false, countsAsSent: false } : undefined
        assert.deepStrictEqual(advance(status, news), expected, `${status}, ${news}`)
      }
    }
  })

  it("was sent when there is news of it, whatever we had noted, and counts as sent unless it was counted already", () => {
    for (const status of ["queued", "sending"] as const) {
      assert.deepStrictEqual(advance(status, "delivered"), {
        status: "delivered",
        impliesSent: true,
        countsAsSent: true
      })
    }
    for (const status of ["failed", "suppressed", "canceled"] as const) {
      assert.deepStrictEqual(advance(status, "bounced"), { status: "bounced", impliesSent: true, countsAsSent: false })
    }
  })

  it.prop("changes nothing when it is told again", [Status, Story], ([start, story]) => {
    const end = after(start, story)
    assert.strictEqual(after(end, story), end)
  })

  it.prop("ends the same in whatever order it comes", [Status, Story], ([start, story]) => {
    assert.strictEqual(after(start, story.toReversed()), after(start, story))
    assert.strictEqual(after(start, story.toSorted()), after(start, story))
  })

  it.prop("is told at most once of each kind, and counts at most once", [Status, Story], ([start, story]) => {
    const told: Array<News> = []
    let status: MessageStatus = start
    let counted = 0
    for (const news of story) {
      const next = advance(status, news)
      if (next === undefined) continue
      status = next.status
      told.push(news)
      if (next.countsAsSent) counted++
    }
    assert.strictEqual(new Set(told).size, told.length)
    assert.isAtMost(counted, start === "queued" || start === "sending" ? 1 : 0)
  })
})
