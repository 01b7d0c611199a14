import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { VerificationStatus } from "../../src/verify/Verification.ts"
import { end, guess, shownStatus, type VerificationState } from "../../src/verify/VerificationState.ts"

const maxAttempts = 5
const fresh: VerificationState = { status: "pending", attempts: 0, isOver: false }

/** The state after these guesses, and how many were compared. */
const after = (guesses: ReadonlyArray<boolean>, start = fresh) =>
  guesses.reduce(
    ({ looked, standing }, isRight) => {
      const guessed = guess(standing, isRight, maxAttempts)
      return "next" in guessed ? { looked: looked + 1, standing: guessed.next } : { looked, standing }
    },
    { looked: 0, standing: start }
  )

const standing = Schema.Struct({
  status: VerificationStatus,
  attempts: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  isOver: Schema.Boolean
})

describe("VerificationState", () => {
  it.prop(
    "a verification compares at most five wrong guesses, and none after a correct one",
    [Schema.Array(Schema.Boolean)],
    ([
      guesses
    ]) => {
      const first = guesses.indexOf(true)
      const wrongBefore = first < 0 ? guesses.length : first
      const { looked, standing } = after(guesses)
      assert.strictEqual(
        looked,
        Math.min(maxAttempts, first < 0 ? guesses.length : first < maxAttempts ? first + 1 : maxAttempts)
      )
      assert.strictEqual(
        standing.status,
        wrongBefore >= maxAttempts ? "max_attempts" : first >= 0 ? "approved" : "pending"
      )
      assert.strictEqual(standing.attempts, Math.min(maxAttempts, wrongBefore))
    }
  )

  it.prop("a verification never leaves a final state", [standing, Schema.Boolean], ([before, isRight]) => {
    const guessed = guess(before, isRight, maxAttempts)
    if (before.status !== "pending" || before.isOver) {
      assert.notProperty(guessed, "next")
      assert.include(["Used", "Expired", "Exhausted"], guessed._tag)
    } else if (guessed._tag === "Approved") assert.isTrue(isRight)
    else assert.deepInclude(guessed, { _tag: "Wrong" })
  })

  it("a guess on an ended verification returns whether it was used, has expired or had too many attempts", () => {
    const tagOf = (status: VerificationState["status"], isOver: boolean) =>
      guess({ ...fresh, status, isOver }, true, maxAttempts)._tag
    assert.deepStrictEqual(
      [tagOf("approved", true), tagOf("pending", true), tagOf("expired", true), tagOf("max_attempts", false)],
      ["Used", "Expired", "Expired", "Exhausted"]
    )
  })

  it.prop("an expired verification is shown as ended unless it was confirmed", [standing], ([before]) => {
    assert.strictEqual(end(before) !== undefined, before.isOver && before.status !== "approved")
    if (before.isOver) assert.notStrictEqual(shownStatus(before), "pending")
    else assert.strictEqual(shownStatus(before), before.status)
  })
})
