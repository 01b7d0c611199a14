import { Context, Effect, Exit, Layer, Option } from "effect"
import type { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import type { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { domainEvent, Events } from "../../../events/Events.ts"
import { firstStatus, sendingOf } from "../../../messages/sendFields.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { compiledMail } from "../../../templates/CompiledTemplate.ts"
import { withCommonValues } from "../../../templates/Recipients.ts"
import { requireOfEach, requireValues } from "../../../templates/requireValues.ts"
import type { Template } from "../../../templates/Template.ts"
import { Templates } from "../../../templates/Templates.ts"
import { Quotas } from "../../../usage/Quotas.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { type TagFilter, tagsOf } from "../../../values/Labels.ts"
import { pluralize } from "../../../values/messageText.ts"
import type { PageOf, Sort, Window } from "../../../values/Page.ts"
import { isTest } from "../../../values/TestMode.ts"
import { MessageProgress } from "../recipients/MessageProgress.ts"
import { makeSenderOf } from "../request/DefaultSender.ts"
import { DeliverabilityWarnings } from "../request/DeliverabilityWarnings.ts"
import type { Mailbox } from "../request/Mailbox.ts"
import { measure } from "../request/MailFields.ts"
import { targetsOf } from "../tracking/track.ts"
import type { Batch, BatchRecipient } from "./Batch.ts"
import { BatchDispatch, isSmall } from "./BatchDispatch.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { BatchesRepo, type NewBatchRow, noHtml } from "./BatchesRepo.ts"
import { BatchReadRepo, type PlacedRecipient } from "./BatchReadRepo.ts"
import { BatchShards } from "./BatchShards.ts"
import type { AcceptedBatch, NewBatch } from "./BulkEmailApi.ts"

/** The longest wait for one actor. A call to a dead node's actor waits until another node has its shard. */
const wakeTimeout = "1 second"

/** Longer: without the actor's answer, recipients that it has claimed are still mailed. */
const cancelTimeout = "5 seconds"

const missing = (param: string, message: string) => ({ param, type: "missing", message })

/** Compiles the texts of a request without a stored template. */
const ownTexts = Effect.fnUntraced(function*({ html, subject, text }: NewBatch) {
  if (subject !== undefined && (html ?? text) !== undefined) {
    const { template } = yield* compiledMail({ subject, html, text })
    return { template, source: { subject, html: html ?? noHtml, text: text ?? null } }
  }
  const errors = [
    ...(subject === undefined ? [missing("subject", "is required unless template_id is given")] : []),
    ...((html ?? text) === undefined ? [missing("html", "is required unless text or template_id is given")] : [])
  ]
  return yield* new ValidationFailed({ param: errors[0]?.param ?? "", errors })
})

/** The most bytes of all mails of a batch. They are rendered, signed and sent one by one, for a request of 10 MiB. */
const maxBatchBytes = 250_000_000

/**
 * Refuses recipients whose values make a text or the batch too large: a few such mails would exhaust a node's memory. Answers
 * with the bytes of the largest mail.
 */
const requireFit = Effect.fnUntraced(function*(template: Template, recipients: NewBatch["recipients"]) {
  const measured = measure(template)
  let total = 0
  let largest = 0
  yield* requireOfEach(recipients, (variables) => {
    const { bytes, oversized } = measured(variables)
    total += bytes
    largest = Math.max(largest, bytes)
    return oversized && { type: "invalid", message: `must make ${oversized.part} ${oversized.limit} long` }
  })
  if (total > maxBatchBytes) {
    const limit = `must make at most ${maxBatchBytes} bytes of mail together`
    return yield* ValidationFailed.of("recipients", `${limit}, but make ${total}; send the rest in another request`)
  }
  return largest
})

interface NewBatchText {
  readonly from_address: EmailAddress
}

/** Summarises how many recipients are queued and how many are suppressed. */
const summaryOf = (
  { queued, status, total }: { readonly total: number; readonly queued: number; readonly status: string }
): string => {
  const summary = `${pluralize(queued, "email is", "emails are")} ${status}`
  return queued === total ? summary : `${summary}, ${pluralize(total - queued, "is", "are")} suppressed`
}

const callEach = <E>(ids: ReadonlyArray<EmailBatchId>, call: (batchId: EmailBatchId) => Effect.Effect<void, E>) =>
  Effect.forEach(ids, (batchId) => Effect.ignoreCause(Effect.timeoutOption(call(batchId), wakeTimeout)), {
    concurrency: "unbounded",
    discard: true
  })

/** Accepts, lists, cancels and runs batches of email (spec 2.5, 3.4, 4.3). */
export class BulkEmail extends Context.Service<BulkEmail, {
  /**
   * Validates the request and returns after the batch and its recipients are committed. `sender` replaces the one of the
   * request: that of an earlier batch.
   */
  readonly send: (
    accountId: AccountId,
    mail: NewBatch,
    sender?: Mailbox
  ) => Effect.Effect<AcceptedBatch, EmailQuotaExceeded | ValidationFailed | NotFound | SenderNotVerified>
  readonly list: (
    accountId: AccountId,
    filter: TagFilter & { readonly sort: Sort; readonly status?: Batch["status"] | undefined },
    window: Window
  ) => Effect.Effect<PageOf<Batch>>
  readonly find: (accountId: AccountId, batchId: EmailBatchId) => Effect.Effect<Batch, NotFound>
  /** Lists a batch's recipients in the order of the request. */
  readonly recipients: (
    batch: { readonly accountId: AccountId; readonly batchId: EmailBatchId },
    filter: { readonly status?: BatchRecipient["status"] | undefined },
    window: Window
  ) => Effect.Effect<PageOf<PlacedRecipient>, NotFound>
  /**
   * Cancels the recipients whose mail transaction has not begun, and returns the batch with its new counts. None begins
   * afterwards, unless the node that sends the batch does not answer.
   */
  readonly cancel: (accountId: AccountId, batchId: EmailBatchId) => Effect.Effect<Batch, NotFound>
  /**
   * Completes a batch whose recipients have all ended; in a canceled batch it first cancels the queued ones, and gives back
   * their quota. Publishes
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
      const progress = yield* MessageProgress
      const quotas = yield* Quotas
      const usage = yield* Usage
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

      /** Commits a batch, and has it sent at once. A scheduled one waits in the table. Returns how many are not suppressed. */
      const accept = Effect.fnUntraced(function*(batch: NewBatchText & Omit<NewBatchRow, "isClaimed">) {
        const { recipients, sending: { metadata, sendAt, tags }, ...texts } = batch
        const { account_id, id, is_small, links } = texts
        const sendAtOnce = is_small && sendAt === null
          ? yield* dispatch.admit({ id, account: account_id, recipients: recipients.length })
          : undefined
        return yield* transaction(Effect.gen(function*() {
          const { claimed, createdAt, queued } = yield* repo.insert({ ...batch, isClaimed: sendAtOnce !== undefined })
          yield* quotas.reserve(account_id, "email", queued)
          const suppressed = recipients.length - queued
          if (suppressed > 0) yield* progress.publishSuppressed(account_id, { batchId: id }, suppressed)
          yield* afterCommit(Effect.sync(() => MessageMetrics.accepted("email", isTest(account_id) ? 0 : queued)))
          if (sendAt !== null) return queued
          const given = { tags, metadata, send_at: null, links: links ?? [] }
          const content = { ...texts, ...given, created_at: createdAt, is_open: true }
          yield* afterCommit(
            queued === 0 || !is_small
              ? wake([id])
              : sendAtOnce === undefined
              ? dispatch.room.signal
              : sendAtOnce(content, claimed)
          )
          return queued
        }))
      })

      const send = Effect.fn("BulkEmail.send")(function*(accountId: AccountId, mail: NewBatch, sender?: Mailbox) {
        const sending = yield* sendingOf(mail)
        const { source, template, templateId } = yield* textsOf(accountId, mail)
        const recipients = withCommonValues(mail)
        yield* requireValues(template, recipients)
        const textBytes = yield* requireFit(template, recipients)
        const from = sender ?? (yield* senderOf(mail))
        const hasOwn = mail.from !== undefined
        const domain = yield* (hasOwn ? domains.requireVerified : domains.ofSender)(accountId, from.address)
        // Before the commit: a request that fails has stored nothing.
        const known = yield* warnings.ofBulk(hasOwn ? domain.warnings : undefined)
        const links = (mail.track_clicks ?? domain.track_clicks) && template.html !== undefined
          ? targetsOf(template.html)
          : null
        const total = recipients.length
        const is_small = isSmall({ account: accountId, recipients, textBytes })
        // Large batches spread over the nodes.
        const id = yield* (is_small ? shards.newOwnId : shards.newId)
        const batch = {
          id,
          account_id: accountId,
          from_address: from.address,
          from_name: from.name ?? null,
          ...source,
          track_opens: mail.track_opens ?? domain.track_opens,
          headers: mail.headers ?? null
        }
        const queued = yield* accept(
          {
            ...batch,
            sending,
            shard: shards.shardOf(id),
            is_small,
            template_id: templateId,
            links,
            recipients: recipients.map(({ to, variables }) => ({ to, variables: variables ?? {} }))
          }
        )
        const status = firstStatus(sending)
        const message = `${summaryOf({ total, queued, status })}. The event email.bulk_completed reports the end.`
        return {
          batch_id: id,
          total_recipients: total,
          status,
          send_at: sending.sendAt,
          message,
          warnings: known
        }
      })

      const find = Effect.fn("BulkEmail.find")(function*(accountId: AccountId, batchId: EmailBatchId) {
        const batch = yield* records.find({ accountId, batchId })
        return Option.isSome(batch) ? batch.value : yield* new NotFound()
      })

      const complete = Effect.fn("BulkEmail.complete")(function*(batchId: EmailBatchId) {
        const canceled = yield* repo.cancelQueued(batchId)
        if (Option.isSome(canceled)) {
          const { account_id: accountId, count, created_at: at } = canceled.value
          yield* usage.count([{ accountId, metric: "email", count: -count, at }])
          yield* progress.publishCanceled({ batchId })
        }
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
        list: Effect.fn("BulkEmail.list")((accountId, { sort, status = null, tag }, window) =>
          Query.windowOf(records, { accountId, sort, status, tags: tagsOf({ tag }), ...window })
        ),
        find,
        cancel,
        complete,
        wake,
        recipients: Effect.fn("BulkEmail.recipients")(function*({ accountId, batchId }, { status }, window) {
          yield* find(accountId, batchId)
          const filter = { batchId, status: status ?? null, ...window }
          return yield* Query.windowOf({ count: records.countRecipients, list: records.recipients }, filter)
        })
      })
    })
  ).pipe(Layer.provide([BatchesRepo.layer, BatchReadRepo.layer]))
}
