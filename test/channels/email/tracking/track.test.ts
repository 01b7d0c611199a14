import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { targetsOf, track, trackingValues } from "../../../../src/channels/email/tracking/track.ts"
import * as Template from "../../../../src/templates/Template.ts"

const compiled = (html: string) => {
  const template = Result.getOrThrow(Template.compile({ subject: "s", html }))
  const part = template.html
  assert(part !== undefined)
  return { template, part }
}

const openUrl = "https://m.example/o"
const clickUrl = (index: number) => `https://m.example/c/${index};`

/** Renders the HTML for one recipient with all links tracked. */
const tracked = (html: string, { opens = false, variables = {} }: { opens?: boolean; variables?: object } = {}) => {
  const { part, template } = compiled(html)
  const targets = targetsOf(part)
  const values = {
    ...variables,
    ...trackingValues({ open: openUrl, clicks: targets.map((_, index) => clickUrl(index)) })
  }
  const rendered = Template.render({ ...template, html: track(part, { opens, targets }) }, values).html ?? ""
  return { targets, html: rendered }
}

const pixel = `<img src="${openUrl}" width="1" height="1" alt="" style="border:0;width:1px;height:1px">`

describe("track and targetsOf", () => {
  it("track links in every spelling of HTML", () => {
    const cases: ReadonlyArray<readonly [html: string, target: string]> = [
      [`<a href="https://x.example/a">`, "https://x.example/a"],
      [`<A CLASS=b HREF='HTTP://x.example/a'>`, "HTTP://x.example/a"],
      [`<a href=https://x.example/a>`, "https://x.example/a"],
      [`<a href=https://x.example/a/ id=b>`, "https://x.example/a/"],
      [`<a\n  title="a > b"\n  href = "https://x.example/a">`, "https://x.example/a"],
      [`<area shape="rect" href="https://x.example/a"/>`, "https://x.example/a"],
      [`<a href=" https://x.example/a\n">`, "https://x.example/a"],
      [
        `<a href="https://x.example/?a=1&amp;b=2&#38;c=3&#x26;d=4&copy=5&e">`,
        "https://x.example/?a=1&b=2&c=3&d=4&copy=5&e"
      ],
      [`<a href='https://x.example/?q=&quot;&apos;'>`, "https://x.example/?q=\"'"],
      [`<a href="https://bücher.example/ä b">`, "https://xn--bcher-kva.example/%C3%A4%20b"],
      [`<a href="https://x.example/#part">`, "https://x.example/#part"],
      [`<!-- <a> --><a href="https://x.example/a">`, "https://x.example/a"],
      [`<!--[if !mso]><!--><a href="https://x.example/a"><!--<![endif]-->`, "https://x.example/a"],
      [`<!--><a href="https://x.example/a">`, "https://x.example/a"],
      [`<style>a > b {}</style><a href="https://x.example/a">`, "https://x.example/a"],
      [`1 < 2 <a href="https://x.example/a">`, "https://x.example/a"],
      [`<p title={{x}}><a title="{{x}}" href="https://x.example/a">`, "https://x.example/a"]
    ]
    for (const [html, target] of cases) {
      const { html: changed, targets } = tracked(html, { variables: { x: "y" } })
      assert.deepStrictEqual(targets, [target], html)
      assert.include(changed, clickUrl(0), html)
    }
  })

  it("leave links unchanged that readers cannot follow or that mail programs may read differently", () => {
    const cases = [
      `<a href="mailto:a@x.example">`,
      `<a href="tel:+15550100">`,
      `<a href="#part">`,
      `<a href="">`,
      `<a href>`,
      `<a name="https://x.example/a">`,
      `<a href="/a">`,
      `<a href="//x.example/a">`,
      `<a href="javascript:alert(1)">`,
      `<a href="data:text/html,https://x.example">`,
      `<a href="https://">`,
      `<a href="https://x.example:99999/">`,
      `<a href="https://x.example/Unsubscribe?u=1">`,
      `<a href="https://x.example/?a&eacute;">`,
      `<a href="https://x.example/?a&eacute">`,
      `<a href="https://x.example/&#0;">`,
      `<a href="https://x.example/&#128;">`,
      `<a href="#top" href="https://x.example/a">`,
      `<a href="https://x.example/a`,
      `<img src="https://x.example/a">`,
      `<link href="https://x.example/a">`,
      `<!-- <a href="https://x.example/a"> -->`,
      `<!--[if mso]><a href="https://x.example/a"><![endif]-->`,
      `<script>"<a href='https://x.example/a'>"</script>`,
      `<STYLE><a href="https://x.example/a"></STYLE>`,
      `<textarea><a href="https://x.example/a"></textarea>`,
      `<p title="<a href='https://x.example/a'>">`,
      `<a href="https://x.example/{{x}}">`,
      `<a href="{{x}}">`,
      `https://x.example/a`,
      `<a href="https://x.example/${"a".repeat(4_000)}">`
    ]
    for (const html of cases) {
      const { html: changed, targets } = tracked(html, { variables: { x: "https://y.example" } })
      assert.deepStrictEqual(targets, [], html)
      assert.strictEqual(changed, html.replaceAll("{{x}}", "https://y.example"), html)
    }
  })

  it("treat links to one target as one, and change only links to stored targets", () => {
    const link = (url: string) => `<a href="${url}">x</a>`
    const html = link("https://x.example/a") + link("https://x.example/b") + link("https://x.example/a")
    const { html: changed, targets } = tracked(html)
    assert.deepStrictEqual(targets, ["https://x.example/a", "https://x.example/b"])
    assert.strictEqual(changed, [0, 1, 0].map((index) => link(clickUrl(index))).join(""))
    const { part, template } = compiled(html)
    const only = { ...template, html: track(part, { opens: false, targets: ["https://x.example/b"] }) }
    const rendered = Template.render(only, trackingValues({ open: "", clicks: [clickUrl(0)] })).html
    assert.strictEqual(rendered, html.replace("https://x.example/b", clickUrl(0)))
  })

  it("let no recipient's value change a link", () => {
    const html = `<a href="https://x.example/a">{{x}}</a>{{ y | there }}`
    const variables = { x: `<a href="https://evil.example">"{{open}}`, "": { 0: "https://evil.example" } }
    assert.strictEqual(
      tracked(html, { variables }).html,
      `<a href="${clickUrl(0)}">&lt;a href=&quot;https://evil.example&quot;&gt;&quot;{{open}}</a>there`
    )
  })

  it("leave links after the first thousand unchanged", () => {
    const html = Array.from({ length: 1_100 }, (_, index) => `<a href="https://x.example/${index}">`).join("")
    const { html: changed, targets } = tracked(html)
    assert.strictEqual(targets.length, 1_000)
    assert.include(changed, `"https://x.example/1000"`)
    assert.notInclude(changed, `"https://x.example/999"`)
  })

  it("find links in time linear in the text's length", () => {
    const size = 1_000_000
    const hostile = [
      "<",
      "<a ",
      "<a href=",
      "<a href=\"",
      "<a x='",
      "<!--",
      "<script>",
      "<a href='https://x/'>",
      "&amp",
      " ",
      "</"
    ]
    for (const piece of hostile) {
      const part = { literals: [`<a href="https://x.example/">${piece.repeat(size / piece.length)}`], placeholders: [] }
      assert.include(targetsOf(part), "https://x.example/", piece)
    }
  }, 20_000)
})

describe("the tracking pixel", () => {
  it("is placed before the end of the body, or at the end of the text", () => {
    const cases = [
      [`<html><body>{{x}}</BODY ></html>`, `<html><body>y${pixel}</BODY ></html>`],
      [`<p>{{x}}</p>`, `<p>y</p>${pixel}`],
      [``, pixel],
      [`<!-- </body> --><p>`, `<!-- </body> --><p>${pixel}`],
      [`</body><body>{{x}}</body>`, `</body><body>y${pixel}</body>`]
    ] as const
    for (const [html, changed] of cases) {
      assert.strictEqual(tracked(html, { opens: true, variables: { x: "y" } }).html, changed)
    }
  })
})

describe("track", () => {
  const Fragment = Schema.Literals([
    "<a ",
    "</a>",
    "<a href=\"https://x.example/a\">",
    "<a href='https://y.example/?a&amp;b'>",
    "<A HREF=https://z.example>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "</body>",
    "href=",
    "\"",
    "'",
    ">",
    "<",
    " ",
    "\n",
    "=",
    "{{x}}",
    "{{ y | z }}",
    "{{{{",
    "&amp;",
    "https://x.example",
    "<p title=\"",
    "word"
  ])

  /** A target keeps everything but whitespace at the ends of an href and the spelling of `&`. */
  const bare = (html: string) => html.replaceAll("&amp;", "&").replaceAll(/\s/g, "")

  it.prop(
    "changes only the values of some hrefs and adds one image",
    [Schema.Array(Fragment)],
    ([fragments]) => {
      const source = fragments.join("")
      const template = Template.compile({ subject: "s", html: source })
      if (Result.isFailure(template)) return
      const variables = { x: "\"<a href='https://v.example'>" }
      const { html, targets } = tracked(source, { opens: true, variables })
      assert.strictEqual(html.split(pixel).length, 2)
      const restored = html.replace(pixel, "").replaceAll(
        /https:\/\/m\.example\/c\/(\d+);/g,
        (_, index) => targets[Number(index)] ?? "no target"
      )
      assert.strictEqual(bare(restored), bare(Template.render(template.success, variables).html ?? ""))
    },
    { arbitrary: { runs: 2_000 } }
  )
})
