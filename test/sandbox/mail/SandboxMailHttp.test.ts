import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, layer } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as NodeCrypto from "node:crypto"
import * as NodeHttp from "node:http"
import { Smtp } from "../../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../../src/channels/email/smtp/SmtpLayer.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Draining } from "../../../src/platform/http/ready/Draining.ts"
import { SandboxDelivery } from "../../../src/sandbox/mail/SandboxDelivery.ts"
import { SandboxInbox } from "../../../src/sandbox/mail/SandboxInbox.ts"
import { SandboxMailHttp } from "../../../src/sandbox/mail/SandboxMailHttp.ts"
import { SandboxMailServer } from "../../../src/sandbox/mail/SandboxMailServer.ts"
import { SandboxReports } from "../../../src/sandbox/mail/SandboxReports.ts"
import { SandboxHome } from "../../../src/sandbox/pages/LocalPage.ts"
import { SandboxToken } from "../../../src/sandbox/pages/SandboxToken.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const message = Buffer.from([
  "From: =?utf-8?q?Caf=C3=A9?= <news@cafe.example>",
  "To: ann@x.example",
  "Subject: Hello <b>Ann</b>",
  "Message-ID: <1@cafe.example>",
  "MIME-Version: 1.0",
  "X-Note: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
  "Content-Type: multipart/mixed; boundary=m",
  "",
  "--m",
  "Content-Type: multipart/alternative; boundary=b",
  "",
  "--b",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Your code is 123456 <script>",
  "--b",
  "Content-Type: text/html; charset=utf-8",
  "",
  "<!doctype html><p>Your code is <b>123456</b><script>alert(1)</script></p><a href='https://x.example/?a=1&amp;b=2'>x</a>",
  "--b--",
  "--m",
  "Content-Type: text/html",
  "Content-Disposition: attachment; filename=\"it's \u00fc.html\"",
  "",
  "<script>alert(1)</script>",
  "--m--",
  ""
].join("\r\n"))

interface Answer {
  readonly status: number
  readonly headers: NodeHttp.IncomingHttpHeaders
  readonly body: string
}

const token = "0123456789abcdef"

const App = HttpRouter.serve(Layer.merge(SandboxMailHttp, SandboxHome), { disableLogger: true }).pipe(
  Layer.provideMerge(SandboxMailServer.layer()),
  Layer.provide([
    SandboxDelivery.layer.pipe(Layer.provideMerge(Layer.merge(SandboxInbox.layer(), SandboxReports.layer))),
    Draining.layer,
    AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({})))),
    Layer.succeed(SandboxToken, SandboxToken.make(Option.some(Redacted.make(token))))
  ]),
  Layer.provideMerge(NodeHttpServer.layer(NodeHttp.createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(TestDatabase.layer)
)

const request = Effect.fnUntraced(function*(method: string, path: string, headers: Record<string, string> = {}) {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  return yield* Effect.callback<Answer>((resume) => {
    NodeHttp.request({ host: "127.0.0.1", port, path, headers, method }, (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        body += chunk
      })
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body }))
      )
    }).on("error", (error) => resume(Effect.die(error))).end()
  })
})

const plainGet = (path: string, headers?: Record<string, string>) => request("GET", path, headers)

const withToken = (path: string) => `${path}${path.includes("?") ? "&" : "?"}token=${token}`

/** With the token in the query. */
const get = (path: string, headers?: Record<string, string>) => request("GET", withToken(path), headers)

/** The same, for a request that changes something. */
const change = (method: string, path: string, headers?: Record<string, string>) =>
  request(method, withToken(path), headers)

const send = Effect.fnUntraced(function*(to: string) {
  const { port } = yield* SandboxMailServer
  const relay = { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } as const
  const smtp = Context.get(yield* Layer.build(SmtpLayer.make({ relay })), Smtp)
  yield* smtp.send({ envelope: { from: "b+1@cafe.example", to }, message, priority: "single", account: null })
})

const json = { accept: "application/json" }

const firstTo = Effect.fnUntraced(function*(to: string) {
  const list = JSON.parse((yield* get(`/sandbox/mail?to=${encodeURIComponent(to)}`, json)).body)
  return { list, id: Number(list.data[0].id) }
})

layer(App, { excludeTestServices: true })("sandbox inbox over HTTP", (it) => {
  describe("SandboxMailHttp", () => {
    it.effect("mail received by SMTP is listed as JSON", () =>
      Effect.gen(function*() {
        yield* send("json@x.example")
        const { list } = yield* firstTo("json@x.example")
        assert.deepStrictEqual(list.meta, { total: 1, unread: 1, page: 1, per_page: 50 })
        const [{ id, received_at, ...mail }] = list.data
        assert.deepStrictEqual(mail, {
          from: "Caf\u00e9 <news@cafe.example>",
          to: "json@x.example",
          subject: "Hello <b>Ann</b>",
          read: false,
          attachment_count: 1
        })
        assert.isNumber(id)
        assert.match(received_at, /Z$/)
      }))

    it.effect("a mail is shown as a page, as JSON, as markup and as source", () =>
      Effect.gen(function*() {
        yield* send("one@x.example")
        const { id } = yield* firstTo("one@x.example")
        const page = yield* get(`/sandbox/mail/${id}`)
        assert.strictEqual(page.status, 200)
        assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
        assert.include(page.body, "Hello &lt;b&gt;Ann&lt;/b&gt;")
        assert.include(page.body, "Your code is 123456 &lt;script&gt;")
        const [script = "", ...others] = page.body.match(/<script>[^]*?<\/script>/g) ?? []
        assert.deepStrictEqual(others, [])
        const hash = NodeCrypto.createHash("sha256").update(script.slice(8, -9)).digest("base64")
        assert.include(page.headers["content-security-policy"], `default-src 'none'; script-src 'sha256-${hash}'; `)
        const { data } = JSON.parse((yield* get(`/sandbox/mail/${id}`, json)).body)
        assert.match(data.text, /Your code is 123456/)
        assert.strictEqual(data.envelope_from, "b+1@cafe.example")
        assert.deepInclude(data.headers, { name: "X-Note", value: "Gr\u00fc\u00dfe" })
        assert.deepStrictEqual(data.links, ["https://x.example/?a=1&b=2"])
        const url = `/sandbox/mail/${id}/files/1`
        assert.deepStrictEqual(data.attachments, [{ name: "it's \u00fc.html", type: "text/html", bytes: 26, url }])
        const markup = yield* get(`/sandbox/mail/${id}/html`)
        assert.match(markup.body, /^<!doctype html><meta charset="utf-8"><base target="_blank"><p>Your code/)
        assert.match(`${markup.headers["content-security-policy"]}`, /default-src 'none';.*; sandbox allow-popups/)
        assert.notMatch(`${markup.headers["content-security-policy"]}`, /script|allow-same-origin/)
        const source = yield* get(`/sandbox/mail/${id}/raw`)
        assert.strictEqual(source.body, message.toString("utf8"))
        assert.strictEqual(source.headers["content-type"], "text/plain; charset=utf-8")
      }))

    it.effect("an attachment is downloaded byte for byte, and never shown as a page", () =>
      Effect.gen(function*() {
        yield* send("file@x.example")
        const { id } = yield* firstTo("file@x.example")
        const file = yield* get(`/sandbox/mail/${id}/files/1`)
        assert.deepStrictEqual([file.status, file.body], [200, "<script>alert(1)</script>\n"])
        assert.strictEqual(file.headers["content-type"], "application/octet-stream")
        assert.strictEqual(file.headers["content-disposition"], "attachment; filename*=UTF-8''it%27s%20%C3%BC.html")
        assert.strictEqual(file.headers["x-content-type-options"], "nosniff")
        assert.match(`${file.headers["content-security-policy"]}`, /default-src 'none'.*; sandbox$/)
        for (const index of ["0", "2", "x"]) {
          assert.strictEqual((yield* get(`/sandbox/mail/${id}/files/${index}`, json)).status, 404)
        }
      }))

    it.effect("a list waits for the first mail that matches, and answers with an empty one when the time is over", () =>
      Effect.gen(function*() {
        yield* send("other@x.example")
        const path = "/sandbox/mail?to=later@x.example&subject=hello&wait=10"
        const waiting = yield* Effect.forkChild(get(path, json))
        yield* send("later@x.example")
        const found = JSON.parse((yield* Fiber.join(waiting)).body)
        assert.deepStrictEqual(found.data.map(({ to }: { to: string }) => to), ["later@x.example"])
        const [passed, none] = yield* Effect.timed(get("/sandbox/mail?to=later@x.example&subject=never&wait=1", json))
        assert.deepStrictEqual(JSON.parse(none.body).data, [])
        assert.isAtLeast(Duration.toMillis(passed), 950)
      }))

    it.effect("DELETE removes one mail, those that match, or all", () =>
      Effect.gen(function*() {
        yield* Effect.forEach(["d1@x.example", "d2@x.example", "d3@x.example"], send)
        const { id } = yield* firstTo("d1@x.example")
        const one = yield* change("DELETE", `/sandbox/mail/${id}`)
        assert.deepStrictEqual([one.status, JSON.parse(one.body)], [200, { data: { deleted: 1 } }])
        const again = yield* change("DELETE", `/sandbox/mail/${id}`)
        assert.deepStrictEqual([again.status, JSON.parse(again.body).error.type], [404, "not_found"])
        const some = yield* change("DELETE", "/sandbox/mail?to=d2@x.example&q=hello")
        assert.deepStrictEqual(JSON.parse(some.body), { data: { deleted: 1 } })
        assert.strictEqual((yield* firstTo("d3@x.example")).list.meta.total, 1)
        assert.isAtLeast(JSON.parse((yield* change("DELETE", "/sandbox/mail")).body).data.deleted, 1)
        assert.strictEqual(JSON.parse((yield* get("/sandbox/mail", json)).body).meta.total, 0)
      }))

    it.effect("a page's forms delete mail and mark it as read; forms of other origins do nothing", () =>
      Effect.gen(function*() {
        yield* Effect.forEach(["f1@x.example", "f2@x.example"], send)
        const { id } = yield* firstTo("f1@x.example")
        const unread = Effect.map(get("/sandbox/mail?to=@x.example", json), ({ body }) => JSON.parse(body).meta.unread)
        for (const path of ["/sandbox/mail/delete", `/sandbox/mail/${id}/delete`, "/sandbox/mail/read"]) {
          assert.strictEqual((yield* change("POST", path, { origin: "https://evil.example" })).status, 404)
        }
        assert.strictEqual((yield* change("DELETE", "/sandbox/mail", { origin: "https://evil.example" })).status, 404)
        assert.strictEqual(yield* unread, 2)
        const read = yield* change("POST", "/sandbox/mail/read")
        assert.deepStrictEqual([read.status, read.headers.location], [303, "/sandbox/mail"])
        assert.strictEqual(yield* unread, 0)
        assert.strictEqual((yield* change("POST", `/sandbox/mail/${id}/delete`)).status, 303)
        assert.strictEqual((yield* get(`/sandbox/mail/${id}`, json)).status, 404)
        assert.strictEqual((yield* change("POST", "/sandbox/mail/delete?to=f2@x.example")).status, 303)
        assert.strictEqual(JSON.parse((yield* get("/sandbox/mail?to=f2@x.example", json)).body).meta.total, 0)
      }))

    it.effect("a query that is wrong gets 422 with the parameter and the rule, as JSON or as a page", () =>
      Effect.gen(function*() {
        const cases = [
          ["wait=61", "wait", "wait: must be a whole number from 0 to 60."],
          ["wait=soon", "wait", "wait: must be a whole number from 0 to 60."],
          ["page=0", "page", "page: must be a whole number from 1 to 100000."],
          ["per_page=101", "per_page", "per_page: must be a whole number from 1 to 100."],
          ["sbject=x", "sbject", "sbject: is not a parameter here; use to, from, subject, q, page, per_page, wait."],
          ["to=a&to=b", "to", "to: must be given once."],
          [`to=${"x".repeat(321)}`, "to", "to: must have at most 320 characters."],
          ["q=%00", "q", "q: must not contain a NUL character."]
        ]
        for (const [query, param, text] of cases) {
          const { body, status } = yield* get(`/sandbox/mail?${query}`, json)
          const { error } = JSON.parse(body)
          assert.deepStrictEqual([status, error.type, error.param, error.message], [
            422,
            "validation_error",
            param,
            text
          ])
        }
        const page = yield* get("/sandbox/mail?wait=x")
        assert.strictEqual(page.status, 422)
        assert.include(page.body, "wait: must be a whole number from 0 to 60.")
        const misspelt = yield* change("DELETE", "/sandbox/mail?too=a@x.example")
        assert.deepStrictEqual([misspelt.status, JSON.parse(misspelt.body).error.param], [422, "too"])
      }))

    it.effect("an unknown mail gets a 404 page, and the style sheet is served", () =>
      Effect.gen(function*() {
        for (const path of ["/sandbox/mail/999999", "/sandbox/mail/0", "/sandbox/mail/x", "/sandbox/mail/1e3/raw"]) {
          const { body, status } = yield* get(path)
          assert.strictEqual(status, 404, path)
          assert.include(body, "This is not here, or not any more")
        }
        assert.strictEqual((yield* get("/sandbox/mail/999999", json)).status, 404)
        assert.match(`${(yield* get("/sandbox/style.css")).headers["content-type"]}`, /^text\/css/)
        assert.strictEqual((yield* get("/sandbox/mail?to=%27%22")).status, 200)
        const home = yield* get("/sandbox")
        assert.deepStrictEqual([home.status, home.headers.location], [303, "/sandbox/mail"])
      }))

    it.effect("a request without the token gets 403 and no mail; the cookie of the first link opens all pages", () =>
      Effect.gen(function*() {
        yield* send("closed@x.example")
        const { id } = yield* firstTo("closed@x.example")
        for (const path of ["/sandbox/mail", `/sandbox/mail/${id}`, `/sandbox/mail/${id}/raw`]) {
          for (const asked of [path, `${path}?token=`, `${path}?token=${token}x`]) {
            const { body, status } = yield* plainGet(asked)
            assert.strictEqual(status, 403, asked)
            assert.include(body, "Open them from Sandbox in the console")
            assert.notInclude(body, "x.example")
          }
          const { body, status } = yield* plainGet(path, json)
          assert.deepStrictEqual([status, JSON.parse(body).error.code], [403, 4039])
        }
        const first = yield* get("/sandbox/mail")
        const [cookie = ""] = first.headers["set-cookie"] ?? []
        assert.match(cookie, /^sandbox-[0-9a-f]{8}=0123456789abcdef; Path=\/sandbox; HttpOnly; SameSite=Strict$/)
        const kept = { cookie: `theme=dark; ${cookie.split(";")[0]}` }
        assert.strictEqual((yield* plainGet(`/sandbox/mail/${id}/raw`, kept)).status, 200)
        assert.isUndefined((yield* plainGet("/sandbox/mail", kept)).headers["set-cookie"])
        assert.strictEqual(
          (yield* plainGet("/sandbox/mail", { cookie: "sandbox-00000000=0123456789abcdef" })).status,
          403
        )
      }))

    it.effect("requests through a proxy or with a foreign host name get 404", () =>
      Effect.gen(function*() {
        for (const headers of [{ "x-forwarded-for": "203.0.113.9" }, { host: "rebound.example" }]) {
          for (
            const path of ["/sandbox", "/sandbox/mail", "/sandbox/mail/1", "/sandbox/mail/1/raw", "/sandbox/style.css"]
          ) {
            const { body, status } = yield* get(path, headers)
            assert.strictEqual(status, 404)
            assert.strictEqual(JSON.parse(body).error.type, "sandbox_not_allowed")
          }
        }
      }))
  })
})
