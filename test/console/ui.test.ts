import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import type { Ask } from "../../src/console/page/Ask.ts"
import { foreign, moment, number } from "../../src/console/ui/parts.ts"
import { chips, pager, table } from "../../src/console/ui/table.ts"

/** A request of a reader in Kigali. */
const askOf = (search = "") =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in("en")), (t): Ask => ({
    t,
    timezone: "Africa/Kigali",
    hourCycle: "h23",
    params: {},
    query: new URLSearchParams(search),
    path: "/console/7/messages",
    isPrivate: true,
    base: "http://localhost:8080",
    party: undefined,
    attempt: undefined,
    seal: () => ({ token: "token", once: "once" })
  }))

it.layer(Messages.layer)("what pages are drawn with", (it) => {
  it.effect("a table names its columns for screen readers and on narrow screens", () =>
    Effect.sync(() => {
      const { markup } = table("Keys", [
        { label: "Name", cell: ({ name }: { readonly name: string }) => name },
        { label: "Used", cell: () => "3", kind: "number" }
      ], [{ name: "<b>" }])
      assert.include(markup, "<caption class=\"hidden\">Keys</caption>")
      assert.include(markup, "<th scope=\"row\">")
      assert.include(markup, "&lt;b&gt;")
      assert.strictEqual(markup.match(/>Used</g)?.length, 2)
    }))

  it.effect("a chip leads to the list without its filter, and keeps the others", () =>
    Effect.gen(function*() {
      const ask = yield* askOf("status=failed&channel=sms&cursor=9")
      const drawn = chips(ask, [{ name: "status", label: "Status", value: "failed" }])
      assert.include(drawn === false ? "" : drawn.markup, "href=\"/console/7/messages?channel=sms\"")
      assert.isFalse(chips(ask, []))
    }))

  it.effect("the pager keeps the filter in its addresses", () =>
    Effect.gen(function*() {
      const ask = yield* askOf("status=failed")
      const drawn = pager(ask, { older: { cursor: "a b" } })
      assert.include(drawn === false ? "" : drawn.markup, "href=\"/console/7/messages?status=failed&amp;cursor=a+b\"")
    }))

  it.effect("times are in the reader's zone, and numbers in their language", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      assert.match(moment(ask, "2026-05-03T22:30:00.000000Z").markup, />May 4, 2026, 00:30</)
      assert.strictEqual(number(ask, 1234567), "1,234,567")
    }))
})

describe("text that other people wrote", () => {
  it.prop("never becomes markup, and cannot change the direction of what follows", [Schema.String], ([text]) => {
    const { markup } = foreign(`${text}\u202e<img src=x onerror=alert(1)>`)
    assert.notInclude(markup.slice("<bdi>".length, -"</bdi>".length), "<")
    assert.notInclude(markup, "\u202e")
  })
})
