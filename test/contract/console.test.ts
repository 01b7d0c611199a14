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
