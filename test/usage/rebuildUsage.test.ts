import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { BatchesRepo } from "../../src/channels/email/bulk/BatchesRepo.ts"
import { DeliveryReports } from "../../src/channels/email/recipients/DeliveryReports.ts"
import { MessageProgress } from "../../src/channels/email/recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../../src/channels/email/recipients/RecipientOutcomes.ts"
import { transition } from "../../src/channels/email/recipients/RecipientState.ts"
import { EmailSenderRepo } from "../../src/channels/email/single/EmailSenderRepo.ts"
import { EmailsRepo } from "../../src/channels/email/single/EmailsRepo.ts"
import { RecipientRefused } from "../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../src/channels/email/suppressions/Suppressions.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { rebuildUsage } from "../../src/usage/rebuildUsage.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { type AccountId, EmailBatchId } from "../../src/values/Ids.ts"
import { noLabels } from "../../src/values/Labels.ts"
import { fromDateTime } from "../../src/values/Timestamp.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase, transaction } from "../support/TestDatabase.ts"
import { noEvents } from "../support/testEvents.ts"

const Subject = Layer.mergeAll(RecipientOutcomes.layer, DeliveryReports.layer).pipe(
  Layer.provide(MessageProgress.layer),
  Layer.provide(Suppressions.layer),
  Layer.provide(noEvents),
  Layer.provideMerge(Layer.mergeAll(Quotas.layer, Usage.layer)),
  Layer.provide(AppConfig.layer),
  Layer.provideMerge([BatchesRepo.layer, EmailSenderRepo.layer, EmailsRepo.layer]),
  Layer.provideMerge(TestDatabase.layer)
)

const Recipient = Schema.Struct({
  suppressed: Schema.Literals(["no", "before", "later"]),
  news: Schema.Literals(["none", "sent", "refused", "delivered", "delivered early", "complained"])
})

const Story = Schema.Struct({
  single: Schema.Boolean,
  recipients: Schema.Array(Recipient).check(Schema.isMinLength(1), Schema.isMaxLength(4))
})

const refused = new RecipientRefused({ stage: "rcpt", permanent: true, code: 550, response: "550 no" })

const suppress = Effect.fnUntraced(function*(accountId: AccountId, email: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into suppressions (account_id, email, reason) values (${accountId}, ${email}, 'manual')
    on conflict do nothing`
})

/** Accepts the story's messages, as the channel does. */
const accept = Effect.fnUntraced(function*(accountId: AccountId, single: boolean, to: ReadonlyArray<string>) {
  const quotas = yield* Quotas
  if (single) {
    const repo = yield* EmailsRepo
    const content = {
      replyTo: undefined,
      subject: "s",
      templateId: null,
      messageId: "m",
      trackOpens: false,
      links: null,
      codeSeed: undefined,
      headers: undefined,
      sending: { ...noLabels, sendAt: null, acceptedBy: null }
    }
    const { queued } = yield* repo.insert({
      ...content,
      accountId,
      recipients: to.map((address) => ({ address: EmailAddress.make(address), kind: "to" })),
      from: { address: EmailAddress.make("us@example.com") },
      parts: []
    })
    yield* quotas.reserve(accountId, "email", queued)
    return undefined
  }
  const repo = yield* BatchesRepo
  const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
  const texts = {
    from_name: null,
    subject: "s",
    html: "h",
    text: null,
    template_id: null,
    track_opens: false,
    links: null,
    headers: null,
    sending: { ...noLabels, sendAt: null, acceptedBy: null }
  }
  const recipients = to.map((address) => ({ to: EmailAddress.make(address), variables: {} }))
  const batch = {
    id,
    account_id: accountId,
    shard: 1,
    is_small: false,
    from_address: "us@example.com",
    ...texts,
    recipients
  }
  const { queued } = yield* repo.insert({ ...batch, isClaimed: false })
  yield* quotas.reserve(accountId, "email", queued)
  return id
})

const claim = (batchId: EmailBatchId | undefined) =>
  batchId === undefined
    ? Effect.flatMap(EmailSenderRepo, (repo) => repo.claimsOfMode("live").claimOldest([100, 100]))
    : Effect.flatMap(BatchesRepo, (repo) => repo.claim({ ids: [batchId], limit: 100 }))

const tell = Effect.fnUntraced(function*(accountId: AccountId, { recipients, single }: typeof Story.Type) {
  const outcomes = yield* RecipientOutcomes
  const news = yield* DeliveryReports
  const name = (yield* ulid).toLowerCase()
  const addressOf = (index: number) => `${name}-${index}@example.com`
  const to = recipients.map((_, index) => addressOf(index))
  for (const [index, recipient] of recipients.entries()) {
    if (recipient.suppressed === "before") yield* suppress(accountId, addressOf(index))
  }
  const batchId = yield* transaction(accept(accountId, single, to))
  for (const [index, recipient] of recipients.entries()) {
    if (recipient.suppressed === "later") yield* suppress(accountId, addressOf(index))
  }
  for (const claimed of yield* claim(batchId)) {
    const what = recipients[to.indexOf(claimed.recipient)]?.news ?? "none"
    const early = what === "delivered early"
    if (early) yield* news.apply(claimed.id, () => ({ status: "delivered" }))
    if (what === "none") continue
    yield* outcomes.record({
      id: claimed.id,
      emailId: claimed.id,
      accountId,
      batchId: batchId ?? null,
      to: claimed.recipient,
      subject: "s",
      at: fromDateTime(yield* DateTime.now),
      labels: noLabels,
      claimNumber: claimed.claim_number,
      attemptsBefore: claimed.attempt_count,
      transition: transition(claimed.attempt_count, what === "refused" ? refused : { _tag: "Accepted" }, 0)
    })
    if (what === "complained" || what === "delivered") yield* news.apply(claimed.id, () => ({ status: what }))
  }
})

const counted = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`select account_id, day::text, metric, sum(count)::bigint as count from usage_daily
    group by 1, 2, 3 order by 1, 2, 3`
)

layer(Subject, { excludeTestServices: true })("rebuildUsage of emails", (it) => {
  it.effect.prop(
    "the recounted usage of emails equals the counts made while they were sent",
    { stories: Schema.Array(Story).check(Schema.isMinLength(1), Schema.isMaxLength(4)) },
    ({ stories }) =>
      Effect.gen(function*() {
        const { accountId } = yield* makeAccount()
        for (const story of stories) yield* tell(accountId, story)
        const before = yield* counted
        yield* rebuildUsage
        assert.deepStrictEqual(yield* counted, before)
      }),
    { arbitrary: { runs: 25 } }
  )

  it.effect("a recount during concurrent counts loses and doubles nothing", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const one = transaction(accept(accountId, true, ["a@example.com"]))
      yield* Effect.all([
        Effect.all(Array.from({ length: 60 }, () => one), { concurrency: 6 }),
        Effect.all(Array.from({ length: 10 }, () => rebuildUsage))
      ], { concurrency: "unbounded" })
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`select sum(count)::integer as count from usage_daily
        where account_id = ${accountId} and metric = 'email'`
      assert.strictEqual(row?.["count"], 60)
    }))
})
