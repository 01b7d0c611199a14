/**
 * Sends one batch.
 *
 * Callers: `BulkEmail` and the sweeper, by the one persisted `Run` of the batch, which stays open until the batch ends. The
 * sweeper also by `Wake`, when a recipient is due and nothing moves. `BulkEmail` by `Cancel`, which withdraws what waits.
 * State: the rows of `email_batches` and `email_messages`. In memory: claimed recipients (`sending`), templates and key.
 * On shard move: it finishes its mail transactions and releases the other claims. After a crash the next owner runs the
 * batch again. It sends recipients that it finds in `sending` again, with the same Message-ID and bytes, and counts them
 * as ambiguous: no protocol can tell whether the relay accepted them.
 * Idempotence: reclaiming a recipient counts an attempt, so a former owner's outcome changes nothing. A repeated `Run` of
 * a batch that has ended returns at once.
 * Sleep: when the batch has ended. While the relay's circuit is open it claims nothing, except for one probe.
 */
import { DateTime, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { Claims } from "../../../platform/work/Claims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { type BatchContent, BatchesRepo, type Claimed } from "./BatchesRepo.ts"
import { BatchMailer, type Mailed, type MailOne } from "./BatchMailer.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** With those in flight, all recipients of a batch that a crash can leave ambiguous. */
const claimSize = 50

/** A batch whose recipients all wait for a retry polls at least this often. */
const maxIdle = 60_000

/**
 * A node may not know yet that its batch has moved: it was frozen, or a restart of PostgreSQL released its locks. The next
 * owner reclaims claims that have not been renewed for this long.
 */
const leaseTimeout = Duration.seconds(8)

/** Less than `leaseTimeout`, so that the former owner has ended an old claim by then. */
const leaseTime = Duration.seconds(7)

/** How often a batch polls while another owner's recipients are in `sending`. */
const orphanPollInterval = 2_000

/** An idle time from which templates and key are dropped: they may be large, and batches many. */
const closeWhenIdle = 5_000

interface OpenBatch {
  readonly content: BatchContent
  readonly mail: MailOne
}

/** The batch's templates and key, loaded once until they are dropped. Undefined when the batch has ended or is gone. */
const makeContent = Effect.fnUntraced(function*(id: EmailBatchId) {
  const mailer = yield* BatchMailer
  const repo = yield* BatchesRepo
  const loading = yield* Semaphore.make(1)
  let open: OpenBatch | undefined

  const load = Effect.gen(function*() {
    if (open !== undefined) return open
    const content = Option.getOrUndefined(yield* repo.content(id))
    open = content?.is_open === true ? { content, mail: yield* mailer.open(content) } : undefined
    return open
  })
  return {
    get: Effect.suspend(() =>
      open === undefined ? loading.withPermit(retryWhileUnavailable(load)) : Effect.succeed(open)
    ),
    drop: Effect.sync(() => {
      open = undefined
    })
  }
})

type Content = Effect.Success<ReturnType<typeof makeContent>>

/** Undefined for a batch that is gone: its rows are gone as well. */
type Outcome = Mailed & { readonly content: BatchContent } | undefined

const makePolicy = Effect.fnUntraced(function*(id: EmailBatchId, content: Content) {
  const { smtpConnections } = yield* AppConfig
  const outcomes = yield* RecipientOutcomes
  const { complete } = yield* BulkEmail
  const repo = yield* BatchesRepo
  const { admission } = yield* Smtp
  const { acquire } = yield* BulkThrottle
  const account = Effect.map(content.get, (open) => open?.content.account_id)
  return {
    name: "recipients of a batch",
    concurrency: smtpConnections * 2,
    claimSize,
    admission: Effect.flatMap(account, admission),
    throttle: Effect.flatMap(account, (owner) => owner === undefined ? Effect.void : acquire(owner)),
    claim: ({ limit }) => repo.claim({ id, limit }),
    leaseTime,
    renewal: { renew: (claimed) => repo.renewClaims(id, claimed) },
    perform: Effect.fnUntraced(function*(claimed, lease) {
      const open = yield* content.get
      return open && { ...(yield* open.mail(claimed, lease)), content: open.content }
    }),
    settle: Effect.fnUntraced(function*(claimed, sent) {
      if (sent === undefined) return
      yield* outcomes.record({
        id: claimed.id,
        emailId: claimed.id,
        accountId: sent.content.account_id,
        batchId: id,
        to: claimed.recipient,
        subject: sent.subject,
        at: fromDateTime(yield* DateTime.now),
        attemptsBefore: claimed.attempt_count,
        transition: transition(claimed.attempt_count, sent.outcome, claimed.unconfirmed_attempts)
      })
    }),
    release: (claimed) => repo.releaseClaims(id, claimed),
    nextPoll: Effect.fnUntraced(function*(atLeast, inFlight) {
      if (inFlight.size === 0) yield* complete(id)
      const { is_open, millis, sending } = yield* repo.progress(id)
      if (!is_open) return undefined
      const hasOrphans = sending > inFlight.size
      const claimed = Array.from(inFlight, ({ id }) => id)
      if (hasOrphans) yield* repo.reclaimExpired({ id, maxAttempts, claimed, after: leaseTimeout })
      const idle = Math.max(atLeast, Math.min(millis ?? maxIdle, hasOrphans ? orphanPollInterval : maxIdle))
      if (inFlight.size === 0 && idle >= closeWhenIdle) yield* content.drop
      return Math.max(1, Math.ceil(idle))
    }),
    annotations: () => ({ batch: id })
  } satisfies WorkPolicy<Claimed, Outcome>
})

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const { paused } = yield* AppConfig
  const id = EmailBatchId.make(address.entityId)
  const repo = yield* BatchesRepo
  const content = yield* makeContent(id)
  const policy = yield* makePolicy(id, content)
  const { complete } = yield* BulkEmail
  const claims = yield* Claims.make<Claimed>()
  const wakeup = yield* Wakeup.make
  const running = yield* Semaphore.make(1)

  const run = Effect.gen(function*() {
    if ((yield* content.get) === undefined) return
    yield* retryWhileUnavailable(Effect.andThen(
      repo.begin(id),
      repo.reclaimExpired({ id, maxAttempts, claimed: [], after: leaseTimeout })
    ))
    yield* Effect.annotateLogs(Effect.logDebug("sending a batch on this node"), { batch: id })
    yield* Effect.ensuring(LeasedQueue.run(policy, wakeup, claims), content.drop)
  })

  /** Claims of a canceled batch find no recipient, so after the withdrawal none begins. */
  const cancel = Effect.gen(function*() {
    yield* retryWhileUnavailable(repo.cancel(id))
    const withdrawn = yield* claims.withdraw(() => true)
    yield* retryWhileUnavailable(Effect.andThen(repo.releaseClaims(id, withdrawn), complete(id)))
  }).pipe(Effect.uninterruptible)

  return BatchEntity.of({
    Run: () => paused ? Effect.never : running.withPermit(run),
    Wake: () =>
      paused ? Effect.void : Effect.andThen(wakeup.signal, Effect.asVoid(running.withPermitsIfAvailable(1)(run))),
    Cancel: () => cancel
  })
})

/** Runs batches on this node. The concurrency lets `Wake` through while `Run` is open. */
export const BatchActor = drainBeforeClose((track) =>
  BatchEntity.toLayer(Effect.andThen(track, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
).pipe(Layer.provide(BatchesRepo.layer))

const sweep = Effect.gen(function*() {
  const bulk = yield* BulkEmail
  const repo = yield* BatchesRepo
  const stalled = yield* repo.findStalled()
  yield* bulk.run(stalled.filter((batch) => !batch.has_begun).map(({ id }) => id))
  yield* bulk.wake(stalled.filter((batch) => batch.has_begun).map(({ id }) => id))
})

/** Starts batches whose wake-up was lost after the commit, and wakes stalled ones. */
export const BatchSweeper = PeriodicTask.make("EmailBatchSweeper", "1 second", sweep).pipe(
  Layer.provide(BatchesRepo.layer)
)
