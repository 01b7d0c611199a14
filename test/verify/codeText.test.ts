import { assert, describe, it } from "@effect/vitest"
import { segment } from "../../src/channels/sms/text/segments.ts"
import { Locale } from "../../src/values/Locale.ts"
import { codeSms, codeSubject, codeText } from "../../src/verify/codeText.ts"

const words = (locale: Locale) => ({ locale, brandName: "A".repeat(30), mask: "********", minutes: 10 })

describe("the text of a code", () => {
  for (const locale of Locale.literals) {
    it(`is one SMS in ${locale} with the longest brand and a site's name, but in Arabic two at most`, () => {
      const { encoding, parts } = segment(codeSms(words(locale), "accounts.example.com"))
      assert.deepStrictEqual([encoding, parts.length], locale === "ar" ? ["ucs2", 2] : ["gsm7", 1])
    })

    it(`has the mask once in ${locale}, the brand and the minutes, and nothing else with a star`, () => {
      const text = codeText(words(locale))
      assert.strictEqual(text.split("*").length, 9, text)
      assert.isTrue(text.startsWith(`${"A".repeat(30)}: `))
      assert.match(text, /(?<!\d)10(?!\d)/)
      assert.notInclude(codeSubject(words(locale)), "*")
    })
  }

  it("ends with the site and the code for browsers, after an empty line (WebOTP)", () => {
    const text = codeSms({ ...words("en"), brandName: null }, "shop.example")
    assert.strictEqual(
      text,
      "Your code is ********. It is valid for 10 minutes. Do not give it to anybody.\n\n@shop.example #********"
    )
  })

  it("says one minute where it is one", () => {
    assert.include(codeText({ ...words("en"), minutes: 1 }), "valid for 1 minute.")
    assert.include(codeText({ ...words("de"), minutes: 1 }), "gilt 1 Minute.")
  })
})
