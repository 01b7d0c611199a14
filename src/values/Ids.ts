import { Schema } from "effect"

/** Integer ids are below 2^53, so that every JSON client reads them exactly. */
const id = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const digits = Schema.String.annotate({ format: "int64" }).check(
  Schema.isPattern(/^[1-9]\d{0,15}$/, { message: "must be a whole number from 1 on" })
)

/** An integer id in a path. Only one spelling is valid: not `0x1`, `01`, `1.0` or ` 1`. */
export const pathId = <A extends number>(schema: Schema.Codec<A, number>) =>
  digits.pipe(Schema.decodeTo(Schema.FiniteFromString), Schema.decodeTo(schema))

/** The shadow account of test keys has the id of its owner's with a minus. */
export const AccountId = Schema.Int.check(
  Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
).pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

export const ApiKeyId = id.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const LoginSessionId = id.pipe(Schema.brand("LoginSessionId"))
export type LoginSessionId = typeof LoginSessionId.Type

export const PersonId = id.pipe(Schema.brand("PersonId"))
export type PersonId = typeof PersonId.Type

export const EmailChangeId = id.pipe(Schema.brand("EmailChangeId"))
export type EmailChangeId = typeof EmailChangeId.Type

export const WebhookId = id.pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const DeliveryId = id.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

export const RecoveryId = id.pipe(Schema.brand("RecoveryId"))
export type RecoveryId = typeof RecoveryId.Type

export const EmailMessageId = id.pipe(Schema.brand("EmailMessageId"))
export type EmailMessageId = typeof EmailMessageId.Type

export const EmailDomainId = id.pipe(Schema.brand("EmailDomainId"))
export type EmailDomainId = typeof EmailDomainId.Type

export const NoticeId = id.pipe(Schema.brand("NoticeId"))
export type NoticeId = typeof NoticeId.Type

export const WhatsAppSessionId = id.pipe(Schema.brand("WhatsAppSessionId"))
export type WhatsAppSessionId = typeof WhatsAppSessionId.Type

const ulid = "[0-9A-HJKMNP-TV-Z]{26}"

/** A prefix and a ULID. The message shows an example with the first prefix. */
const prefixed = (prefixes: readonly [string, ...ReadonlyArray<string>], what: string) => {
  const pattern = prefixes.length === 1 ? prefixes[0] : `(${prefixes.join("|")})`
  const message = `must be the id of ${what}, such as ${prefixes[0]}_01ARZ3NDEKTSV4RRFFQ69G5FAV`
  return Schema.String.check(Schema.isPattern(new RegExp(`^${pattern}_${ulid}$`), { message }))
}

/** `evt_` + ULID: identical in all attempts and redeliveries, so that receivers can deduplicate. */
export const EventId = prefixed(["evt"], "an event").pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

/** `email_batch_` + ULID (spec 2.5). */
export const EmailBatchId = prefixed(["email_batch"], "an email batch").pipe(Schema.brand("EmailBatchId"))
export type EmailBatchId = typeof EmailBatchId.Type

/** A message of WhatsApp or SMS. */
export const MessageId = id.pipe(Schema.brand("MessageId"))
export type MessageId = typeof MessageId.Type

/** `sms_batch_` or `whatsapp_batch_` + ULID. */
export const MessageBatchId = prefixed(["sms_batch", "whatsapp_batch"], "a batch").pipe(Schema.brand("MessageBatchId"))
export type MessageBatchId = typeof MessageBatchId.Type

/** `ver_` + ULID. */
export const VerificationId = prefixed(["ver"], "a verification").pipe(Schema.brand("VerificationId"))
export type VerificationId = typeof VerificationId.Type

/** `msg_` + ULID: a message with steps over several channels. */
export const FailoverId = prefixed(["msg"], "a message with failover").pipe(Schema.brand("FailoverId"))
export type FailoverId = typeof FailoverId.Type

/** `tmpl_` + ULID (spec 9). */
export const TemplateId = prefixed(["tmpl"], "a template").pipe(Schema.brand("TemplateId"))
export type TemplateId = typeof TemplateId.Type

/** The deprecated integer id of a template, which stays accepted. */
export const TemplateNumber = id.pipe(Schema.brand("TemplateNumber"))
export type TemplateNumber = typeof TemplateNumber.Type

/** A template's id in a path. */
export const templatePathId = Schema.Union([TemplateId, pathId(TemplateNumber)])

export const TemplateVersionId = id.pipe(Schema.brand("TemplateVersionId"))
export type TemplateVersionId = typeof TemplateVersionId.Type

/** A template by either id. */
export type TemplateRef = TemplateId | TemplateNumber
