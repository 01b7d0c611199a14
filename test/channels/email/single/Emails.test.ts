import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { BulkThrottle } from "../../../../src/channels/email/recipients/BulkThrottle.ts"
import { MessageProgress } from "../../../../src/channels/email/recipients/MessageProgress.ts"
import { ReturnPaths } from "../../../../src/channels/email/reports/ReturnPaths.ts"
import { DefaultSender } from "../../../../src/channels/email/request/DefaultSender.ts"
import { DeliverabilityWarnings } from "../../../../src/channels/email/request/DeliverabilityWarnings.ts"
import { Emails } from "../../../../src/channels/email/single/Emails.ts"
import { EmailSender } from "../../../../src/channels/email/single/EmailSender.ts"
import { SenderNotVerified } from "../../../../src/email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../../src/email-domains/EmailDomains.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Templates } from "../../../../src/templates/Templates.ts"
import { Quotas } from "../../../../src/usage/Quotas.ts"
import { domainOf, EmailAddress } from "../../../../src/values/EmailAddress.ts"
import type { AccountId } from "../../../../src/values/Ids.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const noted: Array<AccountId> = []

let warnings: Effect.Effect<ReadonlyArray<string>> = Effect.succeed([])

const Subject = Emails.layer.pipe(
  Layer.provide([
    Layer.mock(BulkThrottle)({ noteSingleEmail: (account) => Effect.sync(() => void noted.push(account)) }),
    Layer.mock(EmailDomains)({
      requireVerified: (_, from) => Effect.fail(new SenderNotVerified({ param: "from", domain: domainOf(from) })),
      ofSender: () => Effect.succeed({ track_opens: false, track_clicks: false, warnings: [] })
    }),
    Layer.mock(Quotas)({ limitOfPlan: () => undefined, limit: () => undefined, reserve: () => Effect.void }),
    Layer.mock(Templates)({}),
    Layer.succeed(ReturnPaths, {
      domain: undefined,
      unsubscribeMailto: () => undefined,
      envelopeOf: (_, envelope) => envelope,
      tokenOf: String,
      messageOf: Option.none,
      read: Option.none
    }),
    Layer.mock(MessageProgress)({ publishSuppressed: () => Effect.void }),
    Layer.mock(DeliverabilityWarnings)({ ofSender: () => Effect.suspend(() => warnings) }),
    Layer.succeed(DefaultSender, { address: EmailAddress.make("us@example.com") }),
    Layer.succeed(EmailSender, EmailSender.of({ wake: () => Effect.void })),
    AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))
  ]),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject, { excludeTestServices: true })("Emails", (it) => {
  it.effect("throttles batches for accepted emails, and for no refused one", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const { send } = yield* Emails
      const to = EmailAddress.make("ann@people.example")
      const email = { to, subject: "s", text: "Hello" }
      yield* Effect.flip(send(accountId, { ...email, text: "{{name}}" }))
      yield* Effect.flip(send(accountId, { ...email, from: { address: to } }))
      assert.deepStrictEqual(noted, [])
      yield* send(accountId, email)
      assert.deepStrictEqual(noted, [accountId])
    }))
  it.effect("stores nothing if the warnings cannot be read", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const { send } = yield* Emails
      const email = { to: EmailAddress.make("ann@people.example"), subject: "s", text: "Hello" }
      warnings = Effect.die("no database")
      assert.isTrue(Exit.hasDies(yield* Effect.exit(send(accountId, email))))
      assert.deepStrictEqual(yield* sql`select from email_messages where account_id = ${accountId}`, [])
      warnings = Effect.succeed(["unsigned"])
      assert.deepStrictEqual((yield* send(accountId, email)).warnings, ["unsigned"])
    }))
})
