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

describe("verdictOf", () => {
  const statuses = ["verified", "missing", "mismatch", "conflict", "temporary_error"] as const

  it("the verdict depends on DKIM and SPF only", () => {
    for (const other of statuses) assert.strictEqual(verdictOf(check("verified", "verified", other, other)), "passed")
  })

  it("the verdict is a failure if one record is definitely wrong, and unknown while one is unknown", () => {
    for (const wrong of ["missing", "mismatch", "conflict"] as const) {
      for (const other of statuses) {
        assert.strictEqual(verdictOf(check(wrong, other, "verified", "verified")), "failed")
        assert.strictEqual(verdictOf(check(other, wrong, "verified", "verified")), "failed")
      }
    }
    assert.strictEqual(verdictOf(check("temporary_error", "verified", "verified", "verified")), "unknown")
    assert.strictEqual(verdictOf(check("verified", "temporary_error", "verified", "verified")), "unknown")
  })

  it("the verdict on a check without records is a failure", () => {
    assert.strictEqual(verdictOf([]), "failed")
  })
})

describe("transition of a pending domain", () => {
  it("a pending domain is checked after 1 minute for five minutes, every 10 minutes for an hour, hourly for three days, then not at all", () => {
    const pauses = [0, 4.9, 5, 64.9, 65, 72 * 60, 72 * 60 + 5].map((minutes) =>
      transition(pending(Duration.minutes(minutes)), "failed", 0.5).pause
    )
    const shown = pauses.map((pause) => pause === undefined ? undefined : Duration.toMinutes(pause))
    assert.deepStrictEqual(shown, [1, 1, 10, 10, 60, 60, undefined])
  })

  it("a pending domain is verified by a check that passes, at any time", () => {
    assert.deepInclude(transition(pending(Duration.days(30)), "passed", 0), { status: "verified", change: "verified" })
  })
})

describe("transition of a verified domain", () => {
  it("a verified domain is checked once a day, plus or minus two hours", () => {
    const hours = [0, 0.5, 1].map((jitter) => transition(verified, "passed", jitter).pause)
    assert.deepStrictEqual(hours.map((pause) => pause && Duration.toHours(pause)), [22, 24, 26])
  })

  it("a verified domain becomes pending after three consecutive failures over 48 hours, and is checked again at once", () => {
    const failing = (failures: number, hours: number) =>
      transition({ ...verified, failures, failingFor: Duration.hours(hours) }, "failed", 0.5)
    assert.deepInclude(failing(0, 0), { status: "verified", failures: 1, change: undefined })
    assert.deepInclude(failing(1, 72), { status: "verified", failures: 2, change: undefined })
    assert.deepInclude(failing(2, 47.9), { status: "verified", failures: 3, change: undefined })
    const fallen = failing(2, 48)
    assert.deepInclude(fallen, { status: "pending", failures: 0, change: "unverified" })
    assert.strictEqual(fallen.pause && Duration.toMinutes(fallen.pause), 1)
  })

  it("a verified domain resets its failures when a check passes", () => {
    assert.deepInclude(transition({ ...verified, failures: 9 }, "passed", 0), { failures: 0, change: undefined })
  })
})

it.prop("a domain changes its status only as specified, and reports exactly these changes", [
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

describe("warningsOf", () => {
  it("the warnings name the records that Gmail and Yahoo require and the last check did not find", () => {
    assert.deepStrictEqual(warningsOf(null), [])
    assert.deepStrictEqual(warningsOf(check("verified", "temporary_error", "verified", "missing")), [])
    assert.lengthOf(warningsOf(check("mismatch", "missing", "conflict", "missing")), 3)
    assert.match(warningsOf(check("verified", "verified", "missing", "missing")).join(), /^There is no DMARC/)
  })
})
