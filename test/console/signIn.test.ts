import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { nextOf } from "../../src/console/pages/doors/signInActions.ts"

const after = (next: string) => nextOf({ query: new URLSearchParams({ next }) })

describe("the page after a sign-in", () => {
  for (const next of ["/console/", "/console/messages?status=failed&tag=a%20b", "/console/keys/5/revoke"]) {
    it(`is ${next} if that was wanted`, () => {
      assert.strictEqual(after(next), next)
    })
  }

  const Part = Schema.Literals(["/", "//", "\\", ".", "..", "%2e", "console", "example.com", "http:", "@", "?", "#"])

  it.prop("is always one of the console", [Schema.Array(Part)], ([parts]) => {
    for (const next of [parts.join(""), `/console/${parts.join("")}`, "/console/..//example.com"]) {
      const url = new URL(after(next), "https://messaging.example/console/sign-in")
      assert.strictEqual(url.host, "messaging.example", next)
      assert.isTrue(url.pathname.startsWith("/console/"), next)
    }
  })
})
