import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, type SchemaIssue } from "effect"
import { violationsOf } from "../../../src/platform/http/violations.ts"

const People = Schema.Struct({ people: Schema.Array(Schema.Struct({ name: Schema.String, age: Schema.Int })) })

const issueOf = (input: unknown): SchemaIssue.Issue => {
  const decoded = Schema.decodeUnknownResult(People, { errors: "all" })(input)
  assert.isTrue(Result.isFailure(decoded))
  return Result.getOrThrow(Result.flip(decoded)).issue
}

describe("violationsOf", () => {
  it("names each fault by its path, in the order of the body", () => {
    assert.deepStrictEqual(violationsOf(issueOf({ people: [{ name: "Ann", age: "1" }, { name: 2 }] })), [
      { param: "people[0].age", type: "invalid", message: "must be a number" },
      { param: "people[1].name", type: "invalid", message: "must be a string" },
      { param: "people[1].age", type: "missing", message: "is required" }
    ])
  })

  it("calls a body of a named schema an object", () => {
    const Named = Schema.Struct({ name: Schema.String }).annotate({ identifier: "NewThing" })
    const decoded = Schema.decodeUnknownResult(Schema.Union([Schema.String, Named]))(7)
    assert.deepStrictEqual(violationsOf(Result.getOrThrow(Result.flip(decoded)).issue).map(({ message }) => message), [
      "must be a string or an object"
    ])
  })

  it("formats at most the first 50 faults", () => {
    const issue = issueOf({ people: Array.from({ length: 1_000 }, () => ({ name: "Ann", age: "x" })) })
    let formatted = 0
    // Only formatting reads the message of an issue.
    const counted = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      if (Reflect.get(value, "_tag") === "InvalidType") {
        const { ast } = value as SchemaIssue.InvalidType
        Object.defineProperty(value, "ast", {
          get: () => {
            formatted++
            return ast
          }
        })
        return
      }
      counted(Reflect.get(value, "issue"))
      for (const part of [Reflect.get(value, "issues")].flat()) counted(part)
    }
    counted(issue)
    assert.lengthOf(violationsOf(issue), 50)
    assert.isTrue(formatted >= 50 && formatted <= 200, `${formatted} reads`)
  })
})
