import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/cli.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced, untilArrived } from "../support/whatsAppMessages.ts"

const counted = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`select account_id, day::text, metric, sum(count)::bigint as count from usage_daily
      group by 1, 2, 3 order by 1, 2, 3`
)

layer(WhatsApp.layer({ env: unpaced }), { excludeTestServices: true })(
  "rebuildUsage of WhatsApp",
  (it) => {
    it.effect("the recounted usage of WhatsApp equals the counts, without inbound and refused messages", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { phone, simulator: { controls } } = yield* WhatsApp
        const { accountId, key } = yield* makeAccount()
        const { id: session_id, number } = yield* pairedSession(node, key)
        const to = yield* phone
        const post = (path: string, json: object) =>
          node.request("POST", path, { key, json: { session_id, type: "text", content: "Hello", ...json } })
        assert.strictEqual((yield* post("/v1/whatsapp/send", { to })).status, 202)
        assert.strictEqual((yield* post("/v1/whatsapp/send-bulk", { recipients: [to, to, to] })).status, 202)
        assert.strictEqual((yield* post("/v1/whatsapp/send", { to, content: "" })).status, 422)
        yield* Effect.promise(() => controls.sendText(to, number, { text: "an answer" }))
        const code = yield* node.request("POST", "/v1/verify/send", {
          key,
          json: { to: `+${to}`, channel: "whatsapp" }
        })
        assert.strictEqual(code.status, 201, code.text)
        yield* untilArrived(to, number, 5)
        const before = yield* counted
        const own = before.filter((row) => row["account_id"] === accountId)
        assert.deepStrictEqual(own.map(({ count, metric }) => [metric, Number(count)]), [["otp", 1], ["whatsapp", 5]])
        yield* sql`update usage_daily set count = count + 7 where metric = 'whatsapp'`
        const { url } = yield* TestDatabase
        const rebuilt = yield* cli(["usage", "rebuild"], {
          DATABASE_URL: url,
          ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
        })
        assert.include(rebuilt.stdout, "2 rows", rebuilt.stderr)
        assert.deepStrictEqual(yield* counted, before)
      }))
  }
)
