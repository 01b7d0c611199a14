import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import type { DomainCheck, RecordStatus } from "../../src/email-domains/EmailDomain.ts"
import { type DomainState, transition, verdictOf } from "../../src/email-domains/EmailDomainState.ts"
import { warningsOf } from "../../src/email-domains/warningsOf.ts"

const verified: DomainState = {
  status: "verified",
  failures: 0,
  failingFor: Duration.zero,
  pendingFor: Duration.days(9)
}
const pending = (pendingFor: Duration.Duration): DomainState => ({ ...verified, status: "pending", pendingFor })

const check = (DKIM: RecordStatus, SPF: RecordStatus, DMARC: RecordStatus, MX: RecordStatus): DomainCheck =>
  Object.entries({ DKIM, SPF, DMARC, MX }).map(([purpose, status]) => ({
    purpose: purpose as keyof { DKIM: 0; SPF: 0; DMARC: 0; MX: 0 }, // as the object is written
    status,
    found: [],
    detail: ""
  }))

describe("the verdict on a check", () => {
  const statuses = ["verified", "missing", "mismatch", "conflict", "temporary_error"] as const

  it("rests on DKIM and SPF alone", () => {
    for (const other of statuses) assert.strictEqual(verdictOf(check("verified", "verified", other, other)), "passed")
  })

  it("is a failure once one of them is surely wrong, and open while one is not known", () => {
    for (const wrong of ["missing", "mismatch", "conflict"] as const) {
      for (const other of statuses) {
        assert.strictEqual(verdictOf(check(wrong, other, "verified", "verified")), "failed")
        assert.strictEqual(verdictOf(check(other, wrong, "verified", "verified")), "failed")
      }
    }
    assert.strictEqual(verdictOf(check("temporary_error", "verified", "verified", "verified")), "unknown")
    assert.strictEqual(verdictOf(check("verified", "temporary_error", "verified", "verified")), "unknown")
  })

  it("of a check that says nothing is a failure", () => {
    assert.strictEqual(verdictOf([]), "failed")
  })
})

describe("a pending domain", () => {
  it("is looked at after 1 minute for five, then after 10 minutes for an hour, hourly for three days, then no more", () => {
    const pauses = [0, 4.9, 5, 59, 60, 72 * 60 - 1, 72 * 60].map((minutes) =>
      transition(pending(Duration.minutes(minutes)), "failed", 0.5).pause
    )
    const shown = pauses.map((pause) => pause === undefined ? undefined : Duration.toMinutes(pause))
    assert.deepStrictEqual(shown, [1, 1, 10, 10, 60, 60, undefined])
  })

  it("is verified by a check that passes, however late", () => {
    assert.deepInclude(transition(pending(Duration.days(30)), "passed", 0), { status: "verified", change: "verified" })
  })
})

describe("a verified domain", () => {
  it("is looked at once a day, give or take two hours", () => {
    const hours = [0, 0.5, 1].map((jitter) => transition(verified, "passed", jitter).pause)
    assert.deepStrictEqual(hours.map((pause) => pause && Duration.toHours(pause)), [22, 24, 26])
  })

  it("is pending after its third failure in a row when they span 48 hours, and looked for at once", () => {
    const failing = (failures: number, hours: number) =>
      transition({ ...verified, failures, failingFor: Duration.hours(hours) }, "failed", 0.5)
    assert.deepInclude(failing(0, 0), { status: "verified", failures: 1, change: undefined })
    assert.deepInclude(failing(1, 72), { status: "verified", failures: 2, change: undefined })
    assert.deepInclude(failing(2, 47.9), { status: "verified", failures: 3, change: undefined })
    const fallen = failing(2, 48)
    assert.deepInclude(fallen, { status: "pending", failures: 0, change: "unverified" })
    assert.strictEqual(fallen.pause && Duration.toMinutes(fallen.pause), 1)
  })

  it("forgets its failures when a check passes", () => {
    assert.deepInclude(transition({ ...verified, failures: 9 }, "passed", 0), { failures: 0, change: undefined })
  })
})

it.prop("a domain changes only as the rule says, and tells of it exactly then", [
  Schema.Literals(["pending", "verified"]),
  Schema.Literals(["passed", "failed", "unknown"]),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 })),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 200 }))
], (
  [status, verdict, failures, failing, waiting]
) => {
  const before = { status, failures, failingFor: Duration.hours(failing), pendingFor: Duration.hours(waiting) }
  const after = transition(before, verdict, 0.3)
  assert.strictEqual(after.change !== undefined, after.status !== status)
  if (verdict === "unknown") assert.strictEqual(after.status, status)
  if (after.change === "verified") assert.strictEqual(verdict, "passed")
  if (after.change === "unverified") assert.isTrue(verdict === "failed" && failures >= 2 && failing >= 48)
  if (after.status === "verified") assert.isDefined(after.pause)
  if (after.pause !== undefined) assert.isTrue(Duration.toMinutes(after.pause) >= 1)
})

describe("the warnings of a domain", () => {
  it("name what Gmail and Yahoo want and the last check did not find", () => {
    assert.deepStrictEqual(warningsOf(null), [])
    assert.deepStrictEqual(warningsOf(check("verified", "temporary_error", "verified", "missing")), [])
    assert.lengthOf(warningsOf(check("mismatch", "missing", "conflict", "missing")), 3)
    assert.match(warningsOf(check("verified", "verified", "missing", "missing")).join(), /^There is no DMARC/)
  })
})
