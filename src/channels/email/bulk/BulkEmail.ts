import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import type { SenderNotVerified } from "../../../email-domains/EmailDomainErrors.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { ulid } from "../../../platform/crypto/ulid.ts"
import { afterCommit, transaction } from "../../../platform/database/transaction.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { compiledMail } from "../../../templates/CompiledTemplate.ts"
import { requireOfEach } from "../../../templates/requireOfEach.ts"
import { requireValues } from "../../../templates/requireValues.ts"
import type { Template } from "../../../templates/Template.ts"
import { Templates } from "../../../templates/Templates.ts"
import { Quotas } from "../../../usage/Quotas.ts"
import { counted } from "../../../values/counted.ts"
import { type AccountId, EmailBatchId } from "../../../values/Ids.ts"
import type { PageOf, Sort } from "../../../values/Page.ts"
import { DefaultSender } from "../request/DefaultSender.ts"
import { makeDeliverabilityWarnings } from "../request/DeliverabilityWarnings.ts"
import { findOversizedPart } from "../request/overfilled.ts"
import { targetsOf } from "../tracking/track.ts"
import type { Batch, BatchRecipient } from "./Batch.ts"
import { BatchCompletion } from "./BatchCompletion.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { makeBatchesRepo } from "./BatchesRepo.ts"
import { makeBatchRecordsRepo } from "./BatchReadRepo.ts"
import type { AcceptedBatch, NewBatch } from "./BulkEmailApi.ts"

/** A nudge for the actor of a dead node waits until another one has its shard; the others are told meanwhile. */
const patience = "2 seconds"

/** The texts of a mail that brings them along. */
const ownTexts = Effect.fnUntraced(function*({ html, subject, text }: NewBatch) {
  if (subject !== undefined && html !== undefined) return yield* compiledMail({ subject, html, text: text ?? null })
  const params = [...(subject === undefined ? ["subject"] : []), ...(html === undefined ? ["html"] : [])]
  const message = "is required unless template_id is given"
  const errors = params.map((param) => ({ param, type: "missing", message }))
  return yield* new ValidationFailed({ param: params[0] ?? "", errors })
})

/** Refuses recipients whose values make a text too large: a few such mails at a time would fill the memory of a node. */
const requireFit = (template: Template, recipients: NewBatch["recipients"]) => {
  const overfilledBy = findOversizedPart(template)
  return requireOfEach(recipients, (variables) => {
    const over = overfilledBy(variables)
    return over && { type: "invalid", message: `must make ${over.part} ${over.most} long` }
  })
}

/** Who is written to, and who is not, as the account must not write to them. */
const fateOf = ({ queued, total }: { readonly total: number; readonly queued: number }): string => {
  const told = `${counted(queued, "email is", "emails are")} queued`
  return queued === total ? told : `${told}, ${counted(total - queued, "is", "are")} suppressed`
}

/** Bulk email (spec 2.5, 3.4, 4.3). */
export class BulkEmail extends Context.Service<BulkEmail, {
  /** Checks everything, commits the batch with its recipients, and only then says yes. */
  readonly send: (
    accountId: AccountId,
    mail: NewBatch
  ) => Effect.Effect<AcceptedBatch, EmailQuotaExceeded | ValidationFailed | NotFound | SenderNotVerified>
  readonly list: (
    accountId: AccountId,
    filter: { readonly sort: Sort; readonly status?: Batch["status"] | undefined },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<Batch>>
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
}>()("messaging-service/channels/email/bulk/BulkEmail") {
  static readonly layer = Layer.effect(
    BulkEmail,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const domains = yield* EmailDomains
      const warningsOf = yield* makeDeliverabilityWarnings
      const quotas = yield* Quotas
      const templates = yield* Templates
      const standard = yield* DefaultSender
      const completion = yield* BatchCompletion
      const repo = yield* makeBatchesRepo
      const records = yield* makeBatchRecordsRepo
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

      /** The texts as they will be sent: of the stored template as it is now, or the mail's own. */
      const textsOf = Effect.fnUntraced(function*(accountId: AccountId, mail: NewBatch) {
        if (mail.template_id === undefined) return { ...(yield* ownTexts(mail)), templateId: null }
        const own = mail.html !== undefined ? "html" : mail.text !== undefined ? "text" : undefined
        if (own !== undefined) return yield* ValidationFailed.of(own, "must be left out when template_id is given")
        const { id, ...stored } = yield* templates.require(accountId, mail.template_id)
        const texts = mail.subject === undefined
          ? stored
          : yield* compiledMail({ ...stored.source, subject: mail.subject })
        return { ...texts, templateId: id }
      })

      const send = Effect.fn("BulkEmail.send")(function*(accountId: AccountId, mail: NewBatch) {
        const { source, template, templateId } = yield* textsOf(accountId, mail)
        yield* requireValues(template, mail.recipients)
        yield* requireFit(template, mail.recipients)
        const from = mail.from ?? standard
        if (mail.from !== undefined) yield* domains.requireVerified(accountId, mail.from.address)
        const tracking = yield* domains.tracking(accountId, from.address)
        const links = (mail.track_clicks ?? tracking.clicks) && template.html !== undefined
          ? targetsOf(template.html)
          : null
        const id = EmailBatchId.make(`email_batch_${yield* ulid}`)
        const total = mail.recipients.length
        const recipients = mail.recipients.map(({ to, variables }) => ({ to, variables: variables ?? {} }))
        const queued = yield* transaction(Effect.gen(function*() {
          yield* Effect.orDie(repo.insertBatch({
            id,
            account_id: accountId,
            from_address: from.address,
            from_name: mail.from_name ?? from.name ?? null,
            ...source,
            template_id: templateId,
            total,
            track_opens: mail.track_opens ?? tracking.opens,
            links
          }))
          const { queued } = yield* Effect.orDie(repo.insertRecipients({ id, account_id: accountId, recipients }))
          yield* quotas.reserve(accountId, "email", queued)
          yield* afterCommit(run([id]))
          return queued
        }))
        const message = `${fateOf({ total, queued })}; email.bulk_completed tells when they are done.`
        const warnings = yield* warningsOf.ofBulk(accountId, mail.from?.address)
        return { batch_id: id, total_recipients: total, status: "queued" as const, message, warnings }
      }, Effect.provideService(SqlClient.SqlClient, sql))

      const find = Effect.fn("BulkEmail.find")(function*(accountId: AccountId, batchId: EmailBatchId) {
        const batch = yield* Effect.orDie(records.find({ accountId, batchId }))
        return Option.isSome(batch) ? batch.value : yield* new NotFound()
      })

      const cancel = Effect.fn("BulkEmail.cancel")(function*(accountId: AccountId, batchId: EmailBatchId) {
        yield* find(accountId, batchId)
        yield* transaction(Effect.andThen(Effect.orDie(repo.cancel(batchId)), completion.complete(batchId)))
        return yield* find(accountId, batchId)
      }, Effect.provideService(SqlClient.SqlClient, sql))

      return BulkEmail.of({
        send,
        list: Effect.fn("BulkEmail.list")(function*(accountId, { sort, status = null }, window) {
          const filter = { accountId, sort, status, ...window }
          // Counted first: what is counted is on its page then.
          const { total } = yield* records.count(filter)
          return { rows: yield* records.list(filter), total }
        }, Effect.orDie),
        find,
        cancel,
        run,
        wake,
        recipients: Effect.fn("BulkEmail.recipients")(function*({ accountId, batchId }, { status }, window) {
          yield* find(accountId, batchId)
          const filter = { batchId, status: status ?? null, ...window }
          const rows = yield* Effect.orDie(records.recipients(filter))
          return { rows, total: (yield* Effect.orDie(records.countRecipients(filter))).total }
        })
      })
    })
  )
}
