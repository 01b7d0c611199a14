import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createSecretKey } from "node:crypto"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { PartStatusUpdates } from "../../src/channels/sms/parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../../src/channels/sms/parts/SmsOutlet.ts"
import { SmsMessages } from "../../src/channels/sms/SmsMessages.ts"
import { Messages } from "../../src/messages/Messages.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { MacKeys } from "../../src/platform/crypto/MacKeys.ts"
import { Prices } from "../../src/pricing/Prices.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { rebuildUsage } from "../../src/usage/rebuildUsage.ts"
import { Usage } from "../../src/usage/Usage.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { PhoneNumber } from "../../src/values/PhoneNumber.ts"
import { CodeSender } from "../../src/verify/CodeSender.ts"
import * as SmsCodes from "../../src/verify/SmsCodes.ts"
import { Verifications } from "../../src/verify/Verifications.ts"
import { VerifyChannels } from "../../src/verify/VerifyChannel.ts"
import { live, makeAccount } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { noEvents } from "../support/testEvents.ts"

const key = createSecretKey(new Uint8Array(32))

const CodesBySms = Layer.effect(
  VerifyChannels,
  Effect.map(SmsCodes.make, (sms) => VerifyChannels.of({ sms, whatsapp: sms, email: sms }))
)

const Subject = Verifications.layer.pipe(
  Layer.provide(CodeSender.layer),
  Layer.provide(CodesBySms),
  Layer.provideMerge(SmsMessages.layer),
  Layer.provide(PartStatusUpdates.layer),
  Layer.provide(
    Layer.succeed(
      SmsOutlet,
      SmsOutlet.of({
        takes: "segments",
        wake: Effect.void,
        cancel: () => Effect.void,
        cancelOne: () => Effect.succeed(false),
        link: Effect.succeedNone
      })
    )
  ),
  Layer.provide(noEvents),
  Layer.provide(
    Layer.succeed(
      MacKeys,
      MacKeys.of({
        confirm: key,
        unsubscribe: key,
        bounce: key,
        tracking: key,
        verify: key,
        sandbox: key,
        receiver: key,
        cursor: key,
        recipient: key,
        console: key
      })
    )
  ),
  Layer.provide(Layer.mergeAll(Prices.layer, Messages.layer, Quotas.layer, Usage.layer)),
  Layer.provide(Accounts.layer.pipe(Layer.provide(Audit.layer))),
  Layer.provide(AppConfig.layer),
  Layer.provide(NodeServices.layer),
  Layer.provideMerge(TestDatabase.layer)
)

/** The first has one segment, the second three. A code by SMS counts as both; a refused request as neither. */
const Step = Schema.Literals(["short", "long", "batch", "code", "refused"])
type Step = typeof Step.Type

const phone = (number: string) => Schema.decodeEffect(PhoneNumber)(number).pipe(Effect.orDie)

const perform = Effect.fnUntraced(function*(accountId: AccountId, step: Step) {
  const sms = yield* SmsMessages
  const verifications = yield* Verifications
  const to = yield* phone(freshNumber())
  switch (step) {
    case "short":
      return yield* Effect.asVoid(sms.send(accountId, { to, content: "Hello" }))
    case "long":
      return yield* Effect.asVoid(sms.send(accountId, { to, content: "a".repeat(400) }))
    case "batch": {
      const recipients = [{ to, variables: { name: "Ann" } }, {
        to: yield* phone(freshNumber()),
        variables: { name: "" }
      }]
      return yield* Effect.asVoid(sms.sendBulk(accountId, { content: "Hello {{name}}", recipients }))
    }
    case "code":
      return yield* Effect.asVoid(
        verifications.send({ accountId, trial: "none" }, { to: { kind: "phone", address: to } })
      )
    case "refused": {
      // The recipient's second code comes too early.
      const again = verifications.send({ accountId, trial: "none" }, { to: { kind: "phone", address: to } })
      yield* again
      return yield* Effect.asVoid(Effect.flip(again))
    }
  }
})

const counted = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`select account_id, day::text, metric, sum(count)::bigint as count, sum(cost_micros)::bigint as cost
      from usage_daily group by 1, 2, 3 order by 1, 2, 3`
)

layer(Subject)("rebuildUsage of SMS and one-time codes", (it) => {
  it.effect.prop(
    "the recounted usage of SMS and codes equals the counts and costs made on acceptance",
    { steps: Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(6)) },
    ({ steps }) =>
      live(Effect.gen(function*() {
        const { accountId } = yield* makeAccount()
        for (const step of steps) yield* perform(accountId, step)
        const before = yield* counted
        assert.isTrue(before.some((row) => row["account_id"] === accountId))
        yield* rebuildUsage
        assert.deepStrictEqual(yield* counted, before)
      })),
    { arbitrary: { runs: 25 } }
  )

  it.effect("a recount corrects wrong counts, and keeps the counts of codes that are no longer stored", () =>
    live(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      yield* perform(accountId, "code")
      const right = yield* counted
      const old = sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
        values (${accountId}, (now() at time zone 'UTC')::date - 2, 'otp', 0, 7, 0)`
      yield* old
      yield* sql`update usage_daily set count = count + 5, cost_micros = cost_micros + 1 where count <> 7`
      yield* sql`delete from usage_daily where metric = 'sms'`
      yield* rebuildUsage
      const now = yield* counted
      assert.strictEqual(
        now.find(({ count, metric }) => metric === "otp" && Number(count) === 7)?.["account_id"],
        accountId
      )
      assert.deepStrictEqual(now.filter(({ count, metric }) => metric !== "otp" || Number(count) !== 7), right)
    })))
})
