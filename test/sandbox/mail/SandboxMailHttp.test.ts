import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as NodeHttp from "node:http"
import { Smtp } from "../../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../../src/channels/email/smtp/SmtpLayer.ts"
import { SandboxInbox } from "../../../src/sandbox/mail/SandboxInbox.ts"
import { SandboxMailHttp } from "../../../src/sandbox/mail/SandboxMailHttp.ts"
import { SandboxMailServer } from "../../../src/sandbox/mail/SandboxMailServer.ts"
import { SandboxReports } from "../../../src/sandbox/mail/SandboxReports.ts"
import { SandboxToken } from "../../../src/sandbox/pages/SandboxToken.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const message = Buffer.from([
  "From: =?utf-8?q?Caf=C3=A9?= <news@cafe.example>",
  "To: ann@x.example",
  "Subject: Hello <b>Ann</b>",
  "Message-ID: <1@cafe.example>",
  "MIME-Version: 1.0",
  "Content-Type: multipart/alternative; boundary=b",
  "",
  "--b",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Your code is 123456 <script>",
  "--b",
  "Content-Type: text/html; charset=utf-8",
  "",
  "<!doctype html><p>Your code is <b>123456</b><script>alert(1)</script></p>",
  "--b--",
  ""
].join("\r\n"))

interface Answer {
  readonly status: number
  readonly headers: NodeHttp.IncomingHttpHeaders
  readonly body: string
}

const token = "0123456789abcdef"

const App = HttpRouter.serve(SandboxMailHttp, { disableLogger: true }).pipe(
  Layer.provideMerge(SandboxMailServer.layer()),
  Layer.provide([
    SandboxInbox.layer(),
    SandboxReports.layer,
    Layer.succeed(SandboxToken, SandboxToken.make(Option.some(Redacted.make(token))))
  ]),
  Layer.provideMerge(NodeHttpServer.layer(NodeHttp.createServer, { host: "127.0.0.1", port: 0 })),
  Layer.provideMerge(TestDatabase.layer)
)

const plainGet = Effect.fnUntraced(function*(path: string, headers: Record<string, string> = {}) {
  const { address } = yield* HttpServer.HttpServer
  const port = "port" in address ? address.port : 0
  return yield* Effect.callback<Answer>((resume) => {
    NodeHttp.get({ host: "127.0.0.1", port, path, headers }, (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        body += chunk
      })
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body }))
      )
    }).on("error", (error) => resume(Effect.die(error)))
  })
})

/** With the token in the query. */
const get = (path: string, headers: Record<string, string> = {}) =>
  plainGet(`${path}${path.includes("?") ? "&" : "?"}token=${token}`, headers)

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

layer(App)("sandbox inbox over HTTP", (it) => {
  describe("SandboxMailHttp", () => {
    it.effect("mail received by SMTP is listed as JSON", () =>
      Effect.gen(function*() {
        yield* send("json@x.example")
        const { list } = yield* firstTo("json@x.example")
        assert.deepStrictEqual(list.meta, { total: 1, page: 1, per_page: 50 })
        const [{ id, received_at, ...mail }] = list.data
        assert.deepStrictEqual(mail, {
          from: "Caf\u00e9 <news@cafe.example>",
          to: "json@x.example",
          subject: "Hello <b>Ann</b>"
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
        assert.notMatch(page.body, /<script/)
        assert.include(page.headers["content-security-policy"], "default-src 'none'; style-src 'self'")
        const { data } = JSON.parse((yield* get(`/sandbox/mail/${id}`, json)).body)
        assert.match(data.text, /Your code is 123456/)
        assert.strictEqual(data.envelope_from, "b+1@cafe.example")
        const markup = yield* get(`/sandbox/mail/${id}/html`)
        assert.match(markup.body, /^<!doctype html><meta charset="utf-8"><base target="_blank"><p>Your code/)
        assert.match(`${markup.headers["content-security-policy"]}`, /default-src 'none';.*; sandbox allow-popups/)
        assert.notMatch(`${markup.headers["content-security-policy"]}`, /script|allow-same-origin/)
        const source = yield* get(`/sandbox/mail/${id}/raw`)
        assert.strictEqual(source.body, message.toString("utf8"))
        assert.strictEqual(source.headers["content-type"], "text/plain; charset=utf-8")
      }))

    it.effect("an unknown mail gets a 404 page, and the style sheet is served", () =>
      Effect.gen(function*() {
        for (const path of ["/sandbox/mail/999999", "/sandbox/mail/0", "/sandbox/mail/x", "/sandbox/mail/1e3/raw"]) {
          const { body, status } = yield* get(path)
          assert.strictEqual(status, 404, path)
          assert.include(body, "No such mail")
        }
        assert.strictEqual((yield* get("/sandbox/mail/999999", json)).status, 404)
        assert.match(`${(yield* get("/sandbox/mail/style.css")).headers["content-type"]}`, /^text\/css/)
        assert.strictEqual((yield* get("/sandbox/mail?page=-1&per_page=x&to=%27%22")).status, 200)
      }))

    it.effect("a request without the token gets 403 and no mail; the cookie of the first link opens all pages", () =>
      Effect.gen(function*() {
        yield* send("closed@x.example")
        const { id } = yield* firstTo("closed@x.example")
        for (const path of ["/sandbox/mail", `/sandbox/mail/${id}`, `/sandbox/mail/${id}/raw`]) {
          for (const asked of [path, `${path}?token=`, `${path}?token=${token}x`]) {
            const { body, status } = yield* plainGet(asked)
            assert.strictEqual(status, 403, asked)
            assert.include(body, "Open the link that the start of the service printed")
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
          for (const path of ["/sandbox/mail", "/sandbox/mail/1", "/sandbox/mail/1/raw", "/sandbox/mail/style.css"]) {
            const { body, status } = yield* get(path, headers)
            assert.strictEqual(status, 404)
            assert.strictEqual(JSON.parse(body).error.type, "not_found")
          }
        }
      }))
  })
})
