import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { DkimSigningFailed } from "../../../../src/channels/email/mime/dkim.ts"
import {
  failureOf,
  interrupted,
  type SendOutcome,
  transition
} from "../../../../src/channels/email/recipients/RecipientState.ts"
import { maxAttempts } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { obstacles } from "../../../../src/messages/scheduledRows.ts"

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

/** Any number of earlier attempts that a row can have. */
const Attempts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxAttempts - 1 }))
const Code = Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))
const Pause = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))

/** Returns the seconds until each next attempt, from the first one on. */
const waits = (outcome: SendOutcome) => {
  const delays: Array<number> = []
  let after = transition(0, outcome, 0)
  for (; after.delay !== undefined && delays.length < 20; after = transition(after.attempt_count, outcome, 0)) {
    delays.push(Duration.toSeconds(after.delay))
  }
  return { delays, after }
}

describe("RecipientState.transition", () => {
  it("marks a recipient as sent after the relay accepts the message", () => {
    assert.deepInclude(transition(3, accepted, 0), {
      status: "sent",
      attempt_count: 4,
      error: null,
      isUnconfirmed: false
    })
  })

  it("bounces hard on a 5xx reply at once, and suppresses a mailbox that does not exist", () => {
    assert.deepInclude(transition(0, refused(550, "5.1.1"), 0), {
      status: "bounced",
      bounce_type: "hard",
      suppress: "now"
    })
    assert.deepInclude(transition(0, refused(554, "5.7.1"), 0), {
      status: "bounced",
      bounce_type: "hard",
      suppress: "never"
    })
    assert.deepInclude(transition(0, refused(552, "5.2.2"), 0), {
      status: "bounced",
      bounce_type: "soft",
      suppress: "never"
    })
  })

  it("retries a deferred recipient by the schedule, and bounces softly after the last attempt", () => {
    const { after, delays } = waits(refused(450, "4.2.1"))
    assert.deepStrictEqual(delays, [30, 120, 600, 1800, 3600, 7200, 14400])
    assert.deepInclude(after, { status: "bounced", bounce_type: "soft", attempt_count: 8, suppress: "never" })
  })

  it("retries an unconfirmed attempt once, and counts it as unconfirmed each time", () => {
    const unknown = new OutcomeUnknown({ reason: "lost" })
    assert.deepInclude(transition(0, unknown, 0), { status: "queued", attempt_count: 1, isUnconfirmed: true })
    assert.deepInclude(transition(3, unknown, 1), {
      status: "failed",
      attempt_count: 4,
      isUnconfirmed: true,
      delay: undefined,
      error: "the relay may have accepted it, but did not confirm: lost"
    })
  })

  it("fails a recipient whose message cannot be composed or signed", () => {
    for (const outcome of [unsendable, new DkimSigningFailed({ domain: "a.example", reason: "no key" })]) {
      assert.deepInclude(transition(0, outcome, 0), {
        status: "failed",
        delay: undefined,
        bounce_type: null,
        suppress: "never"
      })
    }
  })

  it.prop(
    "stores an error from which failureOf tells why an email failed",
    [Attempts],
    ([attempts]) => {
      const unknown = new OutcomeUnknown({ reason: "lost" })
      const unsigned = new DkimSigningFailed({ domain: "a.example", reason: "no key" })
      const causes = [
        [unknown, "outcome_unknown"],
        [unsigned, "not_signed"],
        [unsendable, "unsendable"],
        ...Object.entries(obstacles).map(([code, reason]) => [{ ...unsendable, reason }, code] as const)
      ] as const
      for (const [outcome, code] of causes) {
        const { error, status } = transition(attempts, outcome, 0)
        assert.include(outcome === unknown ? ["queued", "failed"] : ["failed"], status)
        if (status === "failed") assert.strictEqual(failureOf(error ?? ""), code)
      }
      assert.strictEqual(failureOf(transition(attempts, unknown, 1).error ?? ""), "outcome_unknown")
      assert.strictEqual(failureOf(interrupted), "outcome_unknown")
    }
  )

  it.prop(
    "costs no attempt and waits at least a second while the relay cannot be used",
    [Attempts, Pause],
    ([attempts, pause]) => {
      const next = transition(attempts, paused(pause), 0)
      assert.deepInclude(next, { status: "queued", attempt_count: attempts, isUnconfirmed: false })
      assert.isAtLeast(Duration.toMillis(next.delay ?? Duration.zero), Math.max(1_000, pause))
    }
  )

  it.prop("returns a delay exactly for queued recipients", [Attempts, Code, Pause], ([attempts, code, pause]) => {
    const outcomes = [accepted, unsendable, refused(code), paused(pause), new OutcomeUnknown({ reason: "lost" })]
    for (const outcome of outcomes) {
      const next = transition(attempts, outcome, 0)
      assert.strictEqual(next.status === "queued", next.delay !== undefined)
      assert.isAtMost(next.attempt_count, maxAttempts)
      assert.isTrue(next.attempt_count === attempts + 1 || outcome._tag === "RelayUnavailable")
      assert.isTrue(next.suppress === "never" || next.bounce_type === "hard")
      assert.strictEqual(next.status === "bounced", next.bounce_type !== null)
    }
  })
})
