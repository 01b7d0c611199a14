import { Context, Effect, Layer, Option } from "effect"
import { domainEvent, Events } from "../events/Events.ts"
import { obstacles } from "../messages/scheduledRows.ts"
import { Database } from "../platform/database/Database.ts"
import type { FailoverId } from "../values/Ids.ts"
import { type FailoverRow, FailoversRepo, type StepRow } from "./FailoversRepo.ts"
import { decide, retryMillis, statusOf, type StepState } from "./FailoverState.ts"
import * as StepChannels from "./StepChannels.ts"

const stateOf = ({ begun_ms, sent_ms, status, until, within_seconds }: StepRow): StepState => ({
  progress: status,
  until,
  withinMillis: within_seconds * 1_000,
  begunAt: begun_ms ?? undefined,
  sentAt: sent_ms ?? undefined
})

const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const channels = yield* StepChannels.make
  const events = yield* Events
  const repo = yield* FailoversRepo

  /** The request that accepted a message has just been authorised. Whatever begins later is checked again. */
  const obstacleOf = ({ account_id: accountId, send_at }: FailoverRow, { channel, position }: StepRow) =>
    send_at === null && position === 0
      ? Effect.succeed(null)
      : Effect.map(repo.obstacle({ accountId, channel }), ({ reason }) => reason)

  /** A refusal of the channel fails the step; the writes of the refused send are rolled back. */
  const begin = Effect.fnUntraced(function*(row: FailoverRow, step: StepRow, request: NonNullable<StepRow["request"]>) {
    const { account_id: accountId, id: failoverId, metadata, tags } = row
    const reason = yield* obstacleOf(row, step)
    if (reason !== null) return yield* repo.begun(step, { messageId: null, error: obstacles[reason] })
    return yield* transaction(channels.send({ accountId, failoverId, metadata, tags, to: step.to, step: request }))
      .pipe(
        Effect.map((messageId) => ({ messageId, error: null })),
        Effect.catch(({ message }) => Effect.succeed({ messageId: null, error: message })),
        Effect.flatMap((outcome) => repo.begun(step, outcome))
      )
  })

  /** Performs decisions until the failover waits, is over, or needs a withdrawal, which waits for other nodes. */
  const perform = Effect.fnUntraced(function*(row: FailoverRow, tried: ReadonlySet<number>) {
    const isCanceled = row.canceled_at !== null
    while (true) {
      const steps = yield* repo.steps([row.id])
      const decision = decide(steps.map(stateOf), { now: row.now_ms, isCanceled, tried })
      const step = "step" in decision ? steps[decision.step] : undefined
      if (decision._tag === "Begin" && step?.request) {
        yield* begin(row, step, step.request)
        continue
      }
      const withdraw = decision._tag === "Withdraw" ? step : undefined
      const until = decision._tag === "Wait" ? decision.until : undefined
      const wait = decision._tag === "Withdraw" ? retryMillis : until === undefined ? undefined : until - row.now_ms
      return { isOver: decision._tag === "Finish", steps, wait, withdraw }
    }
  })

  const publish = (row: FailoverRow, steps: ReadonlyArray<StepRow>, status: FailoverRow["status"]) => {
    const { account_id: accountId, id, metadata, tags } = row
    const best = steps.find(({ status: reached }) => reached === status) ?? steps.findLast(({ begun_at }) => begun_at)
    const data = { id, to: best?.to ?? "", channel: best?.channel ?? null, tags, metadata }
    if (status === "delivered" || status === "read") {
      const delivered_at = best?.delivered_at ?? row.updated_at
      return events.publish([
        domainEvent({ accountId, event: "message.delivered", data: { ...data, status: "delivered", delivered_at } })
      ])
    }
    if (status === "sent") {
      return events.publish([domainEvent({ accountId, event: "message.sent", data: { ...data, status: "sent" } })])
    }
    if (status !== "failed") return Effect.void
    const failed = {
      ...data,
      status: "failed" as const,
      error_code: "no_step_arrived",
      error_message: best?.error ?? "No step has reached the recipient."
    }
    return events.publish([domainEvent({ accountId, event: "message.failed", data: failed })])
  }

  /**
   * Looks at a failover, which the transaction locks: begins what is due, stores the status, and publishes its event once.
   * A crash undoes all of it, so that no step begins twice. Answers with the step that has to be withdrawn first, of those whose
   * withdrawal was not tried yet.
   */
  const look = Effect.fnUntraced(function*(id: FailoverId, tried: ReadonlySet<number>) {
    const row = Option.getOrUndefined(yield* repo.lock(id))
    // Those of a deleted failover go too, else they would fill the sweeper's rounds for ever.
    yield* repo.clearSignals(id)
    if (row === undefined) return undefined
    const wasOver = row.completed_at !== null
    if (!wasOver && !row.is_due && row.canceled_at === null) return undefined
    const { isOver, steps, wait, withdraw } = wasOver
      ? { isOver: true, steps: yield* repo.steps([id]), wait: undefined, withdraw: undefined }
      : yield* perform(row, tried)
    const status = statusOf(steps.map(stateOf), { isCanceled: row.canceled_at !== null, isOver })
    if (wasOver && status === row.status) return undefined
    yield* repo.store({ id, status }, { isOver, wait })
    if (isOver && !wasOver) yield* publish(row, steps, status)
    return withdraw === undefined ? undefined : { accountId: row.account_id, step: withdraw }
  })

  const advance = Effect.fn("FailoverProgress.advance")(function*(id: FailoverId) {
    const tried = new Set<number>()
    let withdrawal = yield* transaction(look(id, tried))
    while (withdrawal !== undefined) {
      const { accountId, step } = withdrawal
      yield* channels.withdraw(accountId, step)
      withdrawal = yield* transaction(look(id, tried.add(step.position)))
    }
  })

  return {
    /** Begins a new failover in the caller's transaction. */
    begin: (id: FailoverId) => look(id, new Set()),
    /** Moves a failover on. It waits for other nodes, so never in a transaction. */
    advance,
    /** Whether a channel would accept a step now. Nothing of it stays. */
    check: channels.check
  }
})

/** Moves failovers on. */
export class FailoverProgress
  extends Context.Service<FailoverProgress>()("messaging-service/failovers/FailoverProgress", { make })
{
  static readonly layer = Layer.effect(FailoverProgress, make).pipe(Layer.provide(FailoversRepo.layer))
}
