import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { ReadMail } from "../../../src/sandbox/mail/readMail.ts"
import { SandboxMailPages } from "../../../src/sandbox/mail/SandboxMailPages.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"

const received_at = Timestamp.make("2026-01-31T08:05:09.000042Z")
const inbox = { total: 0, page: 1, per_page: 50, to: "", smtpPort: 2525 }

const rowOf = (text: string) => ({ id: 7, from: text, to: text, subject: text, received_at })

const contentOf = (text: string): ReadMail => ({
  headers: [{ name: text, value: text }],
  text,
  html: text,
  attachments: [{ name: text, type: text, bytes: 1 }]
})

/** A document's tags without their attribute values. */
const tagsOf = (page: string) => (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, "\"\""))

const pagesOf = (text: string) => [
  SandboxMailPages.list({ ...inbox, rows: [rowOf(text)], total: 120, page: 2, to: text }),
  SandboxMailPages.list({ ...inbox, rows: [], to: text }),
  SandboxMailPages.mail({ ...rowOf(text), envelope_from: text, raw: new Uint8Array(1) }, contentOf(text))
]

describe("sandbox inbox pages", () => {
  it.prop("pages have the same tags whatever the mails contain", [Schema.NonEmptyString], ([text]) => {
    if (!text.isWellFormed()) return
    const [list, none, mail] = pagesOf("x").map(tagsOf)
    const [foreignList, foreignNone, foreignMail] = pagesOf(text).map(tagsOf)
    assert.deepStrictEqual([foreignList, foreignNone, foreignMail], [list, none, mail])
  })

  it("pages have no scripts and no inline styles", () => {
    for (const page of pagesOf("<script>alert(1)</script><p style=x onclick=y>")) {
      assert.isFalse(tagsOf(page).some((tag) => /^<script|^<style| (?:style|on\w+)=/i.test(tag)))
    }
  })

  it("an empty inbox says where to send mail", () => {
    assert.match(SandboxMailPages.list({ ...inbox, rows: [] }), /127\.0\.0\.1:2525/)
  })

  it("links to the next and previous page keep the search", () => {
    const page = SandboxMailPages.list({ ...inbox, rows: [rowOf("a")], total: 120, page: 2, to: "a+b@x.example" })
    assert.include(page, "href=\"/sandbox/mail?page=1&amp;to=a%2Bb%40x.example\"")
    assert.include(page, "href=\"/sandbox/mail?page=3&amp;to=a%2Bb%40x.example\"")
    assert.include(page, "Page 2 of 3")
  })
})

describe("markup of a mail", () => {
  it("links open in a new tab, and the doctype stays first", () => {
    assert.strictEqual(
      SandboxMailPages.markup("<!DOCTYPE html><p>hi"),
      "<!DOCTYPE html><meta charset=\"utf-8\"><base target=\"_blank\"><p>hi"
    )
    assert.strictEqual(SandboxMailPages.markup("<p>hi"), "<meta charset=\"utf-8\"><base target=\"_blank\"><p>hi")
  })
})
