import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  advance,
  type LaterStatus,
  type MessageStatus,
  RecipientStatus
} from "../../../../src/channels/email/recipients/MessageState.ts"

const Status = Schema.Union([RecipientStatus, Schema.Literal("sending")])
const Later = Schema.Literals(["delivered", "opened", "clicked", "bounced", "complained"])
const Reports = Schema.Array(Later)

const after = (start: MessageStatus, reports: ReadonlyArray<LaterStatus>) =>
  reports.reduce<MessageStatus>((status, next) => advance(status, next)?.status ?? status, start)

describe("MessageState.advance", () => {
  it("moves a message from sent to delivered, opened and clicked, and to bounced or complained from any of them", () => {
    const line = ["sent", "delivered", "opened", "clicked", "bounced", "complained"] as const
    for (const [at, status] of line.entries()) {
      for (const [further, next] of line.entries()) {
        if (next === "sent") continue
        const expected = further > at ? { status: next, impliesSent: false, countsAsSent: false } : undefined
        assert.deepStrictEqual(advance(status, next), expected, `${status}, ${next}`)
      }
    }
  })

  it("implies that an unrecorded message was sent, and counts it unless it was counted before", () => {
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

  it.prop("changes nothing when the same reports repeat", [Status, Reports], ([start, reports]) => {
    const end = after(start, reports)
    assert.strictEqual(after(end, reports), end)
  })

  it.prop("ends with the same status in any order of reports", [Status, Reports], ([start, reports]) => {
    assert.strictEqual(after(start, reports.toReversed()), after(start, reports))
    assert.strictEqual(after(start, reports.toSorted()), after(start, reports))
  })

  it.prop("advances at most once to each status and counts at most once", [Status, Reports], ([start, reports]) => {
    const reached: Array<LaterStatus> = []
    let status: MessageStatus = start
    let counted = 0
    for (const later of reports) {
      const next = advance(status, later)
      if (next === undefined) continue
      status = next.status
      reached.push(later)
      if (next.countsAsSent) counted++
    }
    assert.strictEqual(new Set(reached).size, reached.length)
    assert.isAtMost(counted, ["scheduled", "queued", "sending"].includes(start) ? 1 : 0)
  })
})
