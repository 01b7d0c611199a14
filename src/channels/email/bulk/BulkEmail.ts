import { Context, Effect, Exit, Layer, Option } from "effect"
import type { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import type { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { domainEvent, Events } from "../../../events/Events.ts"
import { Database } from "../../../platform/database/Database.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { compiledMail } from "../../../templates/CompiledTemplate.ts"
import { requireOfEach, requireValues } from "../../../templates/requireValues.ts"
import type { Template } from "../../../templates/Template.ts"
import { Templates } from "../../../templates/Templates.ts"
import { Quotas } from "../../../usage/Quotas.ts"
import type { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { pluralize } from "../../../values/messageText.ts"
import type { PageOf, Sort } from "../../../values/Page.ts"
import { makeSenderOf } from "../request/DefaultSender.ts"
import { DeliverabilityWarnings } from "../request/DeliverabilityWarnings.ts"
import { measure } from "../request/MailFields.ts"
import { targetsOf } from "../tracking/track.ts"
import type { Batch, BatchRecipient } from "./Batch.ts"
import { BatchDispatch, isSmall } from "./BatchDispatch.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { BatchesRepo } from "./BatchesRepo.ts"
import { BatchReadRepo } from "./BatchReadRepo.ts"
import { BatchShards } from "./BatchShards.ts"
import type { AcceptedBatch, NewBatch } from "./BulkEmailApi.ts"

/** The longest wait for one actor. A call to a dead node's actor waits until another node has its shard. */
const wakeTimeout = "2 seconds"

/** Longer: without the actor's answer, recipients that it has claimed are still mailed. */
const cancelTimeout = "5 seconds"

/** Compiles the texts of a request without a stored template. */
const ownTexts = Effect.fnUntraced(function*({ html, subject, text }: NewBatch) {
  if (subject !== undefined && html !== undefined) return yield* compiledMail({ subject, html, text: text ?? null })
  const params = [...(subject === undefined ? ["subject"] : []), ...(html === undefined ? ["html"] : [])]
  const message = "is required unless template_id is given"
  const errors = params.map((param) => ({ param, type: "missing", message }))
  return yield* new ValidationFailed({ param: params[0] ?? "", errors })
})

/** The most bytes of all mails of a batch. They are rendered, signed and sent one by one, for a request of 10 MiB. */
const maxBatchBytes = 250_000_000

/** Refuses recipients whose values make a text or the batch too large: a few such mails would exhaust a node's memory. */
const requireFit = Effect.fnUntraced(function*(template: Template, recipients: NewBatch["recipients"]) {
  const measured = measure(template)
  let total = 0
  yield* requireOfEach(recipients, (variables) => {
    const { bytes, oversized } = measured(variables)
    total += bytes
    return oversized && { type: "invalid", message: `must make ${oversized.part} ${oversized.limit} long` }
  })
  if (total > maxBatchBytes) {
    const limit = `must make at most ${maxBatchBytes} bytes of mail together`
    return yield* ValidationFailed.of("recipients", `${limit}, but make ${total}; send the rest in another request`)
  }
})

/** Summarises how many recipients are queued and how many are suppressed. */
const summaryOf = ({ queued, total }: { readonly total: number; readonly queued: number }): string => {
  const summary = `${pluralize(queued, "email is", "emails are")} queued`
  return queued === total ? summary : `${summary}, ${pluralize(total - queued, "is", "are")} suppressed`
}

const callEach = <E>(ids: ReadonlyArray<EmailBatchId>, call: (batchId: EmailBatchId) => Effect.Effect<void, E>) =>
  Effect.forEach(ids, (batchId) => Effect.ignoreCause(Effect.timeoutOption(call(batchId), wakeTimeout)), {
    concurrency: "unbounded",
    discard: true
  })

/** Accepts, lists, cancels and runs batches of email (spec 2.5, 3.4, 4.3). */
export class BulkEmail extends Context.Service<BulkEmail, {
  /** Validates the request and returns after the batch and its recipients are committed. */
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
  /** Lists a batch's recipients in the order of the request. */
  readonly recipients: (
    batch: { readonly accountId: AccountId; readonly batchId: EmailBatchId },
    filter: { readonly status?: BatchRecipient["status"] | undefined },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<BatchRecipient>, NotFound>
  /**
   * Cancels the recipients whose mail transaction has not begun, and returns the batch with its new counts. None begins
   * afterwards, unless the node that sends the batch does not answer.
   */
  readonly cancel: (accountId: AccountId, batchId: EmailBatchId) => Effect.Effect<Batch, NotFound>
  /**
   * Completes a batch whose recipients have all ended; in a canceled batch it first cancels the queued ones. Publishes
   * email.bulk_completed exactly once: the row completes only once, in the same transaction.
   */
  readonly complete: (batchId: EmailBatchId) => Effect.Effect<void>
  /** Wakes the actors of batches. A lost wake-up does no harm, and a batch that runs already does not run twice. */
  readonly wake: (ids: ReadonlyArray<EmailBatchId>) => Effect.Effect<void>
}>()("messaging-service/channels/email/bulk/BulkEmail") {
  static readonly layer = Layer.effect(
    BulkEmail,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const domains = yield* EmailDomains
      const warnings = yield* DeliverabilityWarnings
      const quotas = yield* Quotas
      const templates = yield* Templates
      const senderOf = yield* makeSenderOf
      const events = yield* Events
      const repo = yield* BatchesRepo
      const records = yield* BatchReadRepo
      const actor = yield* BatchEntity.client
      const shards = yield* BatchShards.make
      const dispatch = yield* BatchDispatch

      const wake = (ids: ReadonlyArray<EmailBatchId>) =>
        callEach(ids, (batchId) => actor(batchId).Wake(undefined, { discard: true }))

      /** Compiles the texts to send: those of the stored template as it is now, or of the request. */
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
        const from = yield* senderOf(mail)
        if (mail.from !== undefined) yield* domains.requireVerified(accountId, mail.from.address)
        const tracking = yield* domains.tracking(accountId, from.address)
        const links = (mail.track_clicks ?? tracking.clicks) && template.html !== undefined
          ? targetsOf(template.html)
          : null
        const total = mail.recipients.length
        const textBytes = source.html.length + (source.text?.length ?? 0)
        const is_small = isSmall({ recipients: total, textBytes })
        // Large batches spread over the nodes.
        const id = yield* (is_small ? shards.newOwnId : shards.newId)
        const batch = {
          id,
          account_id: accountId,
          from_address: from.address,
          from_name: from.name ?? null,
          ...source,
          track_opens: mail.track_opens ?? tracking.opens
        }
        const sendAtOnce = is_small ? yield* dispatch.admit({ id, account: accountId, recipients: total }) : undefined
        const queued = yield* transaction(Effect.gen(function*() {
          const { claimed, createdAt, queued } = yield* repo.insert({
            ...batch,
            shard: shards.shardOf(id),
            is_small,
            template_id: templateId,
            links,
            recipients: mail.recipients.map(({ to, variables }) => ({ to, variables: variables ?? {} })),
            isClaimed: sendAtOnce !== undefined
          })
          yield* quotas.reserve(accountId, "email", queued)
          const content = { ...batch, created_at: createdAt, is_open: true, links: links ?? [] }
          yield* afterCommit(
            queued === 0 || !is_small
              ? wake([id])
              : sendAtOnce === undefined
              ? dispatch.room.signal
              : sendAtOnce(content, claimed)
          )
          return queued
        }))
        const message = `${summaryOf({ total, queued })}. The event email.bulk_completed reports the end.`
        return {
          batch_id: id,
          total_recipients: total,
          status: "queued" as const,
          message,
          warnings: yield* warnings.ofBulk(accountId, mail.from?.address)
        }
      })

      const find = Effect.fn("BulkEmail.find")(function*(accountId: AccountId, batchId: EmailBatchId) {
        const batch = yield* records.find({ accountId, batchId })
        return Option.isSome(batch) ? batch.value : yield* new NotFound()
      })

      const complete = Effect.fn("BulkEmail.complete")(function*(batchId: EmailBatchId) {
        yield* repo.cancelQueued(batchId)
        const ended = yield* repo.complete(batchId)
        if (Option.isNone(ended)) return
        const { account_id, ...counts } = ended.value
        const data = { batch_id: batchId, ...counts }
        yield* events.publish([domainEvent({ accountId: account_id, event: "email.bulk_completed", data })])
      }, transaction)

      const cancel = Effect.fn("BulkEmail.cancel")(function*(accountId: AccountId, batchId: EmailBatchId) {
        const batch = yield* find(accountId, batchId)
        if (batch.completed_at !== null) return batch
        const byActor = yield* Effect.exit(Effect.timeout(actor(batchId).Cancel(), cancelTimeout))
        // The actor's node is dead or frozen: the claims that it had will be orphaned.
        if (Exit.isFailure(byActor)) yield* transaction(Effect.andThen(repo.cancel(batchId), complete(batchId)))
        return yield* find(accountId, batchId)
      })

      return BulkEmail.of({
        send,
        list: Effect.fn("BulkEmail.list")(function*(accountId, { sort, status = null }, window) {
          const filter = { accountId, sort, status, ...window }
          // Counting first guarantees that the page shows every batch that is counted.
          const { total } = yield* records.count(filter)
          return { rows: yield* records.list(filter), total }
        }),
        find,
        cancel,
        complete,
        wake,
        recipients: Effect.fn("BulkEmail.recipients")(function*({ accountId, batchId }, { status }, window) {
          yield* find(accountId, batchId)
          const filter = { batchId, status: status ?? null, ...window }
          const rows = yield* records.recipients(filter)
          return { rows, total: (yield* records.countRecipients(filter)).total }
        })
      })
    })
  ).pipe(Layer.provide([BatchesRepo.layer, BatchReadRepo.layer]))
}
