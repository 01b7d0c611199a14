import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { html } from "../../../src/platform/http/html.ts"
import { mailListPage } from "../../../src/sandbox/mail/MailListPage.ts"
import { mailPage, markupOf } from "../../../src/sandbox/mail/MailPage.ts"
import type { ReadMail } from "../../../src/sandbox/mail/readMail.ts"
import type { Page } from "../../../src/sandbox/pages/LocalPage.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"

const received_at = Timestamp.make("2026-01-31T08:05:09.000042Z")
const selection = { to: "", from: "", subject: "", q: "" }
const inbox = { total: 0, unread: 0, page: 1, per_page: 50, selection, smtpPort: 2525 }

const rowOf = (text: string) => ({
  id: 7,
  from: text,
  to: text,
  subject: text,
  received_at,
  read: false,
  attachment_count: 1
})

const contentOf = (text: string): ReadMail => ({
  headers: [{ name: text, value: text }],
  text,
  html: text,
  links: [text],
  attachments: [{ name: text, type: text, content: new Uint8Array(1) }]
})

const shown = ({ content }: Page) => html`${content}`.markup

/** A document's tags without their attribute values. */
const tagsOf = (page: string) => (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, "\"\""))

const pagesOf = (text: string) =>
  [
    mailListPage({ ...inbox, rows: [rowOf(text)], total: 120, page: 2, selection: { ...selection, q: text } }),
    mailListPage({ ...inbox, rows: [], selection: { ...selection, q: text } }),
    mailPage({ ...rowOf(text), envelope_from: text, raw: new Uint8Array(1) }, contentOf(text))
  ].map(shown)

describe("sandbox inbox pages", () => {
  it.prop("pages have the same tags whatever the mails contain", [Schema.NonEmptyString], ([text]) => {
    if (!text.isWellFormed() || /^https?:/i.test(text)) return
    assert.deepStrictEqual(pagesOf(text).map(tagsOf), pagesOf("x").map(tagsOf))
  })

  it("pages have no scripts and no inline styles", () => {
    for (const page of pagesOf("<script>alert(1)</script><p style=x onclick=y>")) {
      assert.isFalse(tagsOf(page).some((tag) => /^<script|^<style| (?:style|on\w+)=/i.test(tag)))
    }
  })

  it("only addresses of the web become links", () => {
    const page = (link: string) =>
      shown(
        mailPage({ ...rowOf("a"), envelope_from: "", raw: new Uint8Array(1) }, { ...contentOf("a"), links: [link] })
      )
    assert.include(
      page("https://x.example/?a=1&b"),
      "<a href=\"https://x.example/?a=1&amp;b\" target=\"_blank\" rel=\"noreferrer\">"
    )
    for (const link of ["javascript:alert(1)", "data:text/html,x", "mailto:a@x.example"]) {
      assert.notInclude(page(link), `href="${link}`)
    }
  })

  it("an empty inbox says where to send mail", () => {
    assert.match(shown(mailListPage({ ...inbox, rows: [] })), /127\.0\.0\.1:2525/)
  })

  it("links to the next and previous page keep the search", () => {
    const search = { ...selection, to: "a+b@x.example" }
    const page = shown(mailListPage({ ...inbox, rows: [rowOf("a")], total: 120, page: 2, selection: search }))
    assert.include(page, "href=\"/sandbox/mail?to=a%2Bb%40x.example&amp;page=1&amp;per_page=50\"")
    assert.include(page, "href=\"/sandbox/mail?to=a%2Bb%40x.example&amp;page=3&amp;per_page=50\"")
    assert.include(page, "Page 2 of 3")
    assert.include(page, "value=\"to:a+b@x.example\"")
  })

  it("the title and the list mark unread mail", () => {
    const list = { ...inbox, rows: [rowOf("a")], total: 1, unread: 1 }
    assert.strictEqual(mailListPage(list).title, "(1) Mail")
    assert.include(shown(mailListPage(list)), "<li class=\"unread\">")
    assert.notInclude(shown(mailListPage({ ...list, rows: [{ ...rowOf("a"), read: true }] })), "class=\"unread\"")
  })
})

describe("markup of a mail", () => {
  it("links open in a new tab, and the doctype stays first", () => {
    assert.strictEqual(
      markupOf("<!DOCTYPE html><p>hi"),
      "<!DOCTYPE html><meta charset=\"utf-8\"><base target=\"_blank\"><p>hi"
    )
    assert.strictEqual(markupOf("<p>hi"), "<meta charset=\"utf-8\"><base target=\"_blank\"><p>hi")
  })
})
