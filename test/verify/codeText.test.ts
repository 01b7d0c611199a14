import { assert, describe, it } from "@effect/vitest"
import { segment } from "../../src/channels/sms/text/segments.ts"
import { Locale } from "../../src/values/Locale.ts"
import { codeSms, codeSubject, codeText } from "../../src/verify/codeText.ts"

const words = (locale: Locale) => ({ locale, brandName: "A".repeat(30), mask: "********", seconds: 659 })

describe("codeText", () => {
  for (const locale of Locale.literals) {
    it(`the text in ${locale} fits one SMS with the longest brand and a site, and two in Arabic`, () => {
      for (const seconds of [600, 59]) {
        const { encoding, parts } = segment(codeSms({ ...words(locale), seconds }, "accounts.example.com"))
        assert.deepStrictEqual([encoding, parts.length], locale === "ar" ? ["ucs2", 2] : ["gsm7", 1])
      }
    })

    it(`the text in ${locale} contains the mask once, the brand and the minutes, and no other star`, () => {
      const text = codeText(words(locale))
      assert.strictEqual(text.split("*").length, 9, text)
      assert.isTrue(text.startsWith(`${"A".repeat(30)}: `))
      assert.match(text, /(?<!\d)10(?!\d)/)
      assert.notInclude(codeSubject(words(locale)), "*")
    })
  }

  it("the text ends with an empty line, the site and the code for browsers (WebOTP)", () => {
    const text = codeSms({ ...words("en"), brandName: null }, "shop.example")
    assert.strictEqual(
      text,
      "Your code is ********. It is valid for 10 minutes. Do not give it to anybody.\n\n@shop.example #********"
    )
  })

  it("the text says one minute in the singular", () => {
    assert.include(codeText({ ...words("en"), seconds: 119 }), "valid for 1 minute.")
    assert.include(codeText({ ...words("de"), seconds: 60 }), "gilt 1 Minute.")
    assert.include(codeText({ ...words("rw"), seconds: 60 }), "Imara umunota 1.")
  })

  it("the Arabic text names two minutes in the nominative, the only case that Intl has", () => {
    assert.include(codeText({ ...words("ar"), seconds: 120 }), "مدة صلاحيته: دقيقتان.")
  })

  it("the text names seconds if less than a minute is left", () => {
    assert.include(codeText({ ...words("en"), seconds: 59 }), "valid for 59 seconds.")
    assert.include(codeText({ ...words("rw"), seconds: 40 }), "Imara amasegonda 40.")
  })
})
