import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  htmlWords,
  matchesSearch,
  queryWords,
  type Searchable,
  tsqueryPartsOf,
  tsvectorOf
} from "../../src/history/searchWords.ts"

const Ascii = Schema.String.check(Schema.isPattern(/^[ -~]{0,40}$/))

const record: Searchable = {
  recipients: ["+250788123456", "Ada.Lovelace@Example.com"],
  subject: "Votre commande est PRÊTE — Straße 7",
  text: "Crème brûlée, naïve Ænima; 東京タワー で",
  domain: "Mail.Shop.example",
  keyId: 17
}

const found = (q: string) => matchesSearch({ q }, record)
const starts = (to: string) => matchesSearch({ to }, record)

describe("the text of an HTML document for a search", () => {
  it("has what a reader sees, with its placeholders, and no tag, comment, style, script or head", () => {
    const html = `<!DOCTYPE html><html><head><title>Shop</title><style>p{color:red}</style></head><body class="a">
      <!-- note --><p>Caf&eacute;&nbsp;<b>is</b> open, {{name}} &#8364;5</p><script>go()</script>&zwnj;<br>3 < 4</body></html>`
    assert.strictEqual(htmlWords(html), "Café is open, {{name}} €5 3 < 4")
  })

  it("ends before what the start of a document cuts off", () => {
    for (
      const cut of ["<a href=\"https://shop.exam", "<!-- no", "<style>p{", "<HEAD><title>x", "</td", "<script src"]
    ) {
      assert.strictEqual(htmlWords(`<p>One</p>${cut}`), "One", cut)
    }
  })
})

describe("the words of a search", () => {
  it("match without case and accents, each as the beginning of a word, in any order", () => {
    for (
      const q of [
        "prete",
        "PRÊTE comm",
        "creme BRULEE",
        "strasse",
        "naive aenima",
        "ada",
        "lovelace exam",
        "東京",
        "タワー"
      ]
    ) {
      assert.isTrue(found(q), q)
    }
    for (const q of ["rete", "prete absent", "adax", "京都", "example.org"]) assert.isFalse(found(q), q)
  })

  it("find a phone number by its beginning, with and without the plus, and by its last digits", () => {
    for (const q of ["+250788123456", "250788", "788123", "3456"]) assert.isTrue(found(q), q)
    assert.isFalse(found("9999"))
  })

  it("of one letter match whole words only", () => {
    assert.isTrue(found("7"))
    assert.isFalse(found("p"))
  })

  it("of a recipient's beginning match recipients alone", () => {
    for (const to of ["+2507", " 2507", "ada.love", "ADA.Lovelace@example.com"]) assert.isTrue(starts(to), to)
    for (const to of ["votre", "lovelace", "788"]) assert.isFalse(starts(to), to)
  })

  it("are quoted for PostgreSQL, alone and with a block", () => {
    const parts = tsqueryPartsOf({ q: "don't a", to: "o'neil\\" })
    assert.strictEqual(parts.join(""), "'>o''neil\\\\':* & 'don':* & 't' & 'a'")
    assert.strictEqual(parts.join("e7:"), "'e7:>o''neil\\\\':* & 'e7:don':* & 'e7:t' & 'e7:a'")
    assert.deepStrictEqual(queryWords("…!"), [])
    assert.strictEqual(
      tsvectorOf({ recipients: ["a@x.de"], subject: "x hi", text: "", domain: "y.de", keyId: 17 }),
      "'<y.de':1A '#17':1A '>a@x.de':1A 'a':1A 'x':1A 'de':1A 'hi':1"
    )
    assert.strictEqual(
      tsqueryPartsOf({ q: "hi", domain: "y.de", key_id: 17 }).join("e7:"),
      "'e7:<y.de' & 'e7:#17' & 'e7:hi':*"
    )
  })

  it("of a sender's domain and of a key match as a whole, and never the text", () => {
    assert.isTrue(matchesSearch({ domain: "mail.shop.example", key_id: 17 }, record))
    for (
      const other of [
        { domain: "shop.example" },
        { domain: "mail.shop.ex" },
        { domain: "example.com" },
        { key_id: 1 },
        { key_id: 7 }
      ]
    ) {
      assert.isFalse(matchesSearch(other, record), JSON.stringify(other))
    }
    assert.isFalse(found("mail shop"))
    assert.isFalse(matchesSearch({ domain: "mail.shop.example" }, { ...record, domain: null }))
  })

  it.prop("of an ASCII text are the same in a text with other characters", [Ascii], ([text]) => {
    const words = queryWords(text)
    if (words.length < 10) assert.sameMembers([...queryWords(`${text} é`)], [...new Set([...words, "e"])])
  })

  it("end after the first 200 characters of a text", () => {
    const long = { ...record, text: `${"x ".repeat(100)}late` }
    assert.isFalse(matchesSearch({ q: "late" }, long))
  })
})
