import { Context, Effect, Layer, Option, Result } from "effect"
import type { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import type { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { firstStatus, sendingOf } from "../../../messages/sendFields.ts"
import { ulid } from "../../../platform/crypto/ids.ts"
import type { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { compiledMail } from "../../../templates/CompiledTemplate.ts"
import { missingValues } from "../../../templates/requireValues.ts"
import * as Template from "../../../templates/Template.ts"
import { Templates } from "../../../templates/Templates.ts"
import { Quotas } from "../../../usage/Quotas.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { type TagFilter, tagsOf } from "../../../values/Labels.ts"
import type { PageOf, Sort, Window } from "../../../values/Page.ts"
import { isTest, modeOf } from "../../../values/TestMode.ts"
import { uniqueOf } from "../bulk/Batch.ts"
import { messageIdOf } from "../mime/compose.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { MessageProgress, subjectOf } from "../recipients/MessageProgress.ts"
import type { RecipientStatus } from "../recipients/MessageState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { makeSenderOf } from "../request/DefaultSender.ts"
import { DeliverabilityWarnings } from "../request/DeliverabilityWarnings.ts"
import type { Mailbox } from "../request/Mailbox.ts"
import { measure } from "../request/MailFields.ts"
import { fixedPart, targetsOf } from "../tracking/track.ts"
import type { Email, EmailContent, EmailMessageDetails, EmailRecipient } from "./Email.ts"
import type { AcceptedEmail, NewEmail } from "./EmailApi.ts"
import { EmailSender } from "./EmailSender.ts"
import { type Addressed, EmailsRepo, type Part, type StoredContent, type StoredRecord } from "./EmailsRepo.ts"

/** Filters for the list of emails. An absent field filters nothing. */
export interface MessageFilter extends TagFilter {
  readonly sort: Sort
  readonly status?: RecipientStatus | undefined
  readonly to?: string | undefined
  /** Inclusive. */
  readonly from_date?: string | undefined
  /** Exclusive. */
  readonly to_date?: string | undefined
  readonly batch_id?: EmailBatchId | undefined
}

interface WholeEmail {
  readonly email: EmailMessageDetails
  readonly content: EmailContent
}

type Refusal = ValidationFailed | NotFound | SenderNotVerified

interface EmailPreview {
  readonly from: Mailbox
  readonly recipients: ReadonlyArray<EmailAddress>
  readonly warnings: ReadonlyArray<string>
}

/** Returns each address once, in the first field that names it. Addresses are compared without case, as in suppressions. */
const recipientsOf = ({ bcc = [], cc = [], to }: NewEmail): ReadonlyArray<Addressed> => {
  const found = new Map<string, Addressed>()
  for (const [kind, addresses] of [["to", to], ["cc", cc], ["bcc", bcc]] as const) {
    for (const address of typeof addresses === "string" ? [addresses] : addresses) {
      const key = address.toLowerCase()
      if (!found.has(key)) found.set(key, { address, kind })
    }
  }
  return [...found.values()]
}

const shownTo = (recipients: ReadonlyArray<Addressed>): AcceptedEmail["to"] => {
  const to = recipients.filter(({ kind }) => kind === "to").map(({ address }) => address)
  return to.length === 1 ? to[0] ?? "" : to
}

/** Compiles the texts of a request without a stored template. */
const ownTexts = Effect.fnUntraced(function*({ html, subject, text }: NewEmail) {
  const has = { subject: subject !== undefined, html: html !== undefined || text !== undefined }
  if (has.html && subject !== undefined) return yield* compiledMail({ subject, html, text })
  const errors = [
    ...(has.subject ? [] : [{ param: "subject", type: "missing", message: "is required unless template_id is given" }]),
    ...(has.html
      ? []
      : [{ param: "html", type: "missing", message: "is required unless text or template_id is given" }])
  ]
  return yield* new ValidationFailed({ param: errors[0]?.param ?? "", errors })
})

const rendered = Effect.fnUntraced(function*(template: Template.Template, { variables = {} }: NewEmail) {
  const missing = missingValues(template, variables)
  if (missing !== undefined) return yield* ValidationFailed.of("variables", missing.message, missing.type)
  const { oversized } = measure(template)(variables)
  if (oversized !== undefined) {
    return yield* ValidationFailed.of(oversized.part, `must have ${oversized.limit} with its values filled in`)
  }
  return Template.render(template, variables)
})

const partsOf = ({ html, text }: Template.Rendered, { attachments = [] }: NewEmail): ReadonlyArray<Part> => [
  ...(html === undefined ? [] : [{ kind: "html" as const, content: Buffer.from(html) }]),
  ...(text === undefined ? [] : [{ kind: "text" as const, content: Buffer.from(text) }]),
  ...attachments.map((file) => ({ kind: "attachment" as const, ...file }))
]

const recordOf = (
  { batch_subject, copies: _, message_id: __, subject, variables, ...record }: StoredRecord
): Email => ({
  ...record,
  subject: batch_subject === null ? subject ?? "" : subjectOf(batch_subject, variables)
})

/** The texts of a batch's recipient. An email of another version may not compile: then they are the template's. */
const filledIn = ({ html, subject, text, variables }: StoredContent) => {
  const template = html === null && text === null
    ? Template.compile({ subject })
    : Template.compile({ subject, html, text })
  return Result.isSuccess(template) ? Template.render(template.success, variables) : { subject, html, text }
}

const mailbox = (address: EmailAddress, name: string | null): Mailbox => name === null ? { address } : { address, name }

const contentOf = (row: StoredContent): EmailContent => {
  const { from_address, from_name, is_template, parts, reply_to_address, reply_to_name, subject } = row
  const own = (kind: "html" | "text") => parts.find((part) => part.kind === kind)?.text
  const { html = null, text = null, ...rest } = is_template
    ? filledIn(row)
    : { subject, html: own("html"), text: own("text") }
  return {
    from: mailbox(from_address, from_name),
    reply_to: reply_to_address === null ? null : mailbox(reply_to_address, reply_to_name),
    ...rest,
    html,
    text,
    attachments: parts.filter(({ kind }) => kind === "attachment").map(({ content_type, filename, size }) => ({
      content_type,
      filename,
      size
    }))
  }
}

/** The recipient of an email to one address. */
const onlyRecipient = (email: Email): EmailRecipient => {
  const { bounce_type, clicked_at, clicks, delivered_at, error, opened_at, opens, sent_at, status, to } = email
  const progress = { status, bounce_type, error, sent_at, delivered_at, opened_at, clicked_at }
  return { to: String(to), kind: "to", opens, clicks, ...progress }
}

/** Accepts single emails (spec 9), and reads the records of all emails. Each recipient of a batch has a record. */
export class Emails extends Context.Service<Emails, {
  /** Validates the request and returns after the email and a copy of its content are committed. */
  readonly send: (
    accountId: AccountId,
    email: NewEmail,
    /** The seed of a one-time code, if the texts have a mask for one. The stored copy keeps the mask. */
    seed?: CodeSeed
  ) => Effect.Effect<AcceptedEmail, EmailQuotaExceeded | Refusal>
  /** What a request would send now, refused as `send` refuses it, but for the quota. It sends nothing. */
  readonly preview: (accountId: AccountId, email: NewEmail) => Effect.Effect<EmailPreview, Refusal>
  readonly list: (
    accountId: AccountId,
    filter: MessageFilter,
    window: Window
  ) => Effect.Effect<PageOf<Email>>
  readonly find: (accountId: AccountId, id: EmailMessageId) => Effect.Effect<EmailMessageDetails, NotFound>
  /** What an email says. Texts that are no longer kept are null. */
  readonly content: (accountId: AccountId, id: EmailMessageId) => Effect.Effect<EmailContent, NotFound>
  /** Both, by fewer statements. */
  readonly read: (accountId: AccountId, id: EmailMessageId) => Effect.Effect<WholeEmail, NotFound>
}>()("messaging-service/channels/email/single/Emails") {
  static readonly layer = Layer.effect(
    Emails,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const domains = yield* EmailDomains
      const progress = yield* MessageProgress
      const quotas = yield* Quotas
      const warnings = yield* DeliverabilityWarnings
      const templates = yield* Templates
      const senderOf = yield* makeSenderOf
      const sender = yield* EmailSender
      const paths = yield* ReturnPaths
      const { noteSingleEmail } = yield* BulkThrottle
      const repo = yield* EmailsRepo

      /** Compiles the email's template, and returns the id of the stored one if the request names one. */
      const templateOf = Effect.fnUntraced(function*(accountId: AccountId, email: NewEmail) {
        if (email.template_id === undefined) return { ...(yield* ownTexts(email)), id: null }
        const own = email.html !== undefined ? "html" : email.text !== undefined ? "text" : undefined
        if (own !== undefined) return yield* ValidationFailed.of(own, "must be left out when template_id is given")
        const stored = yield* templates.require(accountId, email.template_id)
        if (email.subject === undefined) return stored
        return { ...(yield* compiledMail({ ...stored.source, subject: email.subject })), id: stored.id }
      })

      /** Checks a request as far as its texts, its sender and its time decide. What it reads stays as it is. */
      const checked = Effect.fnUntraced(function*(accountId: AccountId, email: NewEmail, isOwnText: boolean) {
        const sending = yield* sendingOf(email)
        const { id: templateId, template } = yield* templateOf(accountId, email)
        const texts = yield* rendered(template, email)
        const from = yield* senderOf(email, isOwnText)
        const hasOwn = email.from !== undefined
        const domain = yield* (hasOwn ? domains.requireVerified : domains.ofSender)(accountId, from.address)
        return {
          sending,
          templateId,
          texts,
          from,
          domain,
          recipients: recipientsOf(email),
          warnings: yield* warnings.ofSender(hasOwn ? domain.warnings : undefined)
        }
      })

      const preview = Effect.fn("Emails.preview")(function*(accountId: AccountId, email: NewEmail) {
        const { from, recipients, warnings } = yield* checked(accountId, email, false)
        return { from, recipients: recipients.map(({ address }) => address), warnings }
      })

      const send = Effect.fn("Emails.send")(function*(accountId: AccountId, email: NewEmail, seed?: CodeSeed) {
        const accepted = yield* checked(accountId, email, seed !== undefined)
        const { domain, from, recipients, sending, templateId, texts } = accepted
        const parts = partsOf(texts, email)
        const links = (email.track_clicks ?? domain.track_clicks) && texts.html !== undefined
          ? targetsOf(fixedPart(texts.html))
          : null
        const { id, queued } = yield* transaction(
          repo.insert({
            accountId,
            recipients,
            from,
            replyTo: email.reply_to,
            subject: texts.subject,
            templateId,
            messageId: (yield* ulid).toLowerCase(),
            trackOpens: email.track_opens ?? domain.track_opens,
            links,
            parts,
            headers: email.headers,
            sending,
            codeSeed: seed
          }).pipe(
            Effect.tap((stored) => quotas.reserve(accountId, "email", stored.queued)),
            Effect.tap((stored) =>
              stored.queued === recipients.length
                ? Effect.void
                : progress.publishSuppressed(
                  accountId,
                  { emailId: stored.id },
                  recipients.length - stored.queued
                )
            ),
            Effect.tap((stored) =>
              afterCommit(
                Effect.andThen(
                  Effect.sync(() => MessageMetrics.accepted("email", isTest(accountId) ? 0 : stored.queued)),
                  sender.wake(modeOf(accountId))
                )
              )
            )
          )
        )
        yield* noteSingleEmail(accountId)
        return {
          id,
          message_id: id,
          to: shownTo(recipients),
          status: queued > 0 ? firstStatus(sending) : "suppressed" as const,
          send_at: sending.sendAt,
          warnings: accepted.warnings
        }
      })

      const messageIdIn = ({ batch_id, copies, from, id, message_id }: StoredRecord) => {
        const unique = batch_id === null ? message_id : uniqueOf(batch_id)
        return unique === null
          ? null
          : messageIdOf({ from, token: copies === null ? paths.tokenOf(id) : undefined, unique })
      }

      const detailsOf = Effect.fnUntraced(function*(row: StoredRecord) {
        const email = recordOf(row)
        return {
          ...email,
          internet_message_id: messageIdIn(row),
          recipients: row.copies === null ? [onlyRecipient(email)] : yield* repo.recipients(row.id)
        }
      })

      return Emails.of({
        send,
        preview,
        list: Effect.fn("Emails.list")(function*(accountId, filter, window) {
          const { batch_id = null, from_date = null, sort, status = null, to = null, to_date = null } = filter
          const tags = tagsOf(filter)
          const query = { accountId, batch_id, from_date, sort, status, tags, to, to_date, ...window }
          const { rows, total } = yield* Query.windowOf(repo, query)
          return { rows: rows.map(recordOf), total }
        }),
        find: Effect.fn("Emails.find")(function*(accountId, id) {
          const row = Option.getOrUndefined(yield* repo.find({ accountId, id }))
          return row === undefined ? yield* new NotFound() : yield* detailsOf(row)
        }),
        content: Effect.fn("Emails.content")(function*(accountId, id) {
          const row = Option.getOrUndefined(yield* repo.content({ accountId, id }))
          return row === undefined ? yield* new NotFound() : contentOf(row)
        }),
        read: Effect.fn("Emails.read")(function*(accountId, id) {
          const row = Option.getOrUndefined(yield* repo.whole({ accountId, id }))
          if (row === undefined) return yield* new NotFound()
          const { content, ...record } = row
          return { email: yield* detailsOf(record), content: contentOf(content) }
        })
      })
    })
  ).pipe(Layer.provide(EmailsRepo.layer))
}
