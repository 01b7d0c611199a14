import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent } from "../../events/Events.ts"
import * as ScheduledMessages from "../../messages/ScheduledMessages.ts"
import { ScheduledQueues } from "../../messages/ScheduledQueues.ts"
import { dollars } from "../../pricing/SmsPrice.ts"
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
    eventOf: ({ account_id: accountId, cost_micros, id, recipient: to, segments, type, ...message }, error) => {
      const { failover_id, metadata, tags } = message
      const cost = { segments: segments ?? 0, cost_usd: dollars(cost_micros ?? 0) }
      const sms = { channel: "sms", message_id: id, session_id: null, ...cost, tags, metadata, failover_id } as const
      const about = { accountId, channel: "sms" } as const
      return error === undefined
        ? domainEvent({ ...about, event: "message.queued", data: { ...sms, to, type, status: "queued" } })
        : domainEvent({ ...about, event: "message.failed", data: { ...sms, ...error } })
    },
    wake: () => outlet.wake
  })
  yield* queues.register("sms", release)
}))
