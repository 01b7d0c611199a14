import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import * as NodeFs from "node:fs"
import { BodyLimit, files, texts } from "../../src/platform/http/RequestRules.ts"
import { endpoints, errorFiles, knownErrors, posting } from "./contract.ts"

const page = new URL("../../docs/http-status.md", import.meta.url)

describe("errors of the contract", () => {
  it("every error is declared in a contract file: *Errors.ts, or the model or endpoint that returns it", () => {
    assert.isNotEmpty(errorFiles)
    assert.deepStrictEqual(errorFiles.filter((file) => /(Repo|Actor|Http|Layer)\.ts$/.test(file)), [])
  })

  it("each error has a unique type, code and name, and the code's first digit is the status's", () => {
    for (const pick of ["type", "code", "name"] as const) {
      const values = knownErrors.map((error) => error[pick])
      assert.strictEqual(new Set(values).size, values.length, pick)
    }
    for (const { code, status, type } of knownErrors) {
      assert.match(type, /^[a-z]+(_[a-z]+)*$/)
      assert.strictEqual(Math.floor(code / 1000), Math.floor(status / 100), type)
    }
  })

  it("each error is listed in docs/http-status.md with its status, type and code", () => {
    const lines = NodeFs.readFileSync(page, "utf8").split("\n")
    const missing = knownErrors.filter(({ code, status, type }) =>
      !lines.some((line) => [String(status), String(code), `\`${type}\``].every((part) => line.includes(part)))
    )
    assert.deepStrictEqual(missing.map(({ code, status, type }) => `${status} ${type} ${code}`), [])
  })

  it("the row of 413 in docs/http-status.md names each path whose body may have more than 16 KiB, with its limit", () => {
    const row = NodeFs.readFileSync(page, "utf8").split("\n").find((line) => line.startsWith("| 413 |")) ?? ""
    const [, one = "", ten = ""] = row.split(/; 1 MiB for |; 10 MiB for |; `limit_bytes`/)
    const named = [one, ten].map((part) => [...part.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path))
    const declared = [texts, files].map(({ bytes }) =>
      posting.filter(({ declaration }) => Context.get(declaration.annotations, BodyLimit).bytes === bytes)
        .map(({ path }) => path.replace(/\/:.*/, ""))
    )
    // No part of the contract: the protocol of agents.
    assert.deepStrictEqual(
      named.map((part) => new Set(part.filter((path) => path !== "/mcp"))),
      declared.map((part) => new Set(part))
    )
  })

  it("an endpoint declares no other statuses than 2xx, 304 and those of known errors", () => {
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
