import { Context, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { SenderNotVerified } from "../../email-domains/EmailDomainErrors.ts"
import { EmailDomains } from "../../email-domains/EmailDomains.ts"
import { ulid } from "../../platform/crypto/ulid.ts"
import { afterCommit, transaction } from "../../platform/database/transaction.ts"
import { NotFound, ValidationFailed, type Violation } from "../../platform/http/ApiErrors.ts"
import * as Template from "../../templates/Template.ts"
import { type AccountId, EmailBatchId } from "../../values/Ids.ts"
import type { PageOf } from "../../values/Page.ts"
import type { Batch, BatchRecipient } from "./Batch.ts"
import { BatchCompletion } from "./BatchCompletion.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { makeBatchesRepo } from "./BatchesRepo.ts"
import type { AcceptedBatch, NewBatch } from "./BulkEmailApi.ts"
import { DefaultSender } from "./DefaultSender.ts"

const mostViolations = 50

/** A nudge for the actor of a dead node waits until another one has its shard; the others are told meanwhile. */
const patience = "2 seconds"

/** Every recipient that lacks a value, with the names: nothing is sent with gaps. */
const missingValues = (template: Template.Template, { recipients }: NewBatch): ReadonlyArray<Violation> =>
  recipients.flatMap(({ variables }, index) => {
    const names = Template.missing(template, variables ?? {})
    if (names.length === 0) return []
    return [{
      param: `recipients[${index}].variables`,
      type: "missing_variable",
      message: `must have a value for ${names.join(", ")}`
    }]
  }).slice(0, mostViolations)

const compiled = Effect.fnUntraced(function*(mail: NewBatch) {
  const template = Template.compile(mail)
  if (Result.isFailure(template)) {
    const { message, part } = template.failure
    return yield* ValidationFailed.of(part, message, "invalid_template")
  }
  const errors = missingValues(template.success, mail)
  if (errors[0] !== undefined) return yield* new ValidationFailed({ param: errors[0].param, errors })
})

/** Bulk email (spec 2.5, 3.4, 4.3). */
export class BulkEmail extends Context.Service<BulkEmail, {
  /** Checks everything, commits the batch with its recipients, and only then says yes. */
  readonly send: (
    accountId: AccountId,
    mail: NewBatch
  ) => Effect.Effect<AcceptedBatch, ValidationFailed | SenderNotVerified>
  readonly find: (accountId: AccountId, batchId: EmailBatchId) => Effect.Effect<Batch, NotFound>
  /** In the order of the request. */
  readonly recipients: (
    batch: { readonly accountId: AccountId; readonly batchId: EmailBatchId },
    filter: { readonly status?: BatchRecipient["status"] | undefined },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<BatchRecipient>, NotFound>
  /** Leaves out whoever is still queued and answers with the counts after that. */
  readonly cancel: (accountId: AccountId, batchId: EmailBatchId) => Effect.Effect<Batch, NotFound>
  /** Hands batches to their actors; one that runs already is not run again. */
  readonly run: (ids: ReadonlyArray<EmailBatchId>) => Effect.Effect<void>
  /** Nudges the actors of batches that have begun; nothing depends on it. */
  readonly wake: (ids: ReadonlyArray<EmailBatchId>) => Effect.Effect<void>
}>()("messaging-service/channels/email/BulkEmail") {
  static readonly layer = Layer.effect(
    BulkEmail,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* EmailDomains
      const standard = yield* DefaultSender
      const completion = yield* BatchCompletion
      const repo = yield* makeBatchesRepo
      const actor = yield* BatchEntity.client

      const each = <E>(ids: ReadonlyArray<EmailBatchId>, tell: (batchId: EmailBatchId) => Effect.Effect<void, E>) =>
        Effect.forEach(ids, (batchId) => Effect.ignoreCause(Effect.timeoutOption(tell(batchId), patience)), {
          concurrency: "unbounded",
          discard: true
        })
      const run = (ids: ReadonlyArray<EmailBatchId>) =>
        each(ids, (batchId) => actor(batchId).Run({ batchId }, { discard: true }))
      const wake = (ids: ReadonlyArray<EmailBatchId>) =>
        each(ids, (batchId) => actor(batchId).Wake(undefined, { discard: true }))

      const send = Effect.fn("BulkEmail.send")(function*(accountId: AccountId, mail: NewBatch) {
        yield* compiled(mail)
        const from = mail.from ?? standard
        if (mail.from !== undefined) yield* domains.requireVerified(accountId, mail.from.address)
        const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
        const total = mail.recipients.length
        const recipients = mail.recipients.map(({ to, variables }) => ({ to, variables: variables ?? {} }))
        yield* transaction(Effect.gen(function*() {
          yield* Effect.orDie(repo.insertBatch({
            id,
            account_id: accountId,
            from_address: from.address,
            from_name: mail.from_name ?? from.name ?? null,
            subject: mail.subject,
            html: mail.html,
            text: mail.text ?? null,
            total
          }))
          yield* Effect.orDie(repo.insertRecipients({ id, account_id: accountId }, recipients))
          yield* afterCommit(run([id]))
        }))
        const message = `${total} ${
          total === 1 ? "email is" : "emails are"
        } queued; email.bulk_completed tells when they are done.`
        return { batch_id: id, total_recipients: total, status: "queued" as const, message }
      }, Effect.provideService(SqlClient.SqlClient, sql))

      const find = Effect.fn("BulkEmail.find")(function*(accountId: AccountId, batchId: EmailBatchId) {
        const batch = yield* Effect.orDie(repo.find({ accountId, batchId }))
        return Option.isSome(batch) ? batch.value : yield* new NotFound()
      })

      const cancel = Effect.fn("BulkEmail.cancel")(function*(accountId: AccountId, batchId: EmailBatchId) {
        yield* find(accountId, batchId)
        yield* transaction(Effect.andThen(Effect.orDie(repo.cancel(batchId)), completion.complete(batchId)))
        return yield* find(accountId, batchId)
      }, Effect.provideService(SqlClient.SqlClient, sql))

      return BulkEmail.of({
        send,
        find,
        cancel,
        run,
        wake,
        recipients: Effect.fn("BulkEmail.recipients")(function*({ accountId, batchId }, { status }, window) {
          yield* find(accountId, batchId)
          const filter = { batchId, status: status ?? null, ...window }
          const rows = yield* Effect.orDie(repo.recipients(filter))
          return { rows, total: (yield* Effect.orDie(repo.countRecipients(filter))).total }
        })
      })
    })
  )
}
