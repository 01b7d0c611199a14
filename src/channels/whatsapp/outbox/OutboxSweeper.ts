import { Effect, Layer } from "effect"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { sessionDeleted, sessionLoggedOut } from "./MessageFailures.ts"
import { OutboxRepo } from "./OutboxRepo.ts"
import { OutboxStatusUpdates } from "./OutboxStatusUpdates.ts"

const maxRows = 200

const sweep = Effect.gen(function*() {
  const repo = yield* OutboxRepo
  const updates = yield* OutboxStatusUpdates
  const unsendable = yield* repo.unsendable(maxRows)
  if (unsendable.length === 0) return 0
  yield* updates.write(unsendable.map(({ is_gone, session_id: sessionId, whatsapp_id: whatsappId }) => ({
    sessionId,
    whatsappId,
    status: "failed" as const,
    error: is_gone ? sessionDeleted : sessionLoggedOut
  })))
  return unsendable.length
})

/** Fails messages that no session will send. */
export const OutboxSweeper = PeriodicTask.make(
  "WhatsAppOutboxSweeper",
  "2 seconds",
  Effect.repeat(sweep, { while: (swept) => swept === maxRows })
).pipe(Layer.provide(OutboxRepo.layer))
