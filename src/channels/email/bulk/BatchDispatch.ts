/**
 * Sends small batches on the node that accepts them, without their actor (docs/decisions/0058).
 *
 * Callers: `BulkEmail` passes the recipients after the commit that inserted them as claimed. The node's poll passes small
 * batches that waited in the table. The batch's actor withdraws recipients when the batch is canceled.
 * State: the rows of `email_messages`. In memory: recipients that wait for a slot, with their batch's texts.
 * On shard move: a recipient that has not begun is released, as the next owner of the shard may cancel its batch. After a
 * crash the next owner reclaims the rows, as it does those of an actor.
 * Idempotence: as the batch actor, by the same claims.
 * Sleep: never. While it is behind, or the relay's circuit is open, it accepts nothing, and batches wait in the table.
 */
import { Clock, Context, Duration, Effect, Layer, Semaphore } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { millisOf } from "../../../platform/schedule/monotonic.ts"
import { Claims } from "../../../platform/work/Claims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { PeriodicTask } from "../../../platform/work/PeriodicTask.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import type { AccountId, EmailBatchId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { type BatchContent, BatchesRepo, type Claimed } from "./BatchesRepo.ts"
import { BatchMailer, type Mailed, type MailOne, maxSmallBytes } from "./BatchMailer.ts"
import { BatchShards } from "./BatchShards.ts"
import type { WaitingBatch } from "./batchTurns.ts"
import { DispatchQueue } from "./DispatchQueue.ts"
import { recordOf } from "./recordOf.ts"

/** The most recipients that an actor claims at once, and of a batch that the accepting node sends at once. */
export const claimSize = 50

/**
 * A node may not know yet that its batch has moved: it was frozen, or a restart of PostgreSQL released its locks. The next
 * owner reclaims claims that have not been renewed for this long.
 */
export const leaseTimeout = Duration.seconds(8)

/** Less than `leaseTimeout`, so that the former owner has ended an old claim by then. */
export const leaseTime = Duration.seconds(7)

/** The longest wait for a slot. A lease begins with the slot, so both together are an actor's lease. */
const maxWait = Duration.seconds(2)

const limits = { total: 200, perAccount: 100, busyMillis: 500, maxMillis: Duration.toMillis(maxWait) }

interface Size {
  readonly account: AccountId
  readonly recipients: ReadonlyArray<unknown>
  /** Of the largest mail. */
  readonly textBytes: number
}

/**
 * Whether a batch may be sent without its actor. Larger texts and values have an actor: those that wait in memory are few
 * megabytes, and no large mail keeps the others. A test batch waits for no relay, so it stays out of the queue that does.
 */
export const isSmall = ({ account, recipients, textBytes }: Size) =>
  !isTest(account) && recipients.length <= claimSize && textBytes + JSON.stringify(recipients).length <= maxSmallBytes

interface Recipient extends Claimed {
  readonly account: AccountId
  readonly batch: EmailBatchId
  readonly content: BatchContent
  /** Compiles the texts and loads the key, once for all recipients. */
  readonly mail: Effect.Effect<MailOne>
}

/** A new batch of which a node asks whether it may send it at once. */
interface Candidate {
  readonly id: EmailBatchId
  readonly account: AccountId
  readonly recipients: number
}

const makeNow = Effect.map(Clock.Clock, (clock) => () => millisOf(clock))

type SendClaimed = (content: BatchContent, claimed: ReadonlyArray<Claimed>) => Effect.Effect<void>

const makePolicy = Effect.fnUntraced(function*(queue: DispatchQueue<Recipient>, room: Wakeup) {
  const { smtpConnections } = yield* AppConfig
  const now = yield* makeNow
  const outcomes = yield* RecipientOutcomes
  const repo = yield* BatchesRepo
  const { admission } = yield* Smtp
  const { acquire } = yield* BulkThrottle
  const shards = yield* BatchShards.make
  return {
    name: "recipients of small batches",
    concurrency: smtpConnections * 2,
    admission: admission(),
    claim: ({ limit }) =>
      Effect.sync(() => {
        const recipients = queue.take(limit, now())
        if (queue.recovers()) room.signalUnsafe()
        return recipients
      }),
    leaseTime: Duration.subtract(leaseTime, maxWait),
    renewal: { renew: (recipients) => repo.renewClaims(recipients) },
    perform: Effect.fnUntraced(function*(recipient, lease) {
      yield* acquire(recipient.account)
      const mail = yield* recipient.mail
      return yield* mail(recipient, {
        begin: () => shards.owns(recipient.batch) && lease.begin(),
        isHeld: lease.isHeld
      })
    }),
    settle: (recipient, sent) => Effect.flatMap(recordOf(recipient.content, recipient, sent), outcomes.record),
    release: repo.releaseClaims,
    annotations: ({ batch }) => ({ batch })
  } satisfies WorkPolicy<Recipient, Mailed>
})

/** Passes claimed recipients to the worker. */
const makeFeed = Effect.fnUntraced(function*(queue: DispatchQueue<Recipient>, wakeup: Wakeup) {
  const now = yield* makeNow
  const repo = yield* BatchesRepo
  const mailer = yield* BatchMailer

  const send = Effect.fnUntraced(
    function*(content: BatchContent, claimed: ReadonlyArray<Claimed>, since: number) {
      const mail = yield* Effect.cached(retryWhileUnavailable(mailer.open(content)))
      const batch = { account: content.account_id, batch: content.id, content, mail }
      queue.add(claimed.map((recipient) => ({ ...recipient, ...batch })), since)
      wakeup.signalUnsafe()
    }
  )

  const resume = Effect.fnUntraced(function*(batches: ReadonlyArray<WaitingBatch>) {
    let left = queue.room(now())
    const ids = batches.flatMap(({ id, total }) => {
      left -= total
      return left >= 0 ? [id] : []
    })
    if (ids.length < batches.length) queue.noteBehind()
    if (ids.length === 0) return
    const contents = yield* repo.contents(ids)
    const since = now()
    const claimed = Map.groupBy(yield* repo.claim({ ids, limit: claimSize }), ({ batch_id }) => batch_id)
    for (const content of contents) yield* send(content, claimed.get(content.id) ?? [], since)
  }, Effect.uninterruptible)

  return { send, resume }
})

/** Sends small batches of this node's shards. */
export class BatchDispatch extends Context.Service<BatchDispatch, {
  /**
   * Whether this node may insert the recipients of a new small batch as claimed, and how it sends them after the commit;
   * undefined if the batch must wait in the table.
   */
  readonly admit: (candidate: Candidate) => Effect.Effect<SendClaimed | undefined>
  /** Claims and sends recipients of small batches that wait in the table, as many as there is room for. */
  readonly resume: (batches: ReadonlyArray<WaitingBatch>) => Effect.Effect<void>
  /** Signals when there is room again for batches that wait in the table. */
  readonly room: Wakeup
  /** Takes back the recipients of a batch that have not begun. None begins afterwards; the caller changes their rows. */
  readonly withdraw: (batch: EmailBatchId) => Effect.Effect<ReadonlyArray<Claimed>>
}>()("messaging-service/channels/email/bulk/BatchDispatch") {
  static readonly layer = Layer.effect(
    BatchDispatch,
    Effect.gen(function*() {
      const { paused } = yield* AppConfig
      const now = yield* makeNow
      const repo = yield* BatchesRepo
      const smtp = yield* Smtp
      const shards = yield* BatchShards.make
      const queue = new DispatchQueue<Recipient>(limits)
      const claims = yield* Claims.make<Recipient>()
      const wakeup = yield* Wakeup.make
      const room = yield* Wakeup.make
      const claiming = yield* Semaphore.make(1)
      let isOpen = !paused

      const release = (waiting: ReadonlyArray<Recipient>) =>
        waiting.length === 0 ? Effect.void : retryWhileUnavailable(repo.releaseClaims(waiting))
      yield* Effect.addFinalizer(() => Effect.suspend(() => release(queue.takeAll())))
      if (isOpen) {
        const releaseLate = Effect.uninterruptible(Effect.suspend(() => release(queue.takeLate(now()))))
        yield* Effect.forkScoped(PeriodicTask.repeat("late recipients of small batches", "1 second", releaseLate))
        yield* Effect.forkScoped(LeasedQueue.run(yield* makePolicy(queue, room), wakeup, claims))
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          isOpen = false
        })
      )

      const { resume, send } = yield* makeFeed(queue, wakeup)

      return BatchDispatch.of({
        admit: Effect.fnUntraced(function*({ account, id, recipients }) {
          if (!isOpen || !shards.owns(id)) return undefined
          if (!queue.hasRoom(account, recipients, now())) {
            queue.noteBehind()
            return undefined
          }
          if ((yield* smtp.admission(account))._tag !== "Pass") return undefined
          const since = now()
          return (content, claimed) => send(content, claimed, since)
        }),
        resume: (batches) => isOpen ? claiming.withPermit(resume(batches)) : Effect.void,
        room,
        // With the permit no claim of `resume` is in progress.
        withdraw: (batch) =>
          claiming.withPermit(Effect.suspend(() => {
            const waiting = queue.takeBatch(batch)
            const claimed = claims.withdraw((recipient) => recipient.batch === batch)
            return Effect.map(claimed, (withdrawn) => [...waiting, ...withdrawn])
          }))
      })
    })
  ).pipe(Layer.provide(BatchesRepo.layer))
}
