import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { cli } from "../support/cli.ts"
import { encryptionKey, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const unset = { SMTP_URL: undefined, SMS_PROVIDER: undefined, WHATSAPP_URL: undefined }

layer(TestDatabase.layer, { excludeTestServices: true })("start by mode", (it) => {
  it.effect("a node in production stops with one sentence when channels have no upstream", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const settings = { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey, PORT: "0", WHATSAPP_URL: "live" }
      const { code, stderr } = yield* cli(["serve"], settings)
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr,
        "SMTP_URL and SMS_PROVIDER are required in production (DATABASE_URL is set). Set each to the service that delivers "
          + "the messages, or to sandbox to deliver none.\n"
      )
      assert.strictEqual((yield* cli(["migrate"], settings)).code, 0)
    }))

  it.effect("a node in production warns of each channel in the sandbox, and its pages are closed without SANDBOX_TOKEN", () =>
    Effect.gen(function*() {
      const smtp = "smtp://user:geheim@127.0.0.1:1?tls=never"
      const node = yield* startNode({
        env: { SANDBOX_TOKEN: undefined, SMTP_URL: smtp, REGISTRATION: undefined, WEBHOOK_TIMEOUT: "3" }
      })
      const logged = (text: string) => Effect.map(node.logged(text, longer.start), (line) => Object(JSON.parse(line)))
      assert.strictEqual(
        (yield* logged("not a setting")).message,
        "WEBHOOK_TIMEOUT is not a setting. Did you mean WEBHOOK_TIMEOUT_SECONDS?"
      )
      assert.strictEqual((yield* logged("mode is")).message, "mode is production, because DATABASE_URL is set")
      assert.strictEqual((yield* logged("email goes")).message, "email goes to the relay 127.0.0.1:1")
      for (const channel of ["SMS", "WhatsApp"]) {
        const { level, message } = yield* logged(`${channel} goes`)
        assert.deepStrictEqual([level, message], ["WARN", `${channel} goes to the sandbox and reaches no recipient`])
      }
      const ready = yield* node.request("GET", "/health/ready")
      assert.deepStrictEqual(ready.at("channels"), { email: "smtp", sms: "sandbox", whatsapp: "sandbox" })
      // What nginx sends by default: its own address as Host, and no forwarding header.
      for (const path of ["/sandbox/sms", "/sandbox/phones"]) {
        const answer = yield* node.request("GET", path, { headers: { accept: "application/json" } })
        assert.strictEqual(answer.status, 404)
      }
      const person = { name: "Eve", email: "eve@example.com", password: "correct horse battery" }
      const registered = yield* node.request("POST", "/v1/auth/register", { json: person })
      assert.strictEqual(registered.at("error", "type"), "registration_closed")
      assert.notInclude(node.logs.join("\n"), "geheim")
      assert.notInclude(node.logs.join("\n"), "?token=")
    }))

  it.effect("a node in development prints one link, the same after a restart, which leads to the sandbox's pages", () =>
    Effect.gen(function*() {
      const links: Array<string> = []
      for (const _ of [1, 2]) {
        const node = yield* startNode({ env: { MODE: "development", SANDBOX_TOKEN: undefined, ...unset } })
        const link = /^ {2}http:\/\/[^/]+(\/\?token=\w+)$/.exec(yield* node.logged("?token=", longer.start))?.[1] ?? ""
        links.push(link)
        const home = yield* node.request("GET", link)
        assert.strictEqual(home.status, 200)
        const cookie = home.headers["set-cookie"]?.split(";")[0] ?? ""
        const paths = [...home.text.matchAll(/href="(\/sandbox\/\w+)"/g)].map(([, path]) => path ?? "")
        assert.deepStrictEqual(paths, ["/sandbox/mail", "/sandbox/sms", "/sandbox/phones"])
        for (const path of paths) {
          // A token in the query would be the one of tests.
          const page = yield* node.request("GET", `${path}?token=`, { headers: { cookie } })
          assert.strictEqual(page.status, 200, path)
        }
        assert.strictEqual((yield* node.request("GET", "/sandbox/mail?token=wrong")).status, 403)
        assert.strictEqual(node.logs.filter((line) => line.includes("token=")).length, 1)
        yield* node.stop()
        assert.include(node.logs.at(-1) ?? "", "stopped")
      }
      assert.strictEqual(links[0], links[1])
    }))
})
