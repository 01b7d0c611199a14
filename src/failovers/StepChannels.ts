import { Data, Effect } from "effect"
import { EmailChanges } from "../channels/email/single/EmailChanges.ts"
import { Emails } from "../channels/email/single/Emails.ts"
import { SmsMessages } from "../channels/sms/SmsMessages.ts"
import { ChatName } from "../channels/whatsapp/content/MessageContent.ts"
import { WhatsAppMessages } from "../channels/whatsapp/outbox/WhatsAppMessages.ts"
import { Database } from "../platform/database/Database.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { type AccountId, EmailMessageId, type FailoverId, MessageId } from "../values/Ids.ts"
import type { Labels } from "../values/Labels.ts"
import { StoredPhoneNumber } from "../values/PhoneNumber.ts"
import type { Step } from "./Failover.ts"
import { FailoversRepo, type StepRow } from "./FailoversRepo.ts"

/** A step as its channel gets it. */
export interface StepMessage extends Labels {
  readonly accountId: AccountId
  readonly failoverId: FailoverId
  readonly to: string
  readonly step: Step
}

/** Why a channel refuses a message. */
type Refusal = Effect.Error<
  ReturnType<(Emails["Service"] | SmsMessages["Service"] | WhatsAppMessages["Service"])["send"]>
>

/** Undoes an accepted message that was only a trial. */
class Undone extends Data.TaggedError("Undone") {}

/** How the steps of a failover use the channels. */
export const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const emails = yield* Emails
  const changes = yield* EmailChanges
  const sms = yield* SmsMessages
  const whatsapp = yield* WhatsAppMessages
  const repo = yield* FailoversRepo

  /** Notes whose step a message is, before its transaction commits. */
  const link =
    ({ accountId, failoverId, step: { channel } }: StepMessage) =>
    ({ message_id: id }: { readonly message_id: number }) =>
      Effect.as(repo.link({ account_id: accountId, id: failoverId }, { channel, id }), id)

  /** Accepts the message of a step, in the caller's transaction. */
  const send = (message: StepMessage): Effect.Effect<number, Refusal> => {
    const { accountId, metadata, step, tags, to } = message
    const { until: _, within_seconds: __, ...asked } = step
    const labels = { tags, metadata, failover_id: message.failoverId }
    const linked = link(message)
    if (asked.channel === "whatsapp") {
      return Effect.flatMap(whatsapp.send(accountId, { ...asked, ...labels, to: ChatName.make(to) }), linked)
    }
    if (asked.channel === "sms") {
      return Effect.flatMap(sms.send(accountId, { ...asked, ...labels, to: StoredPhoneNumber.make(to) }), linked)
    }
    return Effect.flatMap(emails.send(accountId, { ...asked, ...labels, to: EmailAddress.make(to) }), linked)
  }

  /** Takes back a message that its channel has not begun to hand over. A message that has begun goes on. */
  const withdraw = (accountId: AccountId, { channel, message_id: id }: Pick<StepRow, "channel" | "message_id">) => {
    if (id === null) return Effect.void
    if (channel === "whatsapp") return whatsapp.withdraw(MessageId.make(id))
    if (channel === "sms") return sms.cancelOne(MessageId.make(id))
    return Effect.ignore(changes.cancel(accountId, EmailMessageId.make(id)))
  }

  /**
   * Whether the channel would accept the message now. It accepts it in a transaction that is rolled back, so that both
   * obey the same rules. A session that is not connected is no fault yet, but hides those of the content.
   */
  const check = (message: StepMessage) =>
    transaction(Effect.andThen(send(message), Effect.fail(new Undone()))).pipe(
      Effect.catchTags({
        Undone: () => Effect.void,
        SessionNotConnected: () => message.step.channel === "whatsapp" ? whatsapp.check(message.step) : Effect.void
      })
    )

  return { check, send, withdraw }
})
