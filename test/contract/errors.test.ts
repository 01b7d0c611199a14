import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import { endpoints, errorFiles, knownErrors } from "./contract.ts"

const page = new URL("../../docs/http-status.md", import.meta.url)

describe("the errors of the contract", () => {
  it("are declared in files that say so", () => {
    assert.isNotEmpty(errorFiles)
    assert.deepStrictEqual(errorFiles.filter((file) => !file.endsWith("Errors.ts")), [])
  })

  it("have a type and a code of their own, the code in the hundreds of the status or near them", () => {
    for (const pick of ["type", "code", "name"] as const) {
      const values = knownErrors.map((error) => error[pick])
      assert.strictEqual(new Set(values).size, values.length, pick)
    }
    for (const { code, status, type } of knownErrors) {
      assert.match(type, /^[a-z]+(_[a-z]+)*$/)
      assert.strictEqual(Math.floor(code / 1000), Math.floor(status / 100), type)
    }
  })

  it("are listed in docs/http-status.md, each in a row with its status, type and code", () => {
    const lines = NodeFs.readFileSync(page, "utf8").split("\n")
    const missing = knownErrors.filter(({ code, status, type }) =>
      !lines.some((line) => [String(status), String(code), `\`${type}\``].every((part) => line.includes(part)))
    )
    assert.deepStrictEqual(missing.map(({ code, status, type }) => `${status} ${type} ${code}`), [])
  })

  it("are the only statuses beside 2xx and 304 that an endpoint declares", () => {
    const statuses = new Set(knownErrors.map(({ status }) => status))
    for (const endpoint of endpoints) {
      assert.deepStrictEqual(
        endpoint.statuses.filter((status) => status >= 300 && !statuses.has(status)),
        [],
        endpoint.name
      )
    }
  })
})
