import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  advance,
  type LaterStatus,
  type MessageStatus,
  type Reached,
  RecipientStatus
} from "../../../../src/channels/email/recipients/MessageState.ts"

const Status = Schema.Union([RecipientStatus, Schema.Literal("sending")])
const Later = Schema.Literals(["delivered", "opened", "clicked", "bounced", "complained"])
const Reports = Schema.Array(Later)

const at = (status: MessageStatus) => ({ status, was_delivered: status === "delivered" })

const report = (reached: Reached, next: LaterStatus): Reached => {
  const advanced = advance(reached, next)
  return advanced === undefined
    ? reached
    : { status: advanced.status, was_delivered: reached.was_delivered || next === "delivered" }
}

const after = (start: MessageStatus, reports: ReadonlyArray<LaterStatus>) => reports.reduce(report, at(start)).status

describe("MessageState.advance", () => {
  it("moves a message from sent to delivered, opened and clicked, and to bounced or complained from any of them", () => {
    const line = ["sent", "delivered", "opened", "clicked", "bounced", "complained"] as const
    for (const [from, status] of line.entries()) {
      for (const [further, next] of line.entries()) {
        if (next === "sent") continue
        const expected = further > from ? { status: next, impliesSent: false, countsAsSent: false } : undefined
        assert.deepStrictEqual(advance({ status, was_delivered: true }, next), expected, `${status}, ${next}`)
      }
    }
  })

  it("implies that an unrecorded message was sent, and counts it unless it was counted before", () => {
    for (const status of ["queued", "sending"] as const) {
      assert.deepStrictEqual(advance(at(status), "delivered"), {
        status: "delivered",
        impliesSent: true,
        countsAsSent: true
      })
    }
    for (const status of ["failed", "suppressed", "canceled"] as const) {
      assert.deepStrictEqual(advance(at(status), "bounced"), {
        status: "bounced",
        impliesSent: true,
        countsAsSent: false
      })
    }
  })

  it("counts a delivery that is reported after an open or a click once, and leaves the status", () => {
    for (const status of ["opened", "clicked"] as const) {
      const counted = { status, impliesSent: false, countsAsSent: false }
      assert.deepStrictEqual(advance({ status, was_delivered: false }, "delivered"), counted)
      assert.isUndefined(advance({ status, was_delivered: true }, "delivered"))
    }
    assert.isUndefined(advance({ status: "bounced", was_delivered: false }, "delivered"))
  })

  it.prop("changes nothing when the same reports repeat", [Status, Reports], ([start, reports]) => {
    const end = after(start, reports)
    assert.strictEqual(after(end, reports), end)
  })

  it.prop("ends with the same status in any order of reports", [Status, Reports], ([start, reports]) => {
    assert.strictEqual(after(start, reports.toReversed()), after(start, reports))
    assert.strictEqual(after(start, reports.toSorted()), after(start, reports))
  })

  it.prop(
    "counts each kind of report at most once, and the message as sent at most once",
    [Status, Reports],
    ([start, reports]) => {
      const counting: Array<LaterStatus> = []
      let reached: Reached = at(start)
      let counted = 0
      for (const later of reports) {
        const next = advance(reached, later)
        if (next === undefined) continue
        reached = report(reached, later)
        counting.push(later)
        if (next.countsAsSent) counted++
      }
      assert.strictEqual(new Set(counting).size, counting.length)
      assert.isAtMost(counted, ["scheduled", "queued", "sending"].includes(start) ? 1 : 0)
    }
  )
})
