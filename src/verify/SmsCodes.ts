import { Effect } from "effect"
import { SmsMessages } from "../channels/sms/SmsMessages.ts"
import { Messages } from "../messages/Messages.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { MessageId } from "../values/Ids.ts"
import { codeSms } from "./codeText.ts"
import type { Fate, VerifyChannel } from "./VerifyChannel.ts"

const fates = { delivered: "arrived", failed: "failed" } as const

/** Codes by SMS, from the default sender id. */
export const makeSmsCodes = Effect.gen(function*() {
  const sms = yield* SmsMessages
  const messages = yield* Messages
  return {
    send: Effect.fn("SmsCodes.send")(function*({ accountId, seed, to, webDomain, words }) {
      if (to.kind !== "phone") return yield* ValidationFailed.of("to", "must be a phone number")
      const { message_id } = yield* sms.send(accountId, { to: to.address, content: codeSms(words, webDomain) }, seed)
      return message_id
    }),
    fateOf: (accountId, messageId) =>
      messages.find({ accountId, channel: "sms" }, MessageId.make(messageId)).pipe(
        Effect.map(({ status }): Fate => status === "delivered" || status === "failed" ? fates[status] : "under_way"),
        Effect.catchTag("NotFound", () => Effect.succeed("failed" as const))
      )
  } satisfies VerifyChannel
})
