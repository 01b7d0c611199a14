/**
 * Keeps one bind to a carrier, or one pair of binds, and sends the due parts over it. The cluster has one, because carriers
 * limit binds. It fails parts that have been due for a day, also without a bind.
 *
 * Callers: `SmppOutlet` of every node by `Wake`, after each commit, by `Cancel` and `CancelOne`, and by `State` for the
 * console and the API; one node also wakes it every second, which starts it.
 * State: the rows of `sms_parts`. In memory it has the claimed parts (`sending`), pending submits, and the carrier's rate.
 * On shard move: it waits for the responses to its submits, and unbinds. When its node dies, another node binds and submits
 * the parts in `sending` once more; a part without a response to that either fails.
 * Idempotence: a repeated response or receipt changes nothing. A part leaves `sending` once; delivered and failed are final.
 * Sleep: never while it is woken. After a lost connection it binds again, on a new socket, within 1 to 60 seconds.
 */
import { DateTime, Duration, Effect, Layer, Random } from "effect"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { UpstreamOutages } from "../../../platform/work/UpstreamOutages.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { PartsRepo } from "../parts/PartsRepo.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import type { SmsLink } from "../parts/SmsLink.ts"
import type { Submit, SubmitOutcome } from "../parts/SmsProvider.ts"
import { SmsSender } from "../parts/SmsSender.ts"
import { SmppCarrier } from "./SmppCarrier.ts"
import { bindName, SmppLinkEntity } from "./SmppLinkEntity.ts"
import { type Delivered, statusCode, verdictOf } from "./smppMessages.ts"
import * as SmppRate from "./SmppRate.ts"
import { readReceipt, submittedId } from "./smppReceipt.ts"
import * as SmppSession from "./SmppSession.ts"
import * as SmppTurns from "./SmppTurns.ts"

/** Parts claimed beyond the window, as many as it has, so that the next submit does not wait for the database. */
const lookahead = { min: 60, max: 200 }

const minBackOff = 1_000
const maxBackOff = 60_000

/** A bind that lasted for longer than this resets the back-off. */
const stableAfter = 30_000

const unavailable = (reason: string, retryInMillis: number): SubmitOutcome => ({
  _tag: "Unavailable",
  reason,
  retryInMillis
})

const timestamp = Effect.map(DateTime.now, fromDateTime)

const rateLimiter = (maxPerSecond: number) => {
  let state = SmppRate.make(maxPerSecond)
  return {
    current: () => state.rate,
    /** Reserves the time of the next submit; returns the milliseconds until then. */
    reserve: Effect.map(monotonicMillis, (now) => {
      const { next, wait } = SmppRate.reserve(state, now)
      state = next
      return wait
    }),
    accepted: Effect.sync(() => {
      state = SmppRate.accepted(state)
    }),
    /** Returns the milliseconds until the next retry. */
    throttled: Effect.map(monotonicMillis, (now) => {
      state = SmppRate.throttled(state, now)
      return Math.max(1, state.pausedUntil - now)
    })
  }
}

const make = Effect.gen(function*() {
  const { smppMaxPerSecond, smppMessageIds, smppSystemType = "", smppWindow } = yield* AppConfig
  const updates = yield* PartStatusUpdates
  const address = yield* SmppCarrier
  const rate = rateLimiter(smppMaxPerSecond)
  const { watch } = yield* UpstreamOutages
  /** The sender of the current bind. Without a bind nothing is claimed. */
  let sender: Effect.Success<ReturnType<typeof SmsSender.start>> | undefined

  /** Unknown until the first answer to a bind. */
  let reach: "works" | "away" | "unknown" = "unknown"
  yield* watch("carrier", Effect.sync(() => reach))

  let link: Pick<SmsLink, "status" | "since" | "last_error"> = {
    status: "unbound",
    since: yield* timestamp,
    last_error: null
  }

  /** Notes the end of the bind at once: answers in flight may be awaited for seconds more. */
  const unbound = (reason?: string) =>
    Effect.map(timestamp, (at) => {
      reach = "away"
      link = {
        status: "unbound",
        since: link.status === "bound" ? at : link.since,
        last_error: reason === undefined ? link.last_error : { reason, at }
      }
    })

  const onDeliver = Effect.fn("SmppLink.receipt")(function*(delivered: Delivered) {
    const receipt = readReceipt(delivered, smppMessageIds)
    if (receipt === undefined || receipt.state === "pending") return
    const { code, detail, id, state } = receipt
    const failed = state === "failed"
    yield* retryWhileUnavailable(updates.receipt({
      provider: bindName,
      provider_message_id: id,
      state,
      error_code: failed ? code : null,
      error_message: failed ? `The carrier says ${detail}.` : null
    }))
  })

  const outcomeOf = Effect.fnUntraced(function*(
    result: SmppSession.SubmitResult,
    session: Effect.Success<ReturnType<typeof SmppSession.open>>
  ): Effect.fn.Return<SubmitOutcome> {
    if (result._tag === "NotSent") return unavailable("there was no bind", 1_000)
    if (result._tag === "Unconfirmed") return result
    const code = statusCode(result.status)
    const reason = `The carrier answered with status ${code.slice("smpp_".length)}.`
    switch (verdictOf(result.status)) {
      case "accepted":
        yield* rate.accepted
        return { _tag: "Accepted", id: result.id === undefined ? null : submittedId(result.id, smppMessageIds) }
      case "throttled":
        return unavailable("the carrier throttles", yield* rate.throttled)
      case "unbound":
        // A carrier that has forgotten the bind refuses everything on it, and may still answer enquire_link.
        yield* session.end("the carrier had lost it")
        return unavailable("the carrier had lost the bind", 5_000)
      case "deferred":
        return { _tag: "Deferred", code, reason }
      case "refused":
        return { _tag: "Refused", code, reason }
    }
  })

  /** One bind, from its start to its end; returns the reason of its end. */
  const runBind = Effect.gen(function*() {
    const session = yield* SmppSession.open({ address, systemType: smppSystemType, onDeliver })
    yield* Effect.annotateLogs(Effect.logInfo("bound to the carrier"), { bind: bindName })
    reach = "works"
    link = { ...link, status: "bound", since: yield* timestamp }
    const turns = yield* SmppTurns.make(rate.reserve, smppWindow)
    const submit: Submit = (part, lease) =>
      Effect.flatMap(turns.submit(part, session.submit(part, lease)), (result) => outcomeOf(result, session))
    const ahead = Math.min(lookahead.max, Math.max(lookahead.min, smppWindow))
    sender = yield* SmsSender.start({ mode: "live", provider: bindName, concurrency: smppWindow + ahead, submit })
    return yield* Effect.tap(session.closed, unbound)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("SmppUnavailable", ({ reason }) => Effect.as(unbound(reason), reason)),
    Effect.ensuring(Effect.suspend(() => {
      sender = undefined
      return unbound()
    }))
  )

  const keepBound = Effect.gen(function*() {
    let backOff = minBackOff
    while (true) {
      const since = yield* monotonicMillis
      const reason = yield* runBind
      if ((yield* monotonicMillis) - since > stableAfter) backOff = minBackOff
      yield* Effect.logWarning(`the bind to the carrier ended: ${reason}`)
      yield* Effect.sleep(Duration.millis(backOff * (0.75 + (yield* Random.next) / 2)))
      backOff = Math.min(maxBackOff, backOff * 2)
    }
  })

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.catchCause(
        keepBound,
        (cause) =>
          Effect.andThen(Effect.logError("keeping the bind to the carrier failed", cause), Effect.sleep("1 second"))
      )
    )
  )
  // Without a bind no sender finds the parts that are out of date.
  yield* Effect.forkScoped(PeriodicTask.repeat("SmsExpiry", "5 seconds", updates.expire))

  return SmppLinkEntity.of({
    Wake: () => Effect.suspend(() => sender?.wake ?? Effect.void),
    Cancel: ({ payload: { batchId } }) =>
      Effect.suspend(() => sender?.cancel(batchId) ?? retryWhileUnavailable(updates.cancel(batchId, Effect.void))),
    CancelOne: ({ payload: { id } }) =>
      Effect.suspend(() => sender?.cancelOne(id) ?? retryWhileUnavailable(updates.cancelOne(id, Effect.void))),
    State: () => Effect.sync(() => ({ ...link, window: smppWindow, rate: rate.current(), max_rate: smppMaxPerSecond }))
  })
})

const makePaused = Effect.gen(function*() {
  const updates = yield* PartStatusUpdates
  const { smppMaxPerSecond: max_rate, smppWindow: window } = yield* AppConfig
  const since = yield* timestamp
  return SmppLinkEntity.of({
    Wake: () => Effect.void,
    Cancel: ({ payload: { batchId } }) => retryWhileUnavailable(updates.cancel(batchId, Effect.void)),
    CancelOne: ({ payload: { id } }) => retryWhileUnavailable(updates.cancelOne(id, Effect.void)),
    State: () => Effect.succeed({ status: "paused", since, window, rate: max_rate, max_rate, last_error: null })
  })
})

/** With PAUSED there is no bind. */
const makeUnlessPaused = Effect.flatMap(AppConfig, ({ paused }) => paused ? makePaused : make)

/** Runs the bind while its shard is on this node. */
export const SmppLinkActor = drainBeforeClose((track) =>
  SmppLinkEntity.toLayer(Effect.andThen(track, makeUnlessPaused), { concurrency: "unbounded", maxIdleTime: "1 minute" })
).pipe(Layer.provide(PartsRepo.layer))
