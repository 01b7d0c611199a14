import { assert, describe, it } from "@effect/vitest"
import { type Facts, timelineOf } from "../../src/history/timelineOf.ts"
import type { Copy } from "../../src/history/TimelineRepo.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

const at = (second: number) => Timestamp.make(`2030-01-31T09:00:${String(second).padStart(2, "0")}.000000Z`)

const copy: Copy = {
  recipient: "ada@example.com",
  direction: "out",
  status: "sent",
  batch_id: null,
  accepted_by: null,
  error: null,
  send_at: null,
  reschedules: [],
  created_at: at(0),
  sent_at: null,
  delivered_at: null,
  read_at: null,
  opened_at: null,
  clicked_at: null,
  ended_at: null
}

const facts: Facts = { channel: "email", copies: [copy], attempts: [], events: [], deliveries: [] }

const shown = (of: Facts) => timelineOf(of).map(({ at, kind }) => `${at.slice(17, 19)} ${kind}`)

describe("a timeline", () => {
  it("lists causes before what they cause at the same time", () => {
    const tried = {
      attempt: 1,
      outcome: "accepted",
      recipient: copy.recipient,
      part: null,
      peer: "127.0.0.1",
      reply: "250 2.0.0 Ok",
      duration_ms: 1000,
      dialogue: null,
      next_at: null,
      at: at(3),
      started_at: at(2)
    } as const
    const deferred = { ...tried, outcome: "deferred", at: at(1), started_at: at(1), next_at: at(2) } as const
    const event = { id: "evt_1", event: "email.sent", at: at(3), webhook_ids: [1], delivery_ids: [1] }
    const delivery = {
      id: 1,
      webhook_id: 1,
      event_id: "evt_1",
      event: "email.sent",
      status: "delivered",
      attempts: 1,
      response_code: 200,
      error: null,
      at: at(3)
    } as const
    assert.deepStrictEqual(
      shown({
        ...facts,
        copies: [{ ...copy, status: "opened", sent_at: at(3), opened_at: at(4), ended_at: at(3) }],
        attempts: [deferred, tried],
        events: [event],
        deliveries: [delivery]
      }),
      [
        "00 accepted",
        "00 queued",
        "01 claimed",
        "01 attempt",
        "01 deferred",
        "02 claimed",
        "03 attempt",
        "03 status",
        "03 event",
        "03 delivery",
        "04 status"
      ]
    )
  })

  it("of a message that was never sent says why", () => {
    const suppressed = timelineOf({ ...facts, copies: [{ ...copy, status: "suppressed", ended_at: at(0) }] })
    assert.deepStrictEqual(suppressed.map(({ kind }) => kind), ["accepted", "suppressed"])
    const canceled = timelineOf({
      ...facts,
      copies: [{ ...copy, status: "canceled", send_at: at(9), ended_at: at(5) }]
    })
    assert.deepStrictEqual(canceled.map(({ kind }) => kind), ["accepted", "scheduled", "canceled"])
    const failed = timelineOf({ ...facts, copies: [{ ...copy, status: "failed", error: "no relay", ended_at: at(5) }] })
    assert.deepStrictEqual(failed.at(-1), {
      at: at(5),
      kind: "status",
      detail: { status: "failed", source: "service", to: "ada@example.com", error: "no relay" }
    })
  })

  it("of a mail that bounced later names the report, and of one that was refused the relay", () => {
    const attempt = { attempt: 1, recipient: copy.recipient, part: null, peer: null, reply: null, duration_ms: 1 }
    const tried = (outcome: "accepted" | "refused") =>
      ({ ...attempt, outcome, dialogue: null, next_at: null, at: at(1), started_at: at(1) }) as const
    const source = (outcome: "accepted" | "refused") =>
      timelineOf({
        ...facts,
        copies: [{ ...copy, status: "bounced", ended_at: at(2) }],
        attempts: [tried(outcome)]
      }).at(-1)?.detail
    assert.deepInclude(source("accepted"), { status: "bounced", source: "report" })
    assert.deepInclude(source("refused"), { status: "bounced", source: "relay" })
    const early = timelineOf({ ...facts, copies: [{ ...copy, status: "bounced", sent_at: at(1), ended_at: at(1) }] })
    assert.deepInclude(early.at(-1)?.detail, { status: "bounced", source: "report" })
  })

  it("tells each change of the time until the message ended, and the time that was asked for first", () => {
    const reschedules = [{ at: at(2), from: at(20), to: at(30) }, { at: at(4), from: at(30), to: at(40) }]
    const own = { ...copy, send_at: at(40), reschedules: reschedules.toReversed() }
    assert.deepStrictEqual(
      timelineOf({ ...facts, copies: [{ ...own, status: "scheduled" }] }).slice(1).map(({ detail }) => detail),
      [{ send_at: at(20) }, { send_at: at(30) }, { send_at: at(40) }]
    )
    // A batch may get another time after one of its messages was canceled.
    const canceled = { ...own, status: "canceled", ended_at: at(3) } as const
    assert.deepStrictEqual(shown({ ...facts, copies: [canceled] }), [
      "00 accepted",
      "00 scheduled",
      "02 rescheduled",
      "03 canceled"
    ])
  })
})
