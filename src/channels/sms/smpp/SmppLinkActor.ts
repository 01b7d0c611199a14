/**
 * Has one bind to a carrier and hands it the parts that are due; one in the whole cluster, as carriers count binds.
 *
 * Who talks to it: `SmppOutlet` of every node by `Wake`, after a commit and, by one of them, every second, which is what
 * makes it be somewhere at all. Where its state lives: in the rows of `sms_parts`; in memory it has the parts that it
 * claimed (`sending`), the submits without an answer among them, and how fast the carrier wants them. When its node
 * leaves, it waits for the answers to what it has submitted, and unbinds. When its node dies, another one binds as soon as
 * the shard is its own; the parts that were in `sending` may have been submitted, so they are submitted once more, and
 * given up when that is not answered either. Answers and receipts that come twice change nothing: a part leaves `sending`
 * once, and never goes back from delivered or failed. A connection that is lost is followed by a new one, on a new
 * socket, after 1 to 60 seconds. It sleeps never, as long as somebody wakes it.
 */
import { Clock, Duration, Effect, Random, Semaphore } from "effect"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { PartStatusUpdates } from "../parts/PartStatusUpdates.ts"
import { makePump } from "../parts/SmsSender.ts"
import type { Outgoing, SubmitOutcome } from "../parts/SubmitOutcome.ts"
import { SmppCarrier } from "./SmppCarrier.ts"
import { SmppLinkEntity } from "./SmppLinkEntity.ts"
import type { Delivered } from "./smppMessages.ts"
import * as Pace from "./SmppRate.ts"
import { readReceipt, submittedId } from "./smppReceipt.ts"
import { openSmppSession, type SubmitAnswer } from "./SmppSession.ts"
import { statusCode, verdictOf } from "./smppStatus.ts"

/** The bind, as rows and receipts name it. */
export const bindName = "smpp"

/** Claimed beyond the window, so that its next submit need not wait for the database, as many as the window has. */
const ahead = { least: 60, most: 200 }

const firstPause = 1_000
const longestPause = 60_000

/** How long a bind must have lasted for the next pause to be short again. */
const stable = 30_000

const notTaken = (reason: string, retryInMillis: number): SubmitOutcome => ({ _tag: "NotTaken", reason, retryInMillis })

const makePace = (most: number) => {
  let state = Pace.pace(most)
  return {
    turn: Effect.gen(function*() {
      const { next, wait } = Pace.take(state, yield* Clock.currentTimeMillis)
      state = next
      if (wait >= 1) yield* Effect.sleep(Duration.millis(wait))
    }),
    accepted: Effect.sync(() => {
      state = Pace.accepted(state)
    }),
    /** Milliseconds until it is worth another try. */
    throttled: Effect.map(Clock.currentTimeMillis, (now) => {
      state = Pace.throttled(state, now)
      return Math.max(1, state.pausedUntil - now)
    })
  }
}

const make = Effect.gen(function*() {
  const { smppMaxPerSecond, smppMessageIds, smppSystemType = "", smppWindow } = yield* AppConfig
  const news = yield* PartStatusUpdates
  const address = yield* SmppCarrier
  const pace = makePace(smppMaxPerSecond)
  let wake: Effect.Effect<void> = Effect.void

  const onDeliver = Effect.fn("SmppLink.receipt")(function*(delivered: Delivered) {
    const receipt = readReceipt(delivered, smppMessageIds)
    if (receipt === undefined || receipt.state === "pending") return
    const { code, detail, id, state } = receipt
    const failed = state === "failed"
    yield* retryWhileUnavailable(news.receipt({
      provider: bindName,
      provider_message_id: id,
      state,
      error_code: failed ? code : null,
      error_message: failed ? `The carrier says ${detail}.` : null
    }))
  })

  const outcomeOf = Effect.fnUntraced(function*(answer: SubmitAnswer): Effect.fn.Return<SubmitOutcome> {
    if (answer._tag === "NotSent") return notTaken("there was no bind", 1_000)
    if (answer._tag === "Unanswered") return answer
    const code = statusCode(answer.status)
    const reason = `The carrier answered with status ${code.slice("smpp_".length)}.`
    switch (verdictOf(answer.status)) {
      case "accepted":
        yield* pace.accepted
        return { _tag: "Accepted", id: answer.id === undefined ? null : submittedId(answer.id, smppMessageIds) }
      case "throttled":
        return notTaken("the carrier wants fewer at a time", yield* pace.throttled)
      case "unbound":
        return notTaken("the carrier had lost the bind", 5_000)
      case "later":
        return { _tag: "PutOff", code, reason }
      case "refused":
        return { _tag: "Refused", code, reason }
    }
  })

  /** One bind from its beginning to its end. */
  const bound = Effect.gen(function*() {
    const session = yield* openSmppSession({ address, systemType: smppSystemType, onDeliver })
    yield* Effect.annotateLogs(Effect.logInfo("bound to the carrier"), { bind: bindName })
    const window = yield* Semaphore.make(smppWindow)
    // One part of a batch at a time waits for its turn, so that a message of its own never waits behind more than that.
    const gate = yield* Semaphore.make(1)
    const enter = Effect.andThen(pace.turn, window.take(1))
    const submit = (part: Outgoing) =>
      Effect.acquireUseRelease(
        part.lane > 0 ? gate.withPermit(enter) : enter,
        () => session.submit(part),
        () => window.release(1)
      ).pipe(Effect.flatMap(outcomeOf))
    const beyond = Math.min(ahead.most, Math.max(ahead.least, smppWindow))
    const pump = yield* makePump({ provider: bindName, width: smppWindow + beyond, submit })
    wake = pump.wake
    return yield* session.closed
  }).pipe(
    Effect.scoped,
    Effect.catchTag("SmppUnavailable", ({ reason }) => Effect.succeed(reason)),
    Effect.ensuring(Effect.sync(() => {
      wake = Effect.void
    }))
  )

  const live = Effect.gen(function*() {
    let pause = firstPause
    while (true) {
      const since = yield* Clock.currentTimeMillis
      const reason = yield* bound
      if ((yield* Clock.currentTimeMillis) - since > stable) pause = firstPause
      yield* Effect.logWarning(`there is no bind to the carrier: ${reason}`)
      yield* Effect.sleep(Duration.millis(pause * (0.75 + (yield* Random.next) / 2)))
      pause = Math.min(longestPause, pause * 2)
    }
  })

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.catchCause(
        live,
        (cause) => Effect.andThen(Effect.logError("the link to the carrier failed", cause), Effect.sleep("1 second"))
      )
    )
  )
  return SmppLinkEntity.of({ Wake: () => Effect.suspend(() => wake) })
})

/** Runs the bind on this node when its shard is here. */
export const SmppLinkActor = drainBeforeClose((stay) =>
  SmppLinkEntity.toLayer(Effect.andThen(stay, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
)
