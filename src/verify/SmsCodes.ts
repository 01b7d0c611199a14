import { Effect } from "effect"
import { SmsMessages } from "../channels/sms/SmsMessages.ts"
import { Messages } from "../messages/Messages.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { MessageId } from "../values/Ids.ts"
import { codeSms } from "./codeText.ts"
import { codeStatusOf, type VerifyChannel } from "./VerifyChannel.ts"

/** Sends codes by SMS from the default sender id. */
export const make = Effect.gen(function*() {
  const sms = yield* SmsMessages
  const messages = yield* Messages
  return {
    send: Effect.fn("SmsCodes.send")(function*({ accountId, seed, to, webDomain, words }) {
      if (to.kind !== "phone") return yield* ValidationFailed.of("to", "must be a phone number")
      const { message_id } = yield* sms.send(accountId, { to: to.address, content: codeSms(words, webDomain) }, seed)
      return message_id
    }),
    statusOf: (accountId, messageId) =>
      codeStatusOf(messages.find({ accountId, channel: "sms" }, MessageId.make(messageId))),
    withdraw: (messageId) => sms.withdraw(MessageId.make(messageId))
  } satisfies VerifyChannel
})
