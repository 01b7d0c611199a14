import { assert } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Notices } from "../../../src/accounts/notices/Notices.ts"
import { BatchesRepo, type Claimed } from "../../../src/channels/email/bulk/BatchesRepo.ts"
import { RecipientOutcomes } from "../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { transition } from "../../../src/channels/email/recipients/RecipientState.ts"
import { maxAttempts } from "../../../src/channels/email/recipients/SendRetryPolicy.ts"
import { EmailSenderRepo } from "../../../src/channels/email/single/EmailSenderRepo.ts"
import { Suppressions } from "../../../src/channels/email/suppressions/Suppressions.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { ulid } from "../../../src/platform/crypto/ids.ts"
import { Usage } from "../../../src/usage/Usage.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { type AccountId, EmailBatchId, EmailMessageId } from "../../../src/values/Ids.ts"
import { noLabels } from "../../../src/values/Labels.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"
import { formerOwnerChangesNothing } from "../../support/formerOwner.ts"
import { makeAccount } from "../../support/Service.ts"
import { noEvents } from "../../support/testEvents.ts"

const Outcomes = RecipientOutcomes.layer.pipe(
  Layer.provide([
    AppConfig.layer,
    noEvents,
    Suppressions.layer,
    Usage.layer
  ])
)

const record = (
  { attempt_count: attemptsBefore, claim_number: claimNumber, id, recipient: to }: Claimed,
  { accountId, batchId }: { readonly accountId: AccountId; readonly batchId: EmailBatchId | null }
) =>
  Effect.flatMap(RecipientOutcomes, ({ record }) =>
    record({
      id,
      emailId: id,
      accountId,
      batchId,
      to,
      subject: "s",
      at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
      labels: noLabels,
      claimNumber,
      attemptsBefore,
      transition: transition(attemptsBefore, { _tag: "Accepted" }, 0)
    }))

const stateOf = (where: (sql: SqlClient.SqlClient) => Statement.Fragment) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql`select to_jsonb(m) as message, to_jsonb(b) as batch
      from email_messages m left join email_batches b on b.id = m.batch_id where ${where(sql)}`)

const claimSingle = ({ id }: { readonly id: EmailMessageId }) =>
  Effect.flatMap(
    EmailSenderRepo,
    ({ claimsOfMode }) =>
      Effect.map(claimsOfMode("live").claimOldest([9, 9]), (rows) =>
        rows.find((row) => row.id === id) ?? assert.fail("it was not claimed"))
  )

formerOwnerChangesNothing("a single email", {
  layer: Layer.merge(EmailSenderRepo.layer, Outcomes),
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { accountId } = yield* makeAccount()
    const [row] = yield* sql`insert into email_messages (account_id, recipient, due_at)
      values (${accountId}, 'user@example.com', now()) returning id`
    return { accountId, batchId: null, id: EmailMessageId.make(Number(row?.["id"])) }
  }),
  claim: claimSingle,
  takeOver: (row) =>
    Effect.flatMap(
      EmailSenderRepo,
      ({ reclaimExpired }) =>
        Effect.andThen(reclaimExpired({ leaseTimeout: Duration.zero, maxAttempts }), claimSingle(row))
    ),
  writes: {
    renewal: (claimed) => Effect.flatMap(EmailSenderRepo, ({ renew }) => renew([claimed])),
    release: (claimed) => Effect.flatMap(EmailSenderRepo, ({ release }) => release([claimed])),
    outcome: (claimed, row) => record({ ...claimed, variables: {} }, row)
  },
  renew: (claims) => Effect.flatMap(EmailSenderRepo, ({ renew }) => renew(claims)),
  state: ({ id }) => stateOf((sql) => sql`m.id = ${id}`)
})

const claimOfBatch = ({ batchId }: { readonly batchId: EmailBatchId }) =>
  Effect.flatMap(
    BatchesRepo,
    ({ claim }) => Effect.map(claim({ ids: [batchId], limit: 9 }), ([row]) => row ?? assert.fail("nothing was claimed"))
  )

formerOwnerChangesNothing("a batch's recipient", {
  layer: Layer.merge(BatchesRepo.layer, Outcomes),
  make: Effect.gen(function*() {
    const { accountId } = yield* makeAccount()
    const { insert } = yield* BatchesRepo
    const batchId = EmailBatchId.make(`email_batch_${yield* ulid}`)
    yield* insert({
      id: batchId,
      account_id: accountId,
      shard: 0,
      is_small: false,
      isClaimed: false,
      from_address: "us@example.com",
      from_name: null,
      subject: "s",
      html: "h",
      text: null,
      track_opens: false,
      links: null,
      template_id: null,
      headers: null,
      sending: { ...noLabels, sendAt: null, acceptedBy: null },
      recipients: [{ to: EmailAddress.make("user@example.com"), variables: {} }]
    })
    return { accountId, batchId }
  }),
  claim: claimOfBatch,
  takeOver: (row) =>
    Effect.flatMap(BatchesRepo, ({ reclaimExpired }) =>
      Effect.andThen(
        reclaimExpired({ id: row.batchId, maxAttempts, claimed: [], after: Duration.zero }),
        claimOfBatch(row)
      )),
  writes: {
    renewal: (claimed) => Effect.flatMap(BatchesRepo, ({ renewClaims }) => renewClaims([claimed])),
    release: (claimed) => Effect.flatMap(BatchesRepo, ({ releaseClaims }) => releaseClaims([claimed])),
    outcome: (claimed, row) => record(claimed, row)
  },
  renew: (claims) => Effect.flatMap(BatchesRepo, ({ renewClaims }) => renewClaims(claims)),
  state: ({ batchId }) => stateOf((sql) => sql`m.batch_id = ${batchId}`)
})

const claimNotice = (accountId: AccountId) =>
  Effect.flatMap(Notices, ({ claimOldest }) =>
    Effect.map(
      claimOldest({ inFlight: [], domain: "example.com", maxAttempts }, [9, 9]),
      (rows) => rows.find(({ account_id }) => account_id === accountId) ?? assert.fail("it was not claimed")
    ))

formerOwnerChangesNothing("a notice", {
  layer: Notices.layer,
  make: Effect.gen(function*() {
    const { accountId } = yield* makeAccount()
    const { enqueue } = yield* Notices
    yield* enqueue({ accountId, kind: "webhook_unhealthy", subject: "Unhealthy", body: "It fails." })
    return accountId
  }),
  claim: claimNotice,
  takeOver: claimNotice,
  writes: {
    outcome: (claimed) =>
      Effect.flatMap(
        Notices,
        ({ settle }) =>
          settle(claimed, { status: "sent", attempt_count: 1, delay: undefined, error: null, isUnconfirmed: false })
      )
  },
  renew: (claims) => Effect.flatMap(Notices, ({ stillClaimed }) => stillClaimed(claims)),
  state: (accountId) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`select to_jsonb(n) as row from notices n where account_id = ${accountId}`
    )
})
