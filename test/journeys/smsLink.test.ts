/** The state of the link to the carrier, as accounts read it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Carrier } from "../support/Carrier.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"

const read = (key: string) => Effect.flatMap(Service, ({ request }) => request("GET", "/v1/sms/link", { key }))

layer(Carrier.withNode, { excludeTestServices: true })("the link to a carrier", (it) => {
  it.effect("is bound with its window and its rate, and unbound when it is lost, without why", () =>
    Effect.gen(function*() {
      const smsc = yield* Carrier
      const { key } = yield* makeAccount()
      const bound = yield* eventually(read(key), ({ at }) => at("data", "link", "status") === "bound")
      const limits = { window: 7, rate: 40, max_rate: 40 }
      const since = bound.at("data", "link", "since")
      assert.isString(since)
      assert.deepStrictEqual(bound.at("data"), { provider: "smpp", link: { status: "bound", since, ...limits } })
      smsc.refuseBinds(0x0d)
      yield* smsc.cut
      const away = yield* eventually(read(key), ({ at }) => at("data", "link", "status") === "unbound")
      const { since: lost, ...rest } = Object(away.at("data", "link"))
      assert.deepStrictEqual(rest, { status: "unbound", ...limits })
      assert.isAbove(Date.parse(String(lost)), Date.parse(String(since)))
      smsc.refuseBinds(0)
    }))

  it.effect("is null for a test key, whose texts go to the sandbox", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { mode: "test" })
      assert.deepStrictEqual((yield* read(key)).at("data"), { provider: "sandbox", link: null })
    }))
})

layer(Service.layer(), { excludeTestServices: true })("the sandbox", (it) => {
  it.effect("has no link to a carrier", () =>
    Effect.gen(function*() {
      const { key } = yield* makeAccount()
      assert.deepStrictEqual((yield* read(key)).at("data"), { provider: "sandbox", link: null })
    }))
})
