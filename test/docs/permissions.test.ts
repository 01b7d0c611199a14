/** docs/account/permissions.md against the access rules of the contract. */
import { assert, describe, it } from "@effect/vitest"
import { Permission, Scope } from "../../src/values/Permission.ts"
import { guarded } from "../contract/contract.ts"
import { read } from "./documents.ts"

const rows = [...read("docs/account/permissions.md").matchAll(/^\| `([a-z]+:[a-z]+)` \|(.*)\|$/gm)]
  .map(([, name = "", cells = ""]) => [name, ...cells.split("|").map((cell) => cell.trim())])

const byPermission = (permission: Permission) => guarded.filter(({ rule }) => rule.permission === permission)

describe("docs/account/permissions.md", () => {
  it("has each scope once, and each permission once in the order of the contract", () => {
    assert.sameMembers(rows.filter((row) => row.length === 2).map(([name]) => name), [...Scope.literals])
    assert.deepStrictEqual(rows.filter((row) => row.length === 3).map(([name]) => name), [...Permission.literals])
  })

  it("names with each permission the scopes that its endpoints take, and says which permission has no endpoint", () => {
    const shown = rows.filter((row) => row.length === 3).map((
      [name, use, scopes]
    ) => [name, use === "nothing so far" ? undefined : scopes])
    const expected = Permission.literals.map((permission) => {
      const scopes = new Set(byPermission(permission).flatMap(({ rule }) => rule.scopes))
      const names = [...scopes].toSorted().map((scope) => `\`${scope}\``).join(", ")
      return [permission, byPermission(permission).length === 0 ? undefined : names === "" ? "none" : names]
    })
    assert.deepStrictEqual(shown, expected)
  })
})
