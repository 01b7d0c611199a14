import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Redacted } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { SandboxAccess } from "../../../src/sandbox/pages/SandboxAccess.ts"
import { SandboxToken } from "../../../src/sandbox/pages/SandboxToken.ts"

const token = "0123456789abcdef"

interface Client {
  readonly peer?: string
  /** The address that a trusted proxy told. */
  readonly client?: string
  readonly method?: string
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** What the access says to a client: `open`, or the type of the error and its message. */
const says = (settings: Readonly<Record<string, string>>, client: Client) =>
  Effect.gen(function*() {
    const { refusal } = yield* SandboxAccess
    const { headers = {}, method = "GET", peer = "172.17.0.1" } = client
    const request = HttpServerRequest.fromWeb(
      new Request("http://localhost/sandbox/mail", { method })
    ).modify({
      headers: Headers.fromInput({ host: "localhost:8080", ...headers }),
      peerAddress: Option.some(peer),
      remoteAddress: Option.some(client.client ?? peer)
    })
    const refused = refusal(request, client.token === undefined ? token : client.token)
    return refused === undefined ? "open" : `${refused._tag}: ${refused.message}`
  }).pipe(
    Effect.provide(SandboxAccess.layer.pipe(
      Layer.provide(Layer.succeed(SandboxToken, SandboxToken.make(Option.some(Redacted.make(token))))),
      Layer.provide(AppConfig.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
    ))
  )

const allowed = { SANDBOX_ALLOW: "172.17.0.0/16, fd00::/8", TRUSTED_PROXIES: "10.0.0.9" }
const production = {
  ...allowed,
  MODE: "production",
  SMTP_URL: "sandbox",
  SMS_PROVIDER: "sandbox",
  WHATSAPP_URL: "sandbox"
}

const each = <A>(cases: ReadonlyArray<A>, check: (one: A) => Effect.Effect<void, unknown>) =>
  Effect.forEach(cases, check, { discard: true })

describe("SandboxAccess", () => {
  it.effect("in development the answer to a client outside this machine names SANDBOX_ALLOW", () =>
    Effect.gen(function*() {
      const refused = yield* says({}, {})
      assert.match(refused, /^SandboxNotAllowed: .*set SANDBOX_ALLOW to their networks.*came from 172\.17\.0\.1/)
      assert.match(yield* says(allowed, { peer: "192.0.2.1" }), /^SandboxNotAllowed/)
      assert.strictEqual(yield* says({}, { peer: "127.0.0.1" }), "open")
    }))

  it.effect("in production a client outside the named networks gets the 404 of any unknown path", () =>
    each([{}, production, { ...production, SANDBOX_ALLOW: "" }], (settings) =>
      Effect.gen(function*() {
        const refused = yield* says({ ...production, ...settings }, { peer: "192.0.2.1" })
        assert.strictEqual(refused, "NotFound: Not found. Check the path and the id.")
      })))

  it.effect("a client in a named network opens the pages with the token, and only with it", () =>
    each([allowed, production], (settings) =>
      Effect.gen(function*() {
        for (const peer of ["172.17.0.1", "::ffff:172.17.200.7", "fd00::1"]) {
          assert.strictEqual(yield* says(settings, { peer }), "open", peer)
        }
        assert.match(yield* says(settings, { token: null }), /^SandboxTokenMissing/)
        assert.match(yield* says(settings, { token: "wrong" }), /^SandboxTokenMissing/)
      })))

  it.effect("a proxy hides its client, unless it is trusted and the client is in a named network", () =>
    each(["x-forwarded-for", "forwarded", "x-real-ip"], (name) =>
      Effect.gen(function*() {
        const headers = { [name]: "172.17.0.5" }
        assert.match(yield* says(allowed, { headers }), /^SandboxNotAllowed/, name)
        assert.strictEqual(yield* says(allowed, { headers, peer: "10.0.0.9", client: "172.17.0.5" }), "open")
        assert.match(yield* says(allowed, { headers, peer: "10.0.0.9", client: "192.0.2.1" }), /^SandboxNotAllowed/)
      })))

  it.effect("the host is an address, a name without a dot or that of PUBLIC_URL, so that no foreign name is rebound", () =>
    Effect.gen(function*() {
      const settings = { ...production, PUBLIC_URL: "https://messaging.example.com" }
      for (
        const host of ["192.168.1.5:8080", "[fd00::1]:8080", "messaging:8080", "a.localhost", "Messaging.example.com"]
      ) {
        assert.strictEqual(yield* says(settings, { headers: { host } }), "open", host)
      }
      for (
        const host of [
          "rebound.example",
          "192.168.1.5.evil.example",
          "evil.example:8080",
          "messaging.example.com.evil.example",
          ""
        ]
      ) {
        assert.match(yield* says(settings, { headers: { host } }), /^NotFound/, host)
      }
    }))

  it.effect("a wrong SANDBOX_ALLOW stops the start and names the setting", () =>
    each(["172.17.0.0/33", "docker", "10.0.0.0/8;::1"], (text) =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(says({ SANDBOX_ALLOW: text }, {}))
        assert.include(
          message,
          `SANDBOX_ALLOW must be addresses or networks such as 10.0.0.0/8, separated by commas, but it is "${text}".`
        )
      })))

  it.effect("a change from a page of another origin is refused", () =>
    each(["POST", "DELETE"], (method) =>
      Effect.gen(function*() {
        for (
          const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }]
        ) {
          assert.match(yield* says(allowed, { method, headers }), /^NotFound/)
        }
        assert.strictEqual(yield* says(allowed, { method, headers: { origin: "http://localhost:8080" } }), "open")
        assert.strictEqual(yield* says(allowed, { method }), "open")
      })))
})
