import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { cli } from "../support/cli.ts"
import { earlyInTheMinute, eventually, Service, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const path = "/v1/sms/pricing"

/** Runs `prices import` with this text while the node runs. */
const importing = Effect.fnUntraced(function*(text: string, ...flags: ReadonlyArray<string>) {
  const { url } = yield* TestDatabase
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped({ suffix: ".csv" })
  yield* fs.writeFileString(file, text)
  const environment = { DATABASE_URL: url, ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") }
  return yield* cli(["prices", "import", file, ...flags], environment)
}, Effect.provide(NodeServices.layer))

layer(Service.layer(), { excludeTestServices: true })("SMS prices", (it) => {
  it.effect("anyone can read the prices of all 243 countries, sorted by name, with exactly the documented fields", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const answer = yield* request("GET", path)
      assert.strictEqual(answer.status, 200)
      const data = Object(answer.at("data"))
      assert.strictEqual(data.length, 243)
      assert.strictEqual(answer.at("meta", "total"), 243)
      assert.match(String(answer.at("meta", "updated_at")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.deepStrictEqual(Object.keys(Object(answer.json)), ["data", "meta"])
      const names = data.map((row: { readonly country: string }) => row.country)
      assert.deepStrictEqual(names, [...names].toSorted((a, b) => a < b ? -1 : 1))
      const rwanda = data.find((row: { readonly code: string }) => row.code === "RW")
      assert.deepStrictEqual(rwanda, {
        country: "Rwanda",
        code: "RW",
        dial_prefix: "+250",
        price_usd: 0.045,
        currency: "USD"
      })
      assert.strictEqual(answer.headers["access-control-allow-origin"], "*")
      assert.strictEqual(answer.headers["cache-control"], "public, max-age=300")
    }))

  it.effect("a matching ETag gets 304, and prices can be filtered by country", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const all = yield* request("GET", path)
      const etag = all.headers["etag"] ?? ""
      assert.match(etag, /^W\/"[\w-]{22}"$/)
      for (const named of [etag, etag.slice(2), "*", `"other", ${etag}`]) {
        const again = yield* request("GET", path, { headers: { "if-none-match": named } })
        assert.deepStrictEqual([again.status, again.text, again.headers["etag"]], [304, "", etag])
        assert.strictEqual(again.headers["access-control-allow-origin"], "*")
      }
      assert.strictEqual((yield* request("GET", path, { headers: { "if-none-match": `"other"` } })).status, 200)
      const one = yield* request("GET", `${path}?country=rw`)
      assert.deepStrictEqual([one.at("meta", "total"), one.at("data", 0, "code")], [1, "RW"])
      assert.notStrictEqual(one.headers["etag"], etag)
      const none = yield* request("GET", `${path}?country=ZZ`)
      assert.deepStrictEqual(
        [none.at("meta", "total"), none.at("meta", "updated_at")],
        [0, all.at("meta", "updated_at")]
      )
      assertRefused(yield* request("GET", `${path}?country=Rwanda`), 422, "validation_error")
    }))

  it.effect("an imported price list takes effect and is kept in the history, and an invalid one changes nothing", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const before = (yield* request("GET", path)).headers["etag"]
      const head = "code,country,dial_prefix,price_usd"
      const wrong = yield* importing(`${head}\nRW,Rwanda,+250,0.01\nKE,Kenya,+254,free`)
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.stderr, "line 3 must have a price in dollars")
      assert.strictEqual((yield* request("GET", path)).headers["etag"], before)

      const changed = yield* importing(`${head}\nRW,Rwanda,+250,0.01\nKE,Kenya,+254,0.045\nZZ,Nowhere,+999,0.5`)
      assert.deepStrictEqual([changed.code, changed.stderr], [0, ""])
      assert.strictEqual(changed.stdout, "Imported 3 prices: 2 changed, 1 unchanged, 0 removed.\n")
      const after = yield* eventually(request("GET", path), (answer) => answer.at("meta", "total") === 244)
      assert.notStrictEqual(after.headers["etag"], before)
      assert.deepStrictEqual(
        yield* sql`select price_micros::int from sms_price_history where code = 'RW' order by valid_from`,
        [{ price_micros: 45_000 }, { price_micros: 10_000 }]
      )

      const replaced = yield* importing(`${head}\nRW,Rwanda,+250,0.01`, "--replace")
      assert.strictEqual(replaced.stdout, "Imported 1 prices: 0 changed, 1 unchanged, 243 removed.\n")
      const left = yield* eventually(request("GET", path), (answer) => answer.at("meta", "total") === 1)
      assert.isTrue(String(left.at("meta", "updated_at")) > String(after.at("meta", "updated_at")))
      assert.strictEqual((yield* importing("/nothing/here")).code, 1)
    }))

  it.effect("requests beyond the limit per client address get 429", () =>
    Effect.gen(function*() {
      const { request } = yield* startNode({ env: { RATE_LIMIT_PRICING: "2" } })
      yield* earlyInTheMinute
      // Removes earlier tests' requests: the limit counts over all nodes.
      yield* (yield* SqlClient.SqlClient)`delete from rate_windows`
      const statuses = yield* Effect.forEach([1, 2, 3], () => Effect.map(request("GET", path), ({ status }) => status))
      assert.deepStrictEqual(statuses, [200, 200, 429])
      const refused = yield* request("GET", path)
      assertRefused(refused, 429, "rate_limit_exceeded")
      assert.match(refused.headers["retry-after"] ?? "", /^\d+$/)
    }))
})
