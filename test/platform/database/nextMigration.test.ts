import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { nextMigration } from "../../../src/platform/database/nextMigration.ts"

const Length = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))

const files = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `${String(index + 1).padStart(4, "0")}_subject.sql`,
    sha256: `hash ${index}`
  }))

const failure = (result: ReturnType<typeof nextMigration>) =>
  Result.isFailure(result) ? { tag: result.failure._tag, file: result.failure.file } : undefined

describe("nextMigration", () => {
  it.prop(
    "nextMigration returns the files one after the other, and nothing after the last",
    [Length, Length],
    ([total, done]) => {
      const all = files(total)
      const next = Result.getOrThrow(nextMigration(all, all.slice(0, done)))
      assert.deepStrictEqual(Option.getOrUndefined(next), all[done])
    }
  )

  it.prop("nextMigration refuses a file that changed after it had run", [Length, Length], ([total, changed]) => {
    const all = files(total)
    const file = all[changed]
    const applied = all.map((one) => one === file ? { ...one, sha256: "another" } : one)
    assert.deepStrictEqual(
      failure(nextMigration(all, applied)),
      file && { tag: "MigrationChanged", file: file.name }
    )
  })

  it.prop("nextMigration distinguishes a newer database from a removed file", [Length, Length], ([total, removed]) => {
    const all = files(total)
    const file = all[removed]
    const tag = removed === total - 1 ? "DatabaseNewer" : "MigrationMissing"
    assert.deepStrictEqual(
      failure(nextMigration(all.filter((one) => one !== file), all)),
      file && { tag, file: file.name }
    )
  })

  it.prop(
    "nextMigration refuses a new file with a lower number than one that has run",
    [Length, Length],
    ([total, added]) => {
      const all = files(total)
      const file = all[added]
      const expected = added >= total - 1 ? undefined : { tag: "MigrationOutOfOrder", file: file?.name }
      assert.deepStrictEqual(failure(nextMigration(all, all.filter((one) => one !== file))), expected)
    }
  )
})
