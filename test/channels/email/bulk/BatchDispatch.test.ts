import { assert, describe, it } from "@effect/vitest"
import { isSmall } from "../../../../src/channels/email/bulk/BatchDispatch.ts"
import { AccountId } from "../../../../src/values/Ids.ts"

const account = AccountId.make(1)

const many = (count: number, value = "") =>
  Array.from({ length: count }, () => ({ to: "a@b.example", variables: { value } }))

describe("isSmall", () => {
  it("is for up to 50 recipients of a live account", () => {
    assert.isTrue(isSmall({ account, recipients: many(50), textBytes: 10 }))
    assert.isFalse(isSmall({ account, recipients: many(51), textBytes: 10 }))
  })

  it("counts the largest mail and the values of all recipients, also those that no text has", () => {
    assert.isFalse(isSmall({ account, recipients: many(1), textBytes: 100_000 }))
    assert.isTrue(isSmall({ account, recipients: many(1, "x".repeat(50_000)), textBytes: 40_000 }))
    assert.isFalse(isSmall({ account, recipients: many(2, "x".repeat(50_000)), textBytes: 40_000 }))
  })
})
