import { assert, describe, it } from "@effect/vitest"
import { mailParts } from "../../src/console/pages/email/mailParts.ts"

describe("the images and the links of a mail", () => {
  it("are found in any spelling of the markup, with the words of each link", () => {
    const { links, withoutAlt, images } = mailParts(
      `<A class=x HREF='https://example.com/?a=1&amp;b=2'>Read <b>more</b>\n now</A> 1 < 2
      <img src=logo.png><IMG SRC="a.png" ALT="A > B"><img alt src="line.png">
      <a href="mailto:ada@example.com"><img src="x.png" alt="Write to us"></a><a name="top">Top</a><a href=last>Last`
    )
    assert.deepStrictEqual(links, [
      { href: "https://example.com/?a=1&b=2", text: "Read more now" },
      { href: "mailto:ada@example.com", text: "Write to us" },
      { href: "last", text: "Last" }
    ])
    assert.deepStrictEqual([images, withoutAlt], [4, ["logo.png"]])
  })

  it("are not those of comments, nor of words that resemble a tag", () => {
    const none = mailParts(`<!-- <a href="x">x</a><img src="y"> --><abbr href="x">x</abbr><imgx src="y">`)
    assert.deepStrictEqual(none, { images: 0, withoutAlt: [], links: [] })
  })

  it("are read in a time that grows with the length of the markup, however broken it is", () => {
    for (const part of ["<a \"", "<a href='", "<!--", "<img =", "<", "<a href=x>"]) {
      const began = process.cpuUsage()
      mailParts(part.repeat(300_000 / part.length))
      const { system, user } = process.cpuUsage(began)
      assert.isBelow((system + user) / 1_000, 5_000, part)
    }
  })
})
