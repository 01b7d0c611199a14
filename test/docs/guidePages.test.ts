import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Service } from "../support/Service.ts"
import { pages, read } from "./documents.ts"

const guides = pages.filter((page) => page.startsWith("docs/guides/") && page !== "docs/guides/README.md")
const nameOf = (page: string) => page.slice("docs/guides/".length, -".md".length)

describe("docs/guides", () => {
  it("the index lists every guide once, with one line", () => {
    const listed = [...read("docs/guides/README.md").matchAll(/^- \[.+?\]\((.+?)\.md\): .+$/gm)].map(([, name]) => name)
    assert.deepStrictEqual(listed.toSorted(), guides.map(nameOf).toSorted())
  })

  it("the index of the documents lists every guide", () => {
    for (const guide of guides) assert.include(read("docs/README.md"), `(guides/${nameOf(guide)}.md)`)
  })
})

layer(Service.layer({ env: { PUBLIC_URL: "https://messaging.example/" } }))("the served guides", (it) => {
  it.effect("each guide is a page with its text, and is the file itself under its name with .md", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      for (const guide of guides) {
        const path = `/docs/guides/${nameOf(guide)}`
        const page = yield* request("GET", path)
        assert.strictEqual(page.status, 200, path)
        assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
        assert.match(page.headers["content-security-policy"] ?? "", /^default-src 'none'; style-src 'self';/)
        const [, title = ""] = /^# (.*)$/m.exec(read(guide)) ?? []
        assert.include(page.text, `<title>${title}</title>`)
        const markdown = yield* request("GET", `${path}.md`)
        assert.deepStrictEqual([markdown.status, markdown.text], [200, read(guide)])
        assert.strictEqual(markdown.headers["content-type"], "text/markdown; charset=utf-8")
      }
    }))

  it.effect("every link of a page leads to a page and a heading that exist, and none loads from another site", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      for (const path of ["/docs/guides", ...guides.map((guide) => `/docs/guides/${nameOf(guide)}`)]) {
        const { text } = yield* request("GET", path)
        assert.notMatch(text, /<script|style=|<(img|link)[^>]+(src|href)="(https?:)?\/\//)
        for (const [, target = ""] of text.matchAll(/href="([/#][^"]*)"/g)) {
          const [file = "", anchor] = target.split("#")
          const answer = yield* request("GET", file === "" ? path : file)
          assert.strictEqual(answer.status, 200, `${path} links to ${target}`)
          if (anchor !== undefined) assert.include(answer.text, ` id="${anchor}"`, `${path} links to ${target}`)
        }
      }
    }))

  it.effect("/docs/guides and /llms.txt list every guide", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const index = yield* request("GET", "/docs/guides")
      const list = yield* request("GET", "/llms.txt")
      assert.deepStrictEqual([list.status, list.headers["content-type"]], [200, "text/plain; charset=utf-8"])
      for (const guide of guides) {
        assert.include(index.text, `href="/docs/guides/${nameOf(guide)}"`)
        assert.match(
          list.text,
          new RegExp(`^- \\[.+\\]\\(https://messaging\\.example/${guide.replaceAll(".", "\\.")}\\): .+$`, "m")
        )
      }
    }))

  it.effect("an unknown guide is a 404", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      for (const name of ["nothing", "nothing.md", "README", "..%2fREADME.md"]) {
        assert.strictEqual((yield* request("GET", `/docs/guides/${name}`)).status, 404, name)
      }
    }))

  it.effect("the doc_url of an error is below PUBLIC_URL and leads to the section of its type", () =>
    Effect.gen(function*() {
      const { raw, request } = yield* Service
      const refused = yield* request("GET", "/v1/webhooks")
      const unreadable = yield* raw("GET / HTTP/9.9\r\n\r\n")
      const doc = "https://messaging.example/docs/guides/errors#"
      assert.strictEqual(refused.at("error", "doc_url"), `${doc}missing_api_key`)
      assert.include(unreadable, `"doc_url":"${doc}bad_request"`)
      assert.include((yield* request("GET", "/docs/guides/errors")).text, ` id="missing_api_key"`)
    }))
})

layer(Service.layer())("errors without PUBLIC_URL", (it) => {
  it.effect("the doc_url of an error is a path", () =>
    Effect.gen(function*() {
      const refused = yield* (yield* Service).request("GET", "/v1/webhooks")
      assert.strictEqual(refused.at("error", "doc_url"), "/docs/guides/errors#missing_api_key")
    }))
})
