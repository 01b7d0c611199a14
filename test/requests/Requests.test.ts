import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { uuid7 } from "../../src/platform/crypto/ids.ts"
import { MacKeys } from "../../src/platform/crypto/MacKeys.ts"
import { recipientHash } from "../../src/requests/refusedRecipients.ts"
import { RequestLogRepo } from "../../src/requests/RequestLogRepo.ts"
import { RequestId } from "../../src/requests/RequestRecord.ts"
import { Requests } from "../../src/requests/Requests.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { Keys } from "../simulation/services.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const accountId = AccountId.make(1)

const fill = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { insert } = yield* RequestLogRepo
  const { recipient: key } = yield* MacKeys
  yield* sql`insert into accounts (id, name, email, plan) overriding system value
    values (1, 'Owner', 'owner@test.example', 'enterprise')`
  const now = Date.parse(String((yield* sql`select to_json(now()) as now`)[0]?.["now"]))
  yield* insert(Array.from({ length: 10_000 }, (_, index) => ({
    accountId,
    id: RequestId.make(uuid7(now - 10_000 + index)),
    method: "POST",
    path: "/v1/sms/send",
    route: "/v1/sms/send",
    status: 422,
    error: null,
    made: null,
    duration_ms: 1,
    key_id: null,
    key_prefix: null,
    person_id: null,
    ip: "203.0.113.9",
    recipients: [recipientHash(key, accountId, `+2507881${index}`)]
  })))
  yield* sql`analyze request_log`
})

const Subject = Requests.layer.pipe(
  Layer.provideMerge(Layer.effectDiscard(fill)),
  Layer.provide(RequestLogRepo.layer),
  Layer.provide(Keys),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject)((it) => {
  it.effect("the refused requests of a recipient are found among many without reading the others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { list } = yield* Requests
      const read = sql`select sum(seq_tup_read + idx_tup_fetch)::integer as count from pg_stat_xact_user_tables
        where relname like 'request_log%'`
      yield* sql.withTransaction(Effect.gen(function*() {
        for (let round = 0; round < 8; round++) {
          const [before] = yield* read
          const found = yield* list(accountId, { recipient: `+2507881${round}` }, { limit: 10, offset: 0, after: null })
          const [after] = yield* read
          assert.lengthOf(found, 1)
          assert.isBelow(Number(after?.["count"]) - Number(before?.["count"]), 10)
        }
      }))
    }))
})
