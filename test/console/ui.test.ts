import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as NodeFs from "node:fs"
import { type Language, marked, Messages } from "../../src/console/language/Messages.ts"
import { Action, onceField, Refused } from "../../src/console/page/Action.ts"
import type { Ask } from "../../src/console/page/Ask.ts"
import { attemptOf } from "../../src/console/page/refusals.ts"
import { form } from "../../src/console/ui/form.ts"
import { guides } from "../../src/console/ui/layout.ts"
import { picture } from "../../src/console/ui/pairing.ts"
import { countdown, curlOf, foreign, inDollars, moment, number } from "../../src/console/ui/parts.ts"
import { problemPage } from "../../src/console/ui/problem.ts"
import {
  appliedFilters,
  chips,
  filterChoice,
  filterFields,
  filterText,
  pager,
  table
} from "../../src/console/ui/table.ts"
import { Locale } from "../../src/values/Locale.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

/** A request of a reader in Kigali. */
const askOf = (search = "", language: Language = "en") =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in(language)), (t): Ask => ({
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
    isUpdate: false,
    since: undefined,
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

  it.effect("a chip shows a time of the address as a date and a time in the reader's zone", () =>
    Effect.gen(function*() {
      const ask = yield* askOf("from_date=2026-05-03T22:30:00.000000Z")
      const valid = [{ name: "from_date" as const, value: "2026-05-03T22:30:00.000000Z" }]
      const { markup } = appliedFilters(ask, { valid, refused: [] }, { labels: { from_date: "messages.from_date" } })
      assert.include(markup, "<bdi>May 4, 2026, 00:30</bdi>")
    }))

  it.effect("a filter keeps each value of a parameter that the address has several times", () =>
    Effect.gen(function*() {
      const ask = yield* askOf("tag=booking&tag=vip&batch_id=1&batch_id=2")
      const { markup } = filterFields(ask, filterText(ask, { name: "tag", label: "Tag" }), ["batch_id"])
      const values = [...markup.matchAll(/name="(\w+)" value="(\w+)"/g)].map(([, name, value]) => `${name}=${value}`)
      assert.deepStrictEqual(values, ["tag=booking", "tag=vip", "batch_id=1", "batch_id=2"])
    }))

  it.effect("a filter keeps a value that it does not offer", () =>
    Effect.gen(function*() {
      const ask = yield* askOf("status=404")
      const { markup } = filterChoice(ask, { name: "status", label: "Status", options: [["4xx", "Refused"]] })
      assert.include(markup, "<option value=\"404\" selected>404</option>")
    }))

  it.effect("a form that may have been done keeps its key when it is sent again, and a form that was not gets a new one", () =>
    Effect.gen(function*() {
      const ask = yield* askOf()
      const action = Action.own({ name: "send", fields: {}, run: () => Effect.never })
      const sent = { action, form: new URLSearchParams({ [onceField]: "first" }) }
      const drawn = (status: number, type: string) => {
        const refused = new Refused({ status, type, reason: "", facts: {}, faults: [] })
        const { markup } = form({ ...ask, attempt: attemptOf(ask.t, sent, refused) }, action, { submit: "Send" })
        return /name="_once" value="(\w+)"/.exec(markup)?.[1]
      }
      assert.strictEqual(drawn(409, "idempotency_in_progress"), "first")
      assert.strictEqual(drawn(503, "service_unavailable"), "first")
      assert.strictEqual(drawn(422, "validation_error"), "once")
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
      assert.deepStrictEqual([0.0079, 0.000_125, 1234.5].map((usd) => inDollars(ask, usd)), [
        "$0.0079",
        "$0.000125",
        "$1,234.50"
      ])
    }))

  it.effect("dates, times and numbers are those of each language, with the same digits", () =>
    Effect.gen(function*() {
      const drawn: Record<string, readonly [string | undefined, string]> = {}
      for (const locale of Locale.literals) {
        const ask = yield* askOf("", locale)
        const [, date] = />([^<]*)</.exec(moment(ask, "2026-02-28T22:30:00.000000Z").markup) ?? []
        drawn[locale] = [date?.replaceAll(/\s/g, " "), number(ask, 1234567.5).replaceAll(/\s/g, " ")]
      }
      assert.deepStrictEqual(drawn, {
        "en": ["Mar 1, 2026, 00:30", "1,234,567.5"],
        "fr": ["1 mars 2026, 00:30", "1 234 567,5"],
        "es": ["1 mar 2026, 0:30", "1.234.567,5"],
        "pt": ["1 de mar. de 2026, 00:30", "1.234.567,5"],
        "de": ["01.03.2026, 00:30", "1.234.567,5"],
        "ar": ["01\u200f/03\u200f/2026، 00:30", "1,234,567.5"],
        "sw": ["1 Mac 2026, 00:30", "1,234,567.5"],
        "rw": ["2026 Wer. 1 00:30", "1.234.567,5"]
      })
    }))
})

it.layer(Messages.layer)("the picture to scan", (it) => {
  it.effect.each(["en", "de", "es", "fr", "pt", "rw", "sw", "ar"] as const)(
    "names the zone of its time in %s",
    (language) =>
      Effect.gen(function*() {
        const ask = yield* askOf("", language)
        const code = {
          qr_code: "data:,",
          expires_at: Timestamp.make("2026-05-03T22:30:05.000000Z"),
          millisLeft: 20_000
        }
        assert.match(picture({ ...ask, timezone: "UTC" }, code).markup, /30:05[^<]* UTC/)
      })
  )
})

describe("a command", () => {
  const base = "http://localhost:8080"

  it("gives a shell its address as one word", () => {
    assert.strictEqual(
      curlOf({ base }, { method: "GET", path: "/v1/messages?q=O'Brien&tag=a" }),
      `curl 'http://localhost:8080/v1/messages?q=O%27Brien&tag=a' -H "Authorization: Bearer $KEY"`
    )
    assert.strictEqual(
      curlOf({ base }, { method: "DELETE", path: "/v1/webhooks/5" }),
      `curl -X DELETE 'http://localhost:8080/v1/webhooks/5' -H "Authorization: Bearer $KEY"`
    )
  })

  it.prop("gives a shell its body as one word that shows all of it, and says the same", [Schema.String], ([text]) => {
    const body = { text: `${text}'; rm -rf $HOME \u202e\u2066` }
    const command = curlOf({ base }, { method: "POST", path: "/v1/email/send", body })
    const start =
      `curl -X POST '${base}/v1/email/send' -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '`
    assert.isTrue(command.startsWith(start))
    const word = command.slice(start.length, -1)
    assert.notMatch(word, /['\u202e\u2066]/)
    assert.deepStrictEqual(JSON.parse(word), body)
  })
})

describe("the guides of pages", () => {
  it("exist", () => {
    for (const guide of guides.values()) {
      assert.isTrue(NodeFs.existsSync(new URL(`../../docs/guides/${guide}.md`, import.meta.url)), guide)
    }
  })
})

it.layer(Messages.layer)("a problem", (it) => {
  it.effect.each(["en", "de", "es", "fr", "pt", "rw", "sw", "ar"] as const)(
    "that ends by itself has a sentence for each second in %s",
    (language) =>
      Effect.gen(function*() {
        const { t } = yield* askOf("", language)
        const sentenceOf = (seconds: number) => t.text("problem.tooFast.text", { seconds })
        const { markup } = countdown(t, 130)
        assert.include(markup, sentenceOf(130))
        const [, text = ""] = /data-wait="([^"]*)"/.exec(markup) ?? []
        const runs = JSON.parse(text.replaceAll("&quot;", "\"").replaceAll("&#39;", "'")) as ReadonlyArray<
          [number, string]
        >
        for (let left = 1; left <= 130; left++) {
          const run = runs.findLast(([from]) => from <= left)
          assert.strictEqual(run?.[1].replace("#", String(left)), sentenceOf(left))
        }
        assert.isBelow(runs.length, 12)
        assert.notInclude(countdown(t, 86_400).markup, "data-wait")
      })
  )

  it.effect("is tried again by scripts where a page could not be read, and not where a form was sent", () =>
    Effect.gen(function*() {
      const { t } = yield* askOf()
      for (const isRead of [true, false]) {
        assert.strictEqual(problemPage(t, { kind: "away" }, isRead).isLive, isRead)
        const { content } = problemPage(t, { kind: "tooFast", seconds: 7 }, isRead)
        assert.strictEqual(content.markup.includes("data-reloads"), isRead)
        assert.include(content.markup, "Try again in 7 seconds.")
      }
    }))
})

describe("text that other people wrote", () => {
  it.prop("never becomes markup, and cannot change the direction of what follows", [Schema.String], ([text]) => {
    const { markup } = foreign(`${text}\u202e<img src=x onerror=alert(1)>`)
    assert.notInclude(markup.slice("<bdi>".length, -"</bdi>".length), "<")
    assert.notInclude(markup, "\u202e")
  })

  it("keeps its lines, however they end", () => {
    assert.strictEqual(marked("one\r\ntwo\nthree\rfour"), "one\ntwo\nthree\ufffdfour")
  })

  it("keeps marks that isolate its parts in pairs, and shows those that would isolate what follows", () => {
    assert.strictEqual(
      marked("to \u2068+250 788\u2069, \u2068a \u2066b\u2069\u2069"),
      "to \u2068+250 788\u2069, \u2068a \u2066b\u2069\u2069"
    )
    for (const text of ["\u2067a", "a\u2069", "\u2069a\u2067"]) assert.notMatch(marked(text), /[\u2066-\u2069]/)
  })
})
