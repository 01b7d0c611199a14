import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { cli } from "../support/cli.ts"
import { Relay } from "../support/Relay.ts"
import { encryptionKey, eventually, makeAccount, Service } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

/** More than an empty database has, so that a table of 60 MB decides. */
const limits = { DATABASE_SIZE_LIMIT_GB: "0.08", FREE_SPACE_MARK_GB: "0.02" }

layer(Relay.layer({ env: limits }), { excludeTestServices: true })("a full database", (it) => {
  it.effect("refuses messages with 503 below the mark, still reads and sends, and accepts again above it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { url } = yield* TestDatabase
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const mail = { to: "a@people.example", subject: "Hello", text: "Hello" }
      yield* sendEmail(node, key, mail)
      yield* sql`create table ballast as select repeat(md5(n::text), 60) as filler from generate_series(1, 30000) as n`

      const sending = [
        ["/v1/email/send", mail],
        ["/v1/email/send-bulk", { recipients: [{ to: "b@people.example" }], subject: "s", html: "h" }],
        ["/v1/sms/send", { to: "+250788000001", content: "Hello" }],
        ["/v1/verify/send", { to: "+250788000001" }]
      ] as const
      for (const [path, json] of sending) {
        const refused = yield* eventually(
          node.request("POST", path, { key, json }),
          ({ status }) => status === 503,
          longer.turn
        )
        assertRefused(refused, 503, "storage_low")
        assert.strictEqual(refused.headers["retry-after"], "60")
      }
      const id = yield* Effect.map(
        node.request("GET", "/v1/email/messages", { key }),
        ({ at }) => Number(at("data", 0, "id"))
      )
      yield* reaching(node, { id, key, statuses: ["sent", "delivered"] })
      const [said = "", ...others] = node.logs.filter((line) => line.includes("free space is below the mark"))
      assert.include(said, "Free space on the disk of the database, enlarge it, or raise DATABASE_SIZE_LIMIT_GB.")
      assert.deepStrictEqual(others, [])
      const ready = yield* node.request("GET", "/health/ready")
      assert.deepStrictEqual([ready.status, ready.at("storage")], [200, "low"])
      const doctor = yield* cli(["doctor"], { ...limits, DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey })
      assert.match(doctor.stdout, /FAIL {2}storage: Only 0\.0\d GB are free/)

      const before = sink.messages.length
      yield* sql`drop table ballast`
      yield* eventually(
        node.request("POST", "/v1/email/send", { key, json: mail }),
        ({ status }) => status === 202,
        longer.turn
      )
      yield* eventually(Effect.sync(() => sink.messages.length), (count) => count > before)
      const again = yield* node.request("GET", "/health/ready")
      assert.strictEqual(again.at("storage"), "ok")
    }))
})
