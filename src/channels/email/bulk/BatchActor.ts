/**
 * Sends one batch, unless the node that accepted it sent it at once (`BatchDispatch`).
 *
 * Callers: `Wake`, by the request that accepted the batch and by each node's poll for batches of its shards that have work
 * and no worker. `BulkEmail` by `Cancel`, which withdraws what waits.
 * State: the rows of `email_batches` and `email_messages`. In memory: claimed recipients (`sending`), templates and key.
 * On shard move: it finishes its mail transactions and releases the other claims. After a crash the next owner runs the
 * batch again. It sends recipients that it finds in `sending` again, with the same Message-ID and bytes, and counts them
 * as ambiguous: no protocol can tell whether the relay accepted them. In a canceled batch it cancels them instead.
 * Idempotence: each claim of a recipient has a number, so a former owner's outcome changes nothing. A repeated `Wake` of a
 * batch that has ended returns at once.
 * Sleep: when no recipient is due within seconds, or another account's batch needs its place. While the relay's circuit is
 * open it claims nothing, except for one probe.
 */
import { Effect, Layer, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { Claims } from "../../../platform/work/Claims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { MessageProgress } from "../recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { ActiveBatches } from "./ActiveBatches.ts"
import { BatchDispatch, claimSize, leaseTime, leaseTimeout } from "./BatchDispatch.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { type BatchContent, BatchesRepo, type Claimed } from "./BatchesRepo.ts"
import { BatchMailer, type Mailed, type MailOne } from "./BatchMailer.ts"
import { BulkEmail } from "./BulkEmail.ts"
import { recordOf } from "./recordOf.ts"

/** A batch with recipients in flight polls at least this often. */
const maxIdle = 60_000

/** How often a batch polls while another owner's recipients are in `sending`. */
const orphanPollInterval = 2_000

/** A batch of which no recipient is due within this time, in milliseconds, leaves the memory. */
const sleepWhenIdle = 5_000

interface OpenBatch {
  readonly content: BatchContent
  readonly mail: MailOne
}

const makePolicy = Effect.fnUntraced(function*({ content, mail }: OpenBatch) {
  const { account_id: account, id } = content
  const { smtpConnections } = yield* AppConfig
  const { transaction } = yield* Database
  const outcomes = yield* RecipientOutcomes
  const { publishFailed } = yield* MessageProgress
  const { complete } = yield* BulkEmail
  const repo = yield* BatchesRepo
  const { admission } = yield* Smtp
  const { acquire } = yield* BulkThrottle
  const { mayReclaim } = yield* ActiveBatches
  return {
    name: "recipients of a batch",
    concurrency: smtpConnections * 2,
    claimSize,
    admission: admission(account),
    throttle: acquire(account),
    claim: ({ limit }) => repo.claim({ ids: [id], limit }),
    leaseTime,
    renewal: { renew: repo.renewClaims },
    perform: mail,
    settle: (claimed, sent) => Effect.flatMap(recordOf(content, claimed, sent), outcomes.record),
    release: repo.releaseClaims,
    nextPoll: Effect.fnUntraced(function*(atLeast, inFlight) {
      const { is_canceled, is_open, millis, sending } = yield* repo.progress(id)
      if (!is_open) return undefined
      const hasOrphans = sending > inFlight.size
      const claimed = Array.from(inFlight, ({ id }) => id)
      if (hasOrphans && (yield* mayReclaim)) {
        const failed = repo.reclaimExpired({ id, maxAttempts, claimed, after: leaseTimeout })
        yield* transaction(Effect.flatMap(failed, (rows) => publishFailed(rows.map(({ id }) => id))))
      }
      if (inFlight.size === 0 && (is_canceled || (millis === null && sending === 0))) {
        yield* complete(id)
        return undefined
      }
      const idle = Math.max(atLeast, Math.min(millis ?? maxIdle, hasOrphans ? orphanPollInterval : maxIdle))
      return inFlight.size === 0 && idle >= sleepWhenIdle ? undefined : Math.max(1, Math.ceil(idle))
    }),
    annotations: () => ({ batch: id })
  } satisfies WorkPolicy<Claimed, Mailed>
})

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const { paused } = yield* AppConfig
  const id = EmailBatchId.make(address.entityId)
  const repo = yield* BatchesRepo
  const mailer = yield* BatchMailer
  const active = yield* ActiveBatches
  const dispatch = yield* BatchDispatch
  const { complete } = yield* BulkEmail
  const claims = yield* Claims.make<Claimed>()
  const wakeup = yield* Wakeup.make
  const running = yield* Semaphore.make(1)

  const work = Effect.fnUntraced(function*(content: BatchContent) {
    yield* Effect.annotateLogs(Effect.logDebug("sending a batch on this node"), { batch: id })
    const mail = yield* retryWhileUnavailable(mailer.open(content))
    yield* LeasedQueue.run(yield* makePolicy({ content, mail }), wakeup, claims)
  })

  const run = Effect.gen(function*() {
    if (!(yield* active.hasRoom)) return
    const [content] = yield* retryWhileUnavailable(repo.contents([id]))
    if (content?.is_open === true) yield* active.run(content, work(content))
  })

  /** Claims of a canceled batch find no recipient, so after the withdrawal none begins. */
  const cancel = Effect.gen(function*() {
    yield* retryWhileUnavailable(repo.cancel(id))
    const withdrawn = [...(yield* claims.withdraw(() => true)), ...(yield* dispatch.withdraw(id))]
    yield* retryWhileUnavailable(Effect.andThen(repo.releaseClaims(withdrawn), complete(id)))
  }).pipe(Effect.uninterruptible)

  const wake = paused
    ? Effect.void
    : Effect.andThen(wakeup.signal, Effect.asVoid(running.withPermitsIfAvailable(1)(run)))
  return BatchEntity.of({ Run: () => wake, Wake: () => wake, Cancel: () => cancel })
})

/** Runs batches on this node. The concurrency lets `Wake` and `Cancel` through while a batch runs. */
export const BatchActor = drainBeforeClose((track) =>
  BatchEntity.toLayer(Effect.andThen(track, make), { concurrency: "unbounded", maxIdleTime: "1 second" })
).pipe(Layer.provide(BatchesRepo.layer))

/** Sends batches on this node's shards that have work: their wake-up was lost, or there was no room. */
export const BatchPoll = Layer.effectDiscard(Effect.gen(function*() {
  const { paused } = yield* AppConfig
  const { poll } = yield* ActiveBatches
  const { wake } = yield* BulkEmail
  if (!paused) yield* Effect.forkScoped(poll(wake))
}))
