import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent } from "../../events/Events.ts"
import * as ScheduledMessages from "../../messages/ScheduledMessages.ts"
import { ScheduledQueues } from "../../messages/ScheduledQueues.ts"
import { smsData } from "./parts/smsData.ts"
import { SmsOutlet } from "./parts/SmsOutlet.ts"

/** Makes the parts of scheduled SMS due at their time. */
export const ScheduledSms = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const outlet = yield* SmsOutlet
  const queues = yield* ScheduledQueues
  const { release } = yield* ScheduledMessages.make({
    channel: "sms",
    work: sql`update sms_parts p set due_at = case when c.reason is null then c.send_at end,
        status = case when c.reason is null then p.status else 'failed' end,
        error_code = case when c.reason is not null then 'message_failed' end,
        completed_at = case when c.reason is not null then now() end
      from changed c where p.message_id = c.id`,
    eventOf: (message, error) => {
      const { account_id: accountId, recipient: to, type } = message
      const sms = smsData(message)
      const about = { accountId, channel: "sms" } as const
      return error === undefined
        ? domainEvent({ ...about, event: "message.queued", data: { ...sms, to, type, status: "queued" } })
        : domainEvent({ ...about, event: "message.failed", data: { ...sms, ...error } })
    },
    wake: () => outlet.wake
  })
  yield* queues.register("sms", release)
}))
