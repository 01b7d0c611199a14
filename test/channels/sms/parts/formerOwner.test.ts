import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PartsRepo } from "../../../../src/channels/sms/parts/PartsRepo.ts"
import { transition } from "../../../../src/channels/sms/parts/PartState.ts"
import { PartStatusUpdates } from "../../../../src/channels/sms/parts/PartStatusUpdates.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { MessageId } from "../../../../src/values/Ids.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { formerOwnerChangesNothing } from "../../../support/formerOwner.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"

const claim = (id: MessageId, provider = "sandbox") =>
  Effect.flatMap(
    PartsRepo,
    ({ claimsOf }) =>
      Effect.map(claimsOf("live", provider).claimOldest([9, 9, 9]), (parts) =>
        parts.find(({ message_id }) => message_id === id) ?? assert.fail("the part was not claimed"))
  )

const makePart = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`with added as (
      insert into messages (account_id, channel, direction, recipient, content, segments, cost_micros)
      values (${accountId}, 'sms', 'out', '+250788123456', '{}', 1, 1) returning id
    )
    insert into sms_parts (message_id, part_no, parts, encoding, body, lane, account_id)
    select id, 1, 1, 'gsm7', 'Hello', 0, ${accountId}::bigint from added returning message_id`
  return MessageId.make(Number(row?.["message_id"]))
})

const reclaim = Effect.flatMap(
  PartsRepo,
  ({ reclaimExpired }) => reclaimExpired({ mode: "live", leaseTimeout: Duration.zero })
)

const reclaimOf = (id: MessageId) => Effect.map(reclaim, (rows) => rows.filter(({ message_id }) => message_id === id))

formerOwnerChangesNothing("an SMS part", {
  layer: Layer.merge(
    PartsRepo.layer,
    PartStatusUpdates.layer.pipe(Layer.provide([Usage.layer, noEvents]))
  ),
  make: makePart,
  claim: (id) => claim(id),
  takeOver: (id) => Effect.andThen(reclaim, claim(id)),
  writes: {
    renewal: (part) => Effect.flatMap(PartsRepo, ({ renew }) => renew([part])),
    release: (part) => Effect.flatMap(PartsRepo, ({ release }) => release([part])),
    outcome: (part) =>
      Effect.flatMap(PartStatusUpdates, ({ outcome }) =>
        outcome({
          message_id: part.message_id,
          part_no: part.part_no,
          claimNumber: part.claim_number,
          isUnconfirmed: false,
          durationMs: 1,
          at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
          transition: transition({ ...part, ageMillis: 0 }, { _tag: "Accepted", id: "1" })
        }))
  },
  renew: (claims) => Effect.flatMap(PartsRepo, ({ renew }) => renew(claims)),
  state: (id) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`select to_jsonb(p) as part, to_jsonb(m) as message from sms_parts p join messages m on m.id = p.message_id
        where m.id = ${id}`
    )
})

layer(PartsRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "an SMS part that loses its owner",
  (it) => {
    it.effect("is submitted once more, and fails when that owner is lost as well", () =>
      Effect.gen(function*() {
        const id = yield* makePart
        yield* claim(id)
        assert.deepStrictEqual(yield* reclaimOf(id), [{ message_id: id, has_failed: false }])
        assert.strictEqual((yield* claim(id)).unconfirmed_attempts, 1)
        assert.deepStrictEqual(yield* reclaimOf(id), [{ message_id: id, has_failed: true }])
      }))

    it.effect("names its message for a refresh when that has failed by another part", () =>
      Effect.gen(function*() {
        const id = yield* makePart
        yield* claim(id)
        const sql = yield* SqlClient.SqlClient
        yield* sql`update messages set status = 'failed' where id = ${id}`
        assert.deepStrictEqual(yield* reclaimOf(id), [{ message_id: id, has_failed: true }])
      }))

    it.effect("is reclaimed by the next provider's sender when the provider has changed, but not by the other mode's", () =>
      Effect.gen(function*() {
        const { reclaimExpired } = yield* PartsRepo
        const id = yield* makePart
        yield* claim(id, "former")
        assert.deepStrictEqual(yield* reclaimExpired({ mode: "test", leaseTimeout: Duration.zero }), [])
        assert.deepStrictEqual(yield* reclaimOf(id), [{ message_id: id, has_failed: false }])
      }))
  }
)
