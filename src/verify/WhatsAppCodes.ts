import { Effect, Option, Schema } from "effect"
import { ChatName } from "../channels/whatsapp/content/MessageContent.ts"
import { WhatsAppMessages } from "../channels/whatsapp/outbox/WhatsAppMessages.ts"
import { Messages } from "../messages/Messages.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { MessageId, WhatsAppSessionId } from "../values/Ids.ts"
import { codeText } from "./codeText.ts"
import { codeStatusOf, type VerifyChannel } from "./VerifyChannel.ts"
import { ChannelUnavailable } from "./VerifyErrors.ts"

const unavailable = new ChannelUnavailable({ channel: "whatsapp" })

/** Sends codes by WhatsApp, with the requested session or the account's first connected one. */
export const make = Effect.gen(function*() {
  const whatsapp = yield* WhatsAppMessages
  const messages = yield* Messages
  return {
    send: Effect.fn("WhatsAppCodes.send")(function*({ accountId, seed, sessionId, to, words }) {
      if (to.kind !== "phone") return yield* ValidationFailed.of("to", "must be a phone number")
      const session_id = sessionId === null
        ? Option.getOrUndefined(yield* whatsapp.firstConnected(accountId))
        : WhatsAppSessionId.make(sessionId)
      if (session_id === undefined) return yield* unavailable
      const chat = yield* Effect.orDie(Schema.decodeEffect(ChatName)(to.address))
      const message = { session_id, to: chat, content: codeText(words) }
      const { message_id } = yield* whatsapp.send(accountId, message, seed).pipe(
        Effect.catchTags({
          NotFound: () => ValidationFailed.of("session_id", "must be one of your WhatsApp sessions"),
          SessionNotConnected: () => Effect.fail(unavailable)
        })
      )
      return message_id
    }),
    statusOf: (accountId, messageId) =>
      codeStatusOf(messages.find({ accountId, channel: "whatsapp" }, MessageId.make(messageId))),
    withdraw: (messageId) => whatsapp.withdraw(MessageId.make(messageId))
  } satisfies VerifyChannel
})
