import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { DkimSigningFailed } from "../../../../src/channels/email/mime/DkimErrors.ts"
import { type SendOutcome, settle } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { maxAttempts } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "../../../../src/channels/email/smtp/SmtpErrors.ts"

const accepted: SendOutcome = { _tag: "Accepted" }
const unsendable: SendOutcome = { _tag: "Unsendable", reason: "broken" }

const refused = (code: number, enhanced?: string) =>
  new RecipientRefused({
    stage: "rcpt",
    permanent: code >= 500,
    code,
    ...(enhanced !== undefined && { enhanced }),
    response: `${code} ${enhanced ?? ""} no`
  })

const paused = (retryInMillis: number) => new RelayUnavailable({ fault: "paused", reason: "down", retryInMillis })

/** Any outcome after any number of attempts that a row can have. */
const Attempts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxAttempts - 1 }))
const Code = Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))
const Pause = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))

/** Seconds until each next attempt, from the first on. */
const waits = (outcome: SendOutcome) => {
  const delays: Array<number> = []
  let settled = settle(0, outcome, 0)
  for (; settled.delay !== undefined && delays.length < 20; settled = settle(settled.attempt_count, outcome, 0)) {
    delays.push(Duration.toSeconds(settled.delay))
  }
  return { delays, settled }
}

describe("a recipient after an attempt", () => {
  it("is sent once the relay has taken the message", () => {
    assert.deepInclude(settle(3, accepted, 0), { status: "sent", attempt_count: 4, error: null, ambiguous: false })
  })

  it("bounces hard by 5xx, at once, and is suppressed when the mailbox does not exist", () => {
    assert.deepInclude(settle(0, refused(550, "5.1.1"), 0), { status: "bounced", bounce_type: "hard", suppress: "now" })
    assert.deepInclude(settle(0, refused(554, "5.7.1"), 0), {
      status: "bounced",
      bounce_type: "hard",
      suppress: "never"
    })
    assert.deepInclude(settle(0, refused(552, "5.2.2"), 0), {
      status: "bounced",
      bounce_type: "soft",
      suppress: "never"
    })
  })

  it("is offered again by the schedule when it is put off, and bounces softly after the last time", () => {
    const { delays, settled } = waits(refused(450, "4.2.1"))
    assert.deepStrictEqual(delays, [30, 120, 600, 1800, 3600, 7200, 14400])
    assert.deepInclude(settled, { status: "bounced", bounce_type: "soft", attempt_count: 8, suppress: "never" })
  })

  it("is offered again once when nobody knows what became of it, and is counted as ambiguous each time", () => {
    const unknown = new OutcomeUnknown({ reason: "lost" })
    assert.deepInclude(settle(0, unknown, 0), { status: "queued", attempt_count: 1, ambiguous: true })
    assert.deepInclude(settle(3, unknown, 1), {
      status: "failed",
      attempt_count: 4,
      ambiguous: true,
      delay: undefined,
      error: "the relay may have taken it, but never said so: lost"
    })
  })

  it("fails for good when its message cannot be made or signed", () => {
    for (const outcome of [unsendable, new DkimSigningFailed({ domain: "a.example", reason: "no key" })]) {
      assert.deepInclude(settle(0, outcome, 0), {
        status: "failed",
        delay: undefined,
        bounce_type: null,
        suppress: "never"
      })
    }
  })

  it.prop(
    "loses no attempt, and waits at least a second, while the relay cannot be used",
    [Attempts, Pause],
    ([attempts, pause]) => {
      const settled = settle(attempts, paused(pause), 0)
      assert.deepInclude(settled, { status: "queued", attempt_count: attempts, ambiguous: false })
      assert.isAtLeast(Duration.toMillis(settled.delay ?? Duration.zero), Math.max(1_000, pause))
    }
  )

  it.prop("is queued with a time, or at its end without one", [Attempts, Code, Pause], ([attempts, code, pause]) => {
    const outcomes = [accepted, unsendable, refused(code), paused(pause), new OutcomeUnknown({ reason: "lost" })]
    for (const outcome of outcomes) {
      const settled = settle(attempts, outcome, 0)
      assert.strictEqual(settled.status === "queued", settled.delay !== undefined)
      assert.isAtMost(settled.attempt_count, maxAttempts)
      assert.isTrue(settled.attempt_count === attempts + 1 || outcome._tag === "RelayUnavailable")
      assert.isTrue(settled.suppress === "never" || settled.bounce_type === "hard")
      assert.strictEqual(settled.status === "bounced", settled.bounce_type !== null)
    }
  })
})
