import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent } from "../../../events/Events.ts"
import * as ScheduledMessages from "../../../messages/ScheduledMessages.ts"
import { ScheduledQueues } from "../../../messages/ScheduledQueues.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { makeWake } from "./MessageAcceptance.ts"

/** Puts scheduled messages into the queues of their sessions at their time. */
export const ScheduledOutbox = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const queues = yield* ScheduledQueues
  const wake = yield* makeWake
  const { release } = yield* ScheduledMessages.make({
    channel: "whatsapp",
    work: sql`update whatsapp_outbox o set status = case when c.reason is null then 'queued' else 'failed' end,
        due_at = c.send_at
      from changed c where o.message_id = c.id`,
    eventOf: ({ account_id: accountId, id, recipient: to, type, ...message }, error) => {
      const { failover_id, metadata, session_id, tags } = message
      const labels = { tags, metadata, failover_id }
      const whatsapp = { channel: "whatsapp", message_id: id, session_id: session_id ?? 0, ...labels } as const
      const about = { accountId, channel: "whatsapp" } as const
      return error === undefined
        ? domainEvent({ ...about, event: "message.queued", data: { ...whatsapp, to, type, status: "queued" } })
        : domainEvent({ ...about, event: "message.failed", data: { ...whatsapp, ...error } })
    },
    // The actor of a session may be on another node, which takes time to answer.
    wake: (sessions) =>
      Effect.asVoid(Effect.forkDetach(
        Effect.forEach(sessions, (id) => wake(WhatsAppSessionId.make(id), true), { concurrency: 10, discard: true })
      ))
  })
  yield* queues.register("whatsapp", release)
}))
