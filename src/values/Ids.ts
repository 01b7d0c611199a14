import { Schema } from "effect"

/** Integer ids are below 2^53, so that every JSON client reads them exactly. */
const id = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const digits = Schema.String.annotate({ format: "int64" }).check(Schema.isPattern(/^[1-9]\d{0,15}$/))

/** An integer id in a path. It has one spelling: `0x1`, `01`, `1.0` and ` 1` name nothing. */
export const pathId = <A extends number>(schema: Schema.Codec<A, number>) =>
  digits.pipe(Schema.decodeTo(Schema.FiniteFromString), Schema.decodeTo(schema))

export const AccountId = id.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

export const ApiKeyId = id.pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

export const WebhookId = id.pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

export const DeliveryId = id.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

export const EmailMessageId = id.pipe(Schema.brand("EmailMessageId"))
export type EmailMessageId = typeof EmailMessageId.Type

const ulid = "[0-9A-HJKMNP-TV-Z]{26}"

/** `evt_` + ULID: the same over all attempts and redeliveries, for receivers to deduplicate by. */
export const EventId = Schema.String.check(Schema.isPattern(new RegExp(`^evt_${ulid}$`))).pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

/** `email_batch_` + ULID (spec 2.5). */
export const EmailBatchId = Schema.String.check(Schema.isPattern(new RegExp(`^email_batch_${ulid}$`))).pipe(
  Schema.brand("EmailBatchId")
)
export type EmailBatchId = typeof EmailBatchId.Type
