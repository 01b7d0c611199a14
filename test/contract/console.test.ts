/** Walks the list of the console's pages: who may open which. A new page needs nothing here. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { pages } from "../../src/console/pages/pages.ts"
import { allows, permissionsOf, Role } from "../../src/values/Permission.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { fill } from "./contract.ts"

const ofAccounts = pages.flatMap((page) => page.kind === "account" ? [page] : [])

describe("the list of the console's pages", () => {
  it("has no path and no key twice, and gives every page of an account a permission", () => {
    const keys = pages.flatMap(({ entry }) => entry?.key ?? [])
    assert.deepStrictEqual([...new Set(keys)], keys)
    const paths = pages.map(({ kind, path }) => `${kind} ${path}`)
    assert.deepStrictEqual([...new Set(paths)], paths)
    assert.deepStrictEqual(ofAccounts.filter(({ permission }) => permission === undefined).map(({ path }) => path), [])
  })

  it("has no password in a form whose request is shown as a command", () => {
    const fields = pages.flatMap(({ actions }) => actions).flatMap(({ callOf, fields }) =>
      callOf === undefined ? [] : Object.values(fields)
    )
    assert.deepStrictEqual(fields.filter(({ kind }) => kind === "password"), [])
  })

  it("has an endpoint behind each form of an account's page, and names no form of a page twice", () => {
    for (const { actions, path } of pages) {
      const names = actions.map(({ name }) => name)
      assert.deepStrictEqual([...new Set(names)], names, path)
    }
    const own = ofAccounts.flatMap(({ actions, path }) =>
      actions.filter(({ endpoint }) => endpoint === undefined).map(({ name }) => `${path} ${name}`)
    )
    assert.deepStrictEqual(own, [])
  })
})

describe("a fresh proof", () => {
  it("is needed for forms that make or end a credential, and for those that delete what cannot be made again", () => {
    const fresh = ofAccounts.flatMap(({ actions }) =>
      actions.flatMap(({ endpoint, isFresh }) => isFresh && endpoint !== undefined ? [endpoint] : [])
    )
    assert.deepStrictEqual(fresh.toSorted(), [
      "DELETE /v1/account",
      "DELETE /v1/api-keys/:id",
      "DELETE /v1/email/domains/:id",
      "DELETE /v1/email/templates/:template_id",
      "DELETE /v1/webhooks/:id",
      "DELETE /v1/whatsapp/sessions/:id",
      "POST /v1/api-keys",
      "POST /v1/api-keys/:id/rotate",
      "POST /v1/webhooks",
      "POST /v1/webhooks/:id/rotate-secret",
      "PUT /v1/account/profile",
      "PUT /v1/webhooks/:id"
    ])
  })
})

class Visitors extends Context.Service<Visitors>()("messaging-service/test/contract/console.test/Visitors", {
  make: Effect.gen(function*() {
    const { accountId } = yield* makeAccount()
    const { accountId: foreign } = yield* makeAccount()
    const roles = yield* Effect.forEach(
      Role.literals,
      (role) => Effect.map(signedInAs(accountId, role), ({ cookie }) => [role, cookie] as const)
    )
    return { accountId, foreign, cookies: new Map(roles) }
  })
}) {
  static readonly layer = Layer.effect(Visitors, Visitors.make).pipe(Layer.provideMerge(Service.layer()))
}

layer(Visitors.layer)("the console's pages", (it) => {
  const get = (path: string, cookie?: string) =>
    Effect.flatMap(
      Service,
      ({ request }) => request("GET", path, { ...(cookie !== undefined && { headers: { cookie } }) })
    )

  it.effect("a wrong method has its answer also as the first request, which loads the pages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { headers, status } = yield* request("DELETE", "/console/sign-in")
      assert.deepStrictEqual([status, headers["allow"]], [405, "GET, POST, HEAD, OPTIONS"])
    }))

  it.effect("each page of an account or a person leads to the sign-in without one", () =>
    Effect.gen(function*() {
      const { accountId } = yield* Visitors
      for (const { kind, path } of pages) {
        if (kind === "door") continue
        const address = kind === "account" ? `/console/${accountId}${fill(path, 1)}` : `/console${fill(path, 1)}`
        const { headers, status } = yield* get(address)
        assert.strictEqual(status, 302, address)
        assert.match(headers["location"] ?? "", /^\/console\/sign-in\b/, address)
      }
    }))

  it.effect("each page of an account answers 403 to a role without its permission, and opens for all others", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      for (const [role, cookie] of cookies) {
        for (const { path, permission } of ofAccounts) {
          const { status, text } = yield* get(`/console/${accountId}${fill(path, 9_007_199_254_740_991)}`, cookie)
          const what = `${role} ${path}`
          if (allows(role, permission)) assert.include([200, 404], status, what)
          else assert.strictEqual(status, 403, what)
          assert.include(text, "<h1>", what)
        }
      }
    }))

  it.effect("a page that a role may not open names the roles that may, and the people who have one", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      const { text } = yield* get(`/console/${accountId}/keys/new`, cookies.get("support"))
      assert.include(
        text,
        "Your role in this account is support. This needs one of these roles: owner, admin, developer."
      )
      assert.match(text, /<li><bdi>The owner<\/bdi> \(owner\)<\/li>/)
      assert.notInclude(text, "<li><bdi>The support")
    }))

  it.effect("a form that a role may not send is refused as its page would be", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      const { request } = yield* Service
      const headers = {
        cookie: cookies.get("support") ?? "",
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin"
      }
      const answer = yield* request("POST", `/console/${accountId}/sandbox`, { headers, body: "_action=receiver" })
      const unknown = yield* request("POST", `/console/${accountId}/sandbox`, { headers, body: "_action=none" })
      assert.deepStrictEqual([answer.status, unknown.status], [403, 404])
      assert.include(answer.text, "one of these roles: owner, admin, developer.")
    }))

  it.effect("the forms that make something show the same request with curl, and send nothing", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      const { request } = yield* Service
      const cookie = cookies.get("owner") ?? ""
      for (
        const [path, typed, wanted] of [
          ["/send?channel=email", { to: "ada@example.com", subject: "It's \u202ehere" }, "It\\u0027s \\u202ehere"],
          ["/send?channel=sms", { to: "+250788123456", content: "Hello" }, "/v1/sms/send"],
          ["/webhooks/new", { url: "https://shop.example/hook", events: "*" }, "https://shop.example/hook"],
          ["/templates/new", { name: "Welcome", html: "<p>Hello</p>" }, "<p>Hello</p>"],
          ["/domains/new", { domain: "shop.example" }, "/v1/email/domains"],
          ["/suppressions/new", { email: "ada@example.com" }, "ada@example.com"],
          ["/whatsapp/new", { name: "Shop" }, "/v1/whatsapp/sessions"],
          ["/keys/new", { name: "Shop", mode: "test", preset: "email", _password: "hunter two" }, "email:write"],
          ["/verify/new", { to: "+250788123456", channel: "sms" }, "/v1/verify/send"]
        ] as const
      ) {
        const address = `/console/${accountId}${path}`
        const { text: page } = yield* get(address, cookie)
        const hidden = [...page.matchAll(/<input type="hidden" name="(_\w+)" value="([^"]*)">/g)]
          // The menu of the person has a form, too.
          .slice(-3).map(([, name = "", value = ""]): [string, string] => [name, value])
        const body = new URLSearchParams([...hidden, ...Object.entries(typed), ["_instead", "command"]]).toString()
        const headers = {
          cookie,
          "content-type": "application/x-www-form-urlencoded",
          "sec-fetch-site": "same-origin"
        }
        const { status, text } = yield* request("POST", address, { body, headers })
        assert.strictEqual(status, 200, path)
        const [, command = ""] = /id="command".*<pre[^>]*><code>([^<]*)</s.exec(text) ?? []
        const shown = command.replaceAll("&#39;", "'").replaceAll("&quot;", "\"").replaceAll("&lt;", "<").replaceAll(
          "&gt;",
          ">"
        )
        assert.match(shown, /^curl -X POST 'http:[^']+' -H "Authorization: Bearer \$KEY" -H /, path)
        assert.include(shown, wanted, path)
        assert.notMatch(text, /hunter two|role="alert"/, path)
      }
      for (const path of ["webhooks", "templates", "domains", "suppressions", "whatsapp", "messages", "verify"]) {
        assert.notMatch((yield* get(`/console/${accountId}/${path}`, cookie)).text, /<tbody>/, path)
      }
    }))

  it.effect("a page of data has a link to copy, a form has none, and help leads to the guide of the task", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      const read = (path: string) =>
        Effect.map(get(`/console/${accountId}${path}`, cookies.get("owner")), ({ text }) => text)
      const webhooks = yield* read("/webhooks?health=unhealthy")
      assert.match(webhooks, /data-copy="http:[^"]+\/webhooks\?health=unhealthy"/)
      assert.include(webhooks, "href=\"/docs/guides/verify-webhooks\"")
      const keys = yield* read("/keys/new")
      assert.notInclude(keys, "Copy link")
      assert.include(keys, "href=\"/docs/guides\"")
    }))

  it.effect("each page of a foreign account answers 404, as one that does not exist", () =>
    Effect.gen(function*() {
      const { cookies, foreign } = yield* Visitors
      for (const { path } of ofAccounts) {
        const ask = (id: number) => get(`/console/${id}${fill(path, 1)}`, cookies.get("owner"))
        const [known, unknown] = [yield* ask(foreign), yield* ask(9_007_199_254_740_991)]
        assert.deepStrictEqual([known.status, unknown.status], [404, 404], path)
        const bare = (text: string) => text.replaceAll(/value="[^"]*"/g, "")
        assert.strictEqual(bare(known.text), bare(unknown.text), path)
      }
    }))

  it.effect("every page loads nothing of another host, and has no inline script, style or handler", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      for (const { path } of ofAccounts) {
        const { headers, text } = yield* get(`/console/${accountId}${fill(path, 1)}`, cookies.get("owner"))
        const policy = headers["content-security-policy"] ?? ""
        assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
        assert.notInclude(policy, "unsafe")
        assert.strictEqual(headers["cache-control"], "no-store")
        assert.notMatch(text, /<style|<script>|\sstyle=|\son[a-z]+=|(?:src|href)="(?:https?:)?\/\//, path)
      }
    }))

  it.effect("a bearer token opens no page, and the cookie of a sign-in opens no endpoint", () =>
    Effect.gen(function*() {
      const { accountId, cookies } = yield* Visitors
      const { request } = yield* Service
      const cookie = cookies.get("owner") ?? ""
      const token = cookie.slice("console=".length)
      const page = yield* request("GET", `/console/${accountId}/keys`, { key: token })
      assert.strictEqual(page.status, 302)
      const asBearer = yield* request("GET", "/v1/api-keys", { key: token })
      const asCookie = yield* request("GET", "/v1/api-keys", { headers: { cookie } })
      assert.deepStrictEqual([asBearer.status, asCookie.status], [401, 401])
    }))
})

describe("roles", () => {
  it("only the owner and admins have every permission", () => {
    assert.deepStrictEqual(Role.literals.filter((role) => permissionsOf[role].length === 0), ["owner", "admin"])
    assert.isFalse(allows("developer", "account:write"))
    assert.isFalse(allows("support", "keys:write"))
  })
})
