import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Dns } from "../../../src/platform/net/Dns.ts"
import { type DnsZone, makeDnsServer } from "../../support/DnsServer.ts"

const asked = Effect.fnUntraced(function*<A, E>(zone: DnsZone, ask: (dns: Dns["Service"]) => Effect.Effect<A, E>) {
  const server = yield* makeDnsServer(zone)
  const answer = yield* Effect.flatMap(Dns, ask).pipe(Effect.provide(Dns.layerOf([server.address])))
  return { answer, server }
})

const code = (zone: DnsZone) =>
  Effect.map(asked(zone, ({ txt }) => Effect.flip(txt("a.test"))), ({ answer }) => answer.code)

it.live("joins the strings of a TXT record without a separator", () =>
  Effect.gen(function*() {
    const { answer } = yield* asked({ "a.test": { TXT: [["one ", "two", ""], "three"] } }, ({ txt }) => txt("a.test"))
    assert.sameMembers([...answer], ["one two", "three"])
  }))

it.live("receives an answer of more than 512 bytes over TCP", () =>
  Effect.gen(function*() {
    const long = "k=rsa;p=".padEnd(900, "A")
    const { answer, server } = yield* asked({ "a.test": { TXT: [long] } }, ({ txt }) => txt("a.test"))
    assert.deepStrictEqual([answer, server.overTcp], [[long], ["TXT a.test"]])
  }))

it.live("follows a CNAME, and returns no records for a dangling one", () =>
  Effect.gen(function*() {
    const zone: DnsZone = { "a.test": { CNAME: "b.test" }, "b.test": { TXT: ["there"] }, "c.test": { CNAME: "d.test" } }
    const { answer } = yield* asked(zone, ({ txt }) => Effect.all([txt("a.test"), txt("c.test")]))
    assert.deepStrictEqual(answer, [["there"], []])
  }))

it.live("returns no records for an unknown name, a name without that type and an invalid name", () =>
  Effect.gen(function*() {
    const { answer } = yield* asked(
      { "a.test": { A: ["127.0.0.1"] } },
      ({ hasAddress, mx, txt }) =>
        Effect.all([
          txt("a.test"),
          txt("unknown.test"),
          mx("a.test"),
          txt(`${"a".repeat(64)}.test`),
          hasAddress("b.test")
        ])
    )
    assert.deepStrictEqual(answer, [[], [], [], [], false])
  }))

it.live("returns mail exchangers in lower case without the final dot, and an empty one for a null MX", () =>
  Effect.gen(function*() {
    const zone: DnsZone = { "a.test": { MX: [[10, "Mail.A.test."]] }, "b.test": { MX: [[0, "."]] } }
    const { answer } = yield* asked(zone, ({ mx }) => Effect.all([mx("a.test"), mx("b.test")]))
    assert.deepStrictEqual(answer, [[{ exchange: "mail.a.test", priority: 10 }], [{ exchange: "", priority: 0 }]])
  }))

it.live("finds an address of a host with IPv4 or IPv6", () =>
  Effect.gen(function*() {
    const zone: DnsZone = { "a.test": { A: ["192.0.2.1"] }, "b.test": { AAAA: ["2001:db8::1"] } }
    const { answer } = yield* asked(zone, ({ hasAddress }) => Effect.all([hasAddress("a.test"), hasAddress("b.test")]))
    assert.deepStrictEqual(answer, [true, true])
  }))

it.live("fails if the name server fails, refuses or is unreachable", () =>
  Effect.gen(function*() {
    assert.strictEqual(yield* code({ "a.test": "servfail" }), "ESERVFAIL")
    assert.strictEqual(yield* code({ "a.test": "refused" }), "EREFUSED")
    const gone = yield* Effect.scoped(makeDnsServer({}))
    const failure = yield* Effect.flip(Effect.flatMap(Dns, ({ txt }) => txt("a.test"))).pipe(
      Effect.provide(Dns.layerOf([gone.address]))
    )
    assert.include(["ECONNREFUSED", "ETIMEOUT"], failure.code)
  }))

it.effect("fails after five seconds of a silent name server", () =>
  Effect.gen(function*() {
    const called = yield* Deferred.make<void>()
    const silent = (): "silent" => {
      Deferred.doneUnsafe(called, Effect.void)
      return "silent"
    }
    const asking = yield* Effect.forkChild(code({ "a.test": silent }))
    yield* Deferred.await(called)
    const started = performance.now()
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(asking.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(asking), "ETIMEOUT")
    // The resolver itself gives up after six.
    assert.isBelow(performance.now() - started, 4_000)
  }))
