import { Context, Effect, Layer } from "effect"
import { BatchResends, senderGone } from "../../messages/BatchResends.ts"
import type { MessageBatch } from "../../messages/Message.ts"
import { firstStatus, sendingOf } from "../../messages/sendFields.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { ulid } from "../../platform/crypto/ids.ts"
import type { CodeSeed } from "../../platform/crypto/oneTimeCode.ts"
import { Database } from "../../platform/database/Database.ts"
import { type NotFound, type PlanLimitExceeded, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Prices } from "../../pricing/Prices.ts"
import { dollars } from "../../pricing/SmsPrice.ts"
import { compiledText } from "../../templates/CompiledTemplate.ts"
import { withCommonValues } from "../../templates/Recipients.ts"
import { requireValues } from "../../templates/requireValues.ts"
import * as Template from "../../templates/Template.ts"
import { type AccountId, MessageBatchId, type MessageId } from "../../values/Ids.ts"
import { pluralize } from "../../values/messageText.ts"
import { countryOf, type PhoneNumber, StoredPhoneNumber } from "../../values/PhoneNumber.ts"
import { isTest } from "../../values/TestMode.ts"
import { PartStatusUpdates } from "./parts/PartStatusUpdates.ts"
import { SmsOutlet } from "./parts/SmsOutlet.ts"
import * as SmsAcceptance from "./SmsAcceptance.ts"
import type { AcceptedSms, AcceptedSmsBatch, NewSms, NewSmsBatch, PreviewedSms, SmsPreview } from "./SmsApi.ts"
import { UnsupportedDestination } from "./SmsErrors.ts"
import { SmsRepo, type StoredSms } from "./SmsRepo.ts"
import { maxSegments, maxTextLength, segment } from "./text/segments.ts"

type SmsRefusal = ValidationFailed | UnsupportedDestination
type Refusal = SmsRefusal | PlanLimitExceeded

/** A text with its recipient, and the request parameters that they come from. */
interface RequestedSms {
  readonly to: PhoneNumber
  readonly content: string
  readonly codeSeed?: CodeSeed | undefined
  readonly params: { readonly to: string; readonly content: string }
}

/** The parameters of a request for one SMS. */
const ofOne = { to: "to", content: "content" }

/** Renders the text of each recipient of a batch. */
const textsOf = Effect.fnUntraced(function*(batch: NewSmsBatch) {
  const template = yield* compiledText(batch.content, "content")
  const recipients = withCommonValues(batch)
  yield* requireValues(template, recipients)
  return yield* Effect.forEach(recipients, ({ to, variables = {} }, index) => {
    const params = { to: `recipients[${index}].to`, content: `recipients[${index}].variables` }
    // Measured before rendering, because values can make a text of any size.
    return Template.lengths(template, variables).text > maxTextLength
      ? Effect.fail(ValidationFailed.of(params.content, `must make a text of at most ${maxTextLength} characters`))
      : Effect.succeed<RequestedSms>({ to, content: Template.render(template, variables).text ?? "", params })
  })
})

/** Accepts SMS (spec 9, 8). */
export class SmsMessages extends Context.Service<SmsMessages, {
  /**
   * Accepts a message once it is committed with its price and its parts. A text with a mask for a code needs the code's
   * seed; the stored text keeps the mask.
   */
  readonly send: (accountId: AccountId, sms: NewSms, codeSeed?: CodeSeed) => Effect.Effect<AcceptedSms, Refusal>
  /** What an SMS would be and cost now. It sends nothing. */
  readonly preview: (accountId: AccountId, sms: PreviewedSms) => Effect.Effect<SmsPreview, SmsRefusal>
  /** Accepts all messages, or none. */
  readonly sendBulk: (accountId: AccountId, batch: NewSmsBatch) => Effect.Effect<AcceptedSmsBatch, Refusal>
  /** Sends an ended batch again to the numbers whose message failed. Once. */
  readonly resend: (accountId: AccountId, batchId: MessageBatchId) => Effect.Effect<MessageBatch, NotFound | Refusal>
  /** Cancels a message in the caller's transaction, if none of its parts is claimed or was. False if it is too late. */
  readonly withdraw: (id: MessageId) => Effect.Effect<boolean>
  /** Cancels a message if the submit of none of its parts has begun. It waits for other nodes, so never in a transaction. */
  readonly cancelOne: (id: MessageId) => Effect.Effect<boolean>
  /** Cancels those messages of a batch whose submit has not begun. It waits likewise. */
  readonly cancel: (batchId: MessageBatchId) => Effect.Effect<void>
  /** The operator's sender ids; the first is the default. */
  readonly senderIds: ReadonlyArray<string>
}>()("messaging-service/channels/sms/SmsMessages") {
  static readonly layer = Layer.effect(
    SmsMessages,
    Effect.gen(function*() {
      const { smsSenderIds: senderIds = [] } = yield* AppConfig
      const prices = yield* Prices
      const outlet = yield* SmsOutlet
      const { waitWithoutConnection } = yield* Database
      const updates = yield* PartStatusUpdates
      const accept = yield* SmsAcceptance.make
      const resends = yield* BatchResends

      const senderOf = ({ sender_id }: { readonly sender_id?: string }) =>
        sender_id === undefined || senderIds.length === 0 || senderIds.includes(sender_id)
          ? Effect.succeed(sender_id ?? senderIds[0] ?? null)
          : Effect.fail(ValidationFailed.of("sender_id", "must be listed by GET /v1/sms/sender-ids"))

      const stored = Effect.fnUntraced(function*(
        accountId: AccountId,
        { codeSeed, content, params, to }: RequestedSms
      ): Effect.fn.Return<StoredSms, SmsRefusal> {
        const country = countryOf(to)
        const price = country === undefined ? undefined : yield* prices.of(country)
        if (price === undefined) {
          return yield* new UnsupportedDestination({ param: params.to, country: country ?? null })
        }
        if (content === "") return yield* ValidationFailed.of(params.content, "must not make an empty text")
        const { encoding, parts } = segment(content)
        if (parts.length > maxSegments) {
          const message = `must fit into ${maxSegments} segments, but takes ${parts.length}`
          return yield* ValidationFailed.of(params.content, message, "too_many_segments")
        }
        return {
          to,
          content,
          encoding,
          segments: parts.length,
          cost_micros: isTest(accountId) ? 0 : price * parts.length,
          parts: outlet.takes === "segments" ? parts : [content],
          codeSeed
        }
      })

      const send = Effect.fn("SmsMessages.send")(function*(accountId: AccountId, sms: NewSms, codeSeed?: CodeSeed) {
        const sending = yield* sendingOf(sms)
        const sender = yield* senderOf(sms)
        const message = yield* stored(accountId, { ...sms, codeSeed, params: ofOne })
        const request = { accountId, sender, batchId: null, messages: [message], sending }
        const { cost_usd, ids: [first], segments } = yield* accept(request)
        if (first === undefined) return yield* Effect.die("an insert of one row returned none")
        const shown = { status: firstStatus(sending), send_at: sending.sendAt, segments, cost_usd }
        return { id: first, message_id: first, to: message.to, ...shown }
      })

      const preview = Effect.fn("SmsMessages.preview")(function*(accountId: AccountId, sms: PreviewedSms) {
        const sender_id = yield* senderOf(sms)
        const { cost_micros, encoding, segments, to } = yield* stored(accountId, { ...sms, params: ofOne })
        return { to, sender_id, encoding, segments, cost_usd: dollars(cost_micros) }
      })

      const sendBulk = Effect.fn("SmsMessages.sendBulk")(function*(accountId: AccountId, batch: NewSmsBatch) {
        const sending = yield* sendingOf(batch)
        const sender = yield* senderOf(batch)
        const messages = yield* Effect.forEach(yield* textsOf(batch), (sms) => stored(accountId, sms))
        const batchId = MessageBatchId.make(`sms_batch_${yield* ulid}`)
        const { cost_usd, segments } = yield* accept({
          accountId,
          sender,
          batchId,
          messages,
          sending
        })
        const total = messages.length
        const status = firstStatus(sending)
        return {
          batch_id: batchId,
          total_recipients: total,
          status,
          send_at: sending.sendAt,
          message: `${
            pluralize(total, "message is", "messages are")
          } ${status}; GET /v1/sms/batches/${batchId} counts them.`,
          segments,
          cost_usd
        }
      })

      const resend = Effect.fn("SmsMessages.resend")((accountId: AccountId, batchId: MessageBatchId) =>
        resends.resend(
          { accountId, channel: "sms" },
          batchId,
          Effect.fnUntraced(function*(failed, sending) {
            const from = failed[0]?.from ?? null
            const sender = yield* Effect.mapError(senderOf(from === null ? {} : { sender_id: from }), () => senderGone)
            const params = { to: "batch_id", content: "batch_id" }
            const messages = yield* Effect.forEach(failed, ({ content, to }) =>
              stored(accountId, { to: StoredPhoneNumber.make(to), content: content.body, params }))
            const made = MessageBatchId.make(`sms_batch_${yield* ulid}`)
            yield* accept({ accountId, sender, batchId: made, messages, sending })
            return made
          })
        )
      )

      return SmsMessages.of({
        send,
        preview,
        sendBulk,
        resend,
        cancel: (batchId) => waitWithoutConnection(outlet.cancel(batchId)),
        cancelOne: (id) => waitWithoutConnection(outlet.cancelOne(id)),
        withdraw: (id) => updates.cancelOne(id, Effect.void),
        senderIds
      })
    })
  ).pipe(Layer.provide([SmsRepo.layer, BatchResends.layer]))
}
