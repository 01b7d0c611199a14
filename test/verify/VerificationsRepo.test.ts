import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { drawSeed } from "../../src/platform/crypto/oneTimeCode.ts"
import { type AccountId, VerificationId } from "../../src/values/Ids.ts"
import { IpAddress } from "../../src/values/IpAddress.ts"
import { type NewCode, VerificationsRepo } from "../../src/verify/VerificationsRepo.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Subject = VerificationsRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer))

/** A code for a new verification. */
const newCode = Effect.fnUntraced(function*(accountId: AccountId) {
  const code: NewCode = {
    id: VerificationId.make(`ver_${yield* ulid}`),
    accountId,
    to: "+250788123456",
    channel: "sms",
    seed: drawSeed(6),
    ttl: 600,
    brandName: null,
    locale: "en",
    webDomain: null,
    sessionId: null,
    country: null,
    acceptedBy: null
  }
  return code
})

layer(Subject, { excludeTestServices: true })("VerificationsRepo", (it) => {
  it.effect("ends a verification 20 minutes after its first code, however often another code is sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { put } = yield* VerificationsRepo
      const { accountId } = yield* makeAccount()
      const code = yield* newCode(accountId)
      const age = (minutes: number) =>
        sql`update verifications set created_at = now() - ${minutes} * interval '1 minute' where id = ${code.id}`
      const resent = Effect.map(put(code), ({ seconds_left }) => seconds_left)
      assert.strictEqual(yield* resent, 600)
      yield* age(5)
      assert.strictEqual(yield* resent, 600)
      yield* age(19)
      assert.isAtMost(yield* resent, 60)
    }))

  it.effect("counts a code for an hour and for a day, and by network and prefix for an hour", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { addSend, counts, put } = yield* VerificationsRepo
      const { accountId } = yield* makeAccount()
      const code = yield* newCode(accountId)
      const clientIp = yield* Schema.decodeEffect(IpAddress)("192.0.2.1")
      const counted = { accountId, recipient: code.to, prefix: "+25078812", clientIp }
      yield* put(code)
      yield* addSend(code.id, counted)
      const countsAfter = Effect.fnUntraced(function*(minutes: number) {
        yield* sql`update verification_sends set created_at = now() - ${minutes}::int * interval '1 minute'`
        const { day, day_all, hour, hour_all, network, prefix } = yield* counts(counted)
        return { day, day_all, hour, hour_all, network, prefix }
      })
      const ofHour = { hour: 1, hour_all: 1, network: 1, prefix: 1 }
      const ofDay = { day: 1, day_all: 1 }
      const none = { day: 0, day_all: 0, hour: 0, hour_all: 0, network: 0, prefix: 0 }
      assert.deepStrictEqual(yield* countsAfter(59), { ...ofHour, ...ofDay })
      assert.deepStrictEqual(yield* countsAfter(61), { ...none, ...ofDay })
      assert.deepStrictEqual(yield* countsAfter(24 * 60 - 1), { ...none, ...ofDay })
      assert.deepStrictEqual(yield* countsAfter(24 * 60 + 1), none)
    }))
})
