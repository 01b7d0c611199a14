import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { drawSeed } from "../../src/platform/crypto/oneTimeCode.ts"
import { VerificationId } from "../../src/values/Ids.ts"
import { type NewCode, VerificationsRepo } from "../../src/verify/VerificationsRepo.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Subject = VerificationsRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer))

layer(Subject, { excludeTestServices: true })("VerificationsRepo", (it) => {
  it.effect("ends a verification 20 minutes after its first code, however often another code is sent", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { put } = yield* VerificationsRepo
      const { accountId } = yield* makeAccount()
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
      const age = (minutes: number) =>
        sql`update verifications set created_at = now() - ${minutes} * interval '1 minute' where id = ${code.id}`
      const resent = Effect.map(put(code), ({ seconds_left }) => seconds_left)
      assert.strictEqual(yield* resent, 600)
      yield* age(5)
      assert.strictEqual(yield* resent, 600)
      yield* age(19)
      assert.isAtMost(yield* resent, 60)
    }))
})
