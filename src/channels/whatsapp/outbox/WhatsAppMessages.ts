import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import { BatchResends, contentGone, type FailedMessage } from "../../../messages/BatchResends.ts"
import type { MessageBatch } from "../../../messages/Message.ts"
import { firstStatus, sendingOf } from "../../../messages/sendFields.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { ulid } from "../../../platform/crypto/ids.ts"
import type { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { withCommonValues } from "../../../templates/Recipients.ts"
import { parseHttpsUrl } from "../../../values/HttpsUrl.ts"
import { type AccountId, MessageBatchId, type MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { pluralize } from "../../../values/messageText.ts"
import { mediaMismatch } from "../content/media.ts"
import {
  isMedia,
  isMediaType,
  MessageType,
  readContent,
  storedContent,
  type WhatsAppContent
} from "../content/MessageContent.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"
import { GroupDirectory, ReceivedMessages } from "../socket/MessageTraffic.ts"
import { bulkContents } from "./bulkContents.ts"
import * as MessageAcceptance from "./MessageAcceptance.ts"
import { AcceptedRepo, type NewRow } from "./MessageAcceptance.ts"
import type { AcceptedMessage, AcceptedMessageBatch, NewMessage, NewMessageBatch } from "./MessagesApi.ts"
import { OutboxRepo } from "./OutboxRepo.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"

type Refusal = ValidationFailed | NotFound | SessionNotConnected

const missingTarget = ValidationFailed.of("to", "is required unless group_id is given", "missing")
const twoTargets = ValidationFailed.of("group_id", "must be left out when to is given")

const base64Of = (message: WhatsAppContent) => isMedia(message) ? message.content.base64 : undefined

const decodeType = Schema.decodeUnknownEffect(MessageType)

/** A new, random id at WhatsApp, in the form of WhatsApp's own web client. */
const newMessageId = Effect.sync(() => `3EB0${NodeCrypto.randomBytes(9).toString("hex").toUpperCase()}`)

/** Accepts WhatsApp messages (spec 9). */
export class WhatsAppMessages extends Context.Service<WhatsAppMessages, {
  /**
   * Succeeds once the message is committed. A text with a one-time code has a mask in its place and comes with the code's
   * seed, so the stored message never contains the code.
   */
  readonly send: (
    accountId: AccountId,
    message: NewMessage,
    codeSeed?: CodeSeed
  ) => Effect.Effect<AcceptedMessage, Refusal>
  /** Cancels a message that the sender has not begun. False if it is too late. */
  readonly withdraw: (id: MessageId) => Effect.Effect<boolean>
  /** Checks what needs no connected session: the type and its content. */
  readonly check: (message: Pick<NewMessage, "type" | "content">) => Effect.Effect<void, ValidationFailed>
  /** The oldest of the account's sessions that are connected. */
  readonly firstConnected: (accountId: AccountId) => Effect.Effect<Option.Option<WhatsAppSessionId>>
  /** Sends an ended batch again to the recipients whose message failed. Once. */
  readonly resend: (accountId: AccountId, batchId: MessageBatchId) => Effect.Effect<MessageBatch, Refusal>
  /** Accepts all messages of the batch, or none. */
  readonly sendBulk: (accountId: AccountId, batch: NewMessageBatch) => Effect.Effect<AcceptedMessageBatch, Refusal>
}>()("messaging-service/channels/whatsapp/outbox/WhatsAppMessages") {
  static readonly layer = Layer.effect(
    WhatsAppMessages,
    Effect.gen(function*() {
      const { whatsappMediaAllowLoopback } = yield* AppConfig
      const repo = yield* AcceptedRepo
      const outbox = yield* OutboxRepo
      const acceptance = yield* MessageAcceptance.make
      const groups = yield* GroupDirectory
      const received = yield* ReceivedMessages
      const updates = yield* OutboxStatusUpdates
      const resends = yield* BatchResends

      const connected = Effect.fnUntraced(function*(accountId: AccountId, id: WhatsAppSessionId) {
        const row = yield* acceptance.session({ accountId, id })
        if (row === undefined) return yield* new NotFound({ param: "session_id" })
        const { pairing, phone_number, status } = row
        if (status !== "connected") return yield* new SessionNotConnected({ session_status: status })
        return { pairing, sender: phone_number === null ? null : `+${phone_number}` }
      })

      const chatOf = Effect.fnUntraced(function*({ group_id, session_id, to }: NewMessage) {
        if (to !== undefined) return group_id === undefined ? to : yield* twoTargets
        if (group_id === undefined) return yield* missingTarget
        const chat = yield* groups.find(session_id, group_id)
        return chat ?? (yield* new NotFound({ param: "group_id" }))
      })

      const checked = Effect.fnUntraced(function*(type: MessageType, input: unknown) {
        const content = readContent(type, input)
        if (Result.isFailure(content)) {
          return yield* new ValidationFailed({ param: content.failure[0]?.param ?? "content", errors: content.failure })
        }
        const message = content.success
        if (isMedia(message) && message.content.url !== undefined) {
          // WEBHOOK_ALLOW_LOOPBACK does not apply: recipients read the file, so its URL must not reach this machine.
          const rules = { allowLoopback: whatsappMediaAllowLoopback, example: "https://example.com/photo.jpg" }
          const url = parseHttpsUrl(message.content.url, rules)
          if (Result.isFailure(url)) {
            return yield* ValidationFailed.of("content.url", url.failure.message, url.failure.kind)
          }
        }
        if (isMedia(message) && message.content.base64 !== undefined) {
          const { base64, mime_type: declared } = message.content
          const mismatch = mediaMismatch(message.type, Buffer.from(base64, "base64"), declared)
          if (mismatch !== undefined) return yield* ValidationFailed.of(`content.${mismatch.field}`, mismatch.message)
        }
        return message
      })

      /** A reaction must go to the chat of its message: WhatsApp delivers it to another chat, but shows it to no one. */
      const checkReaction = Effect.fnUntraced(function*(
        sessionId: WhatsAppSessionId,
        message: WhatsAppContent,
        chats: ReadonlyArray<string>
      ) {
        if (message.type !== "reaction") return
        const { message_id: messageId } = message.content
        const own = yield* outbox.quoted({ sessionId, messageId })
        if (Option.isNone(own) && (yield* received.find(sessionId, messageId)) === undefined) {
          const message = "must be a message that this session has sent or received"
          return yield* ValidationFailed.of("content.message_id", message)
        }
        const chat = Option.getOrUndefined(yield* outbox.chatOf({ sessionId, messageId }))?.chat ??
          undefined
        if (chat !== undefined && chats.some((to) => to !== chat)) {
          return yield* ValidationFailed.of(
            "content.message_id",
            "must be a message of the chat that the reaction goes to"
          )
        }
      })

      const send = Effect.fn("WhatsAppMessages.send")(function*(
        accountId: AccountId,
        asked: NewMessage,
        codeSeed?: CodeSeed
      ) {
        const { session_id: sessionId, type = "text" } = asked
        const sending = yield* sendingOf(asked)
        const { pairing, sender } = yield* connected(accountId, sessionId)
        const to = yield* chatOf(asked)
        const message = yield* checked(type, asked.content)
        yield* checkReaction(sessionId, message, [to])
        const messageId = yield* acceptance.one({
          accountId,
          sessionId,
          pairing,
          sender,
          to,
          type,
          content: storedContent(message),
          whatsappId: yield* newMessageId,
          fileId: null,
          batchId: null,
          delayMs: 0,
          codeSeed: codeSeed ?? null,
          sending
        }, base64Of(message))
        const shown = { status: firstStatus(sending), send_at: sending.sendAt }
        return { id: messageId, message_id: messageId, session_id: sessionId, to, type, ...shown }
      })

      const sendBulk = Effect.fn("WhatsAppMessages.sendBulk")(function*(accountId: AccountId, asked: NewMessageBatch) {
        const { delay_ms: delayMs = 0, session_id: sessionId, type = "text" } = asked
        const sending = yield* sendingOf(asked)
        const recipients = withCommonValues(asked)
        const { pairing, sender } = yield* connected(accountId, sessionId)
        const message = yield* checked(type, asked.content)
        yield* checkReaction(sessionId, message, recipients.map(({ to }) => to))
        const contents = yield* bulkContents(message, recipients)
        const batchId = MessageBatchId.make(`whatsapp_batch_${yield* ulid}`)
        const common = {
          accountId,
          sessionId,
          pairing,
          sender,
          type,
          batchId,
          delayMs,
          fileId: null,
          codeSeed: null,
          sending
        }
        const rows = yield* Effect.forEach(
          recipients,
          ({ to }, index) =>
            Effect.map(newMessageId, (whatsappId): NewRow => ({
              ...common,
              to,
              whatsappId,
              content: contents[index] ?? storedContent(message)
            }))
        )
        yield* acceptance.batch({ id: batchId, accountId, sending }, rows, base64Of(message))
        const total = rows.length
        return {
          batch_id: batchId,
          total_recipients: total,
          status: firstStatus(sending),
          send_at: sending.sendAt,
          message: `${pluralize(total, "message is", "messages are")} ${firstStatus(sending)}; `
            + `GET /v1/whatsapp/batches/${batchId} counts them.`
        }
      })

      const resend = Effect.fn("WhatsAppMessages.resend")((accountId: AccountId, batchId: MessageBatchId) =>
        resends.resend(
          { accountId, channel: "whatsapp" },
          batchId,
          Effect.fnUntraced(function*(failed, sending) {
            const sessionId = WhatsAppSessionId.make(failed[0]?.session_id ?? 0)
            const { pairing, sender } = yield* connected(accountId, sessionId)
            const { delayMs } = yield* repo.delayOf({ accountId, id: batchId })
            const made = MessageBatchId.make(`whatsapp_batch_${yield* ulid}`)
            const common = {
              accountId,
              sessionId,
              pairing,
              sender,
              batchId: made,
              delayMs,
              fileId: null,
              codeSeed: null,
              sending
            }
            const rowOf = Effect.fnUntraced(function*({ content, to, type: stored }: FailedMessage) {
              const type = yield* Effect.orDie(decodeType(stored))
              // A file that came with the request is deleted once it is sent.
              if (isMediaType(type) && content["url"] === undefined) return yield* contentGone
              const row: NewRow = { ...common, type, to, content, whatsappId: yield* newMessageId }
              return row
            })
            const rows = yield* Effect.forEach(failed, rowOf)
            yield* acceptance.batch({ id: made, accountId, sending }, rows, undefined)
            return made
          })
        )
      )

      return WhatsAppMessages.of({
        send,
        resend,
        withdraw: updates.cancelOne,
        check: ({ content, type = "text" }) => Effect.asVoid(checked(type, content)),
        sendBulk,
        firstConnected: (accountId) => Effect.map(repo.firstConnected(accountId), Option.map(({ id }) => id))
      })
    })
  ).pipe(Layer.provide([AcceptedRepo.layer, OutboxRepo.layer, BatchResends.layer]))
}
