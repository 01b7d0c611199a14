import { Effect } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { sessionDeleted, sessionLoggedOut } from "./MessageFailures.ts"
import { makeOutboxRepo } from "./OutboxRepo.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"

const most = 200

const sweep = Effect.gen(function*() {
  const repo = yield* makeOutboxRepo
  const updates = yield* OutboxStatusUpdates
  const stranded = yield* repo.stranded(most)
  if (stranded.length === 0) return 0
  yield* updates.write(stranded.map(({ is_gone, session_id: sessionId, whatsapp_id: whatsappId }) => ({
    sessionId,
    whatsappId,
    status: "failed" as const,
    error: is_gone ? sessionDeleted : sessionLoggedOut
  })))
  return stranded.length
})

/** Messages whose session will not send them any more have failed. */
export const OutboxSweeper = PeriodicTask.make(
  "WhatsAppOutboxSweeper",
  "2 seconds",
  Effect.repeat(sweep, { while: (swept) => swept === most })
)
