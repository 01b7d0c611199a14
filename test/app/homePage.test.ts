import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const development = { MODE: "development" }

layer(TestDatabase.layer, { excludeTestServices: true })("GET /", (it) => {
  it.effect("in development is a page with the state, where messages go, and links that work", () =>
    Effect.gen(function*() {
      const relay = "smtp://user:geheim@relay.example:2525?tls=never"
      const node = yield* startNode({ env: { ...development, SMTP_URL: relay } })
      const page = yield* eventually(node.request("GET", "/"), ({ text }) => text.includes(">Ready<"))
      assert.strictEqual(page.status, 200)
      assert.match(page.headers["content-type"] ?? "", /^text\/html/)
      assert.include(page.text, "<h1>Messaging Service</h1>")
      assert.match(page.text, /<dt>email<\/dt><dd>the relay relay\.example:2525<\/dd>/)
      assert.match(page.text, /<dt>SMS<\/dt><dd>the sandbox/)
      assert.notInclude(page.text, "geheim")
      const links = [...page.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? "")
      assert.deepStrictEqual(links, [
        "/favicon.svg",
        "/console/",
        "/docs",
        "/sandbox/sms",
        "/sandbox/phones",
        "/openapi.json",
        "/health/ready"
      ])
      for (const link of links) {
        assert.strictEqual((yield* node.request("GET", link)).status, link === "/console/" ? 302 : 200, link)
      }
    }))

  it.effect("in development shows a client behind a proxy neither the sandbox nor where messages go", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: development })
      const page = yield* node.request("GET", "/", { headers: { "x-forwarded-for": "203.0.113.9" } })
      assert.strictEqual(page.status, 200)
      assert.notMatch(page.text, /sandbox/i)
      assert.notInclude(page.text, "<dt>")
    }))

  it.effect("in production names the program and links to its documents, and nothing else", () =>
    Effect.gen(function*() {
      const node = yield* startNode()
      const { headers, text } = yield* node.request("GET", "/")
      assert.notMatch(text, /sandbox|relay|Ready|curl|WhatsApp<\/dt>/)
      assert.include(text, "<h1>Messaging Service</h1>")
      assert.include(text, "href=\"/docs\"")
      assert.isUndefined(headers["set-cookie"])
    }))

  it.effect("and the icon that browsers ask for load nothing from elsewhere", () =>
    Effect.gen(function*() {
      const node = yield* startNode({ env: development })
      const { headers, text } = yield* node.request("GET", "/")
      assert.match(
        headers["content-security-policy"] ?? "",
        /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'/
      )
      assert.notMatch(text, /https?:\/\/(?!127\.0\.0\.1)/)
      const icon = yield* node.request("GET", "/favicon.ico")
      assert.deepStrictEqual([icon.status, icon.headers["content-type"]], [200, "image/svg+xml"])
    }))
})
