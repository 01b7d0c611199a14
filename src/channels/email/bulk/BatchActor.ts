/**
 * Sends one bulk mail.
 *
 * Who talks to it: `BulkEmail` and the sweeper, by the one persisted `Run` of its batch, which stays open until the batch
 * has ended; the sweeper also by `Wake`, when somebody is due and nothing moves. Where its state lives: in the rows of
 * `email_batches` and `email_messages`; in memory it has the recipients that it claimed (status `sending`), and templates
 * and key while somebody is due soon. When its node leaves, those in the middle of an SMTP conversation are finished and
 * the others given back. When its node dies, `Run` is handed to the next owner: rows found in `sending` may or may not
 * have been accepted by the relay, which no protocol can settle, so they are sent again with the same Message-ID and the
 * same bytes, and counted as ambiguous. Taking a row over counts an attempt, so whatever an owner before it still learns
 * about the row comes too late to change it. A repeated `Run` of a batch that has ended returns at once. While
 * the relay is left alone it claims nothing, and one recipient as a probe when that may end. While its node sends single
 * emails it begins recipients at the node's bulk pace (`BulkThrottle`). It sleeps when its batch has ended.
 */
import { Clock, DateTime, Duration, Effect, Layer, Option, Queue, Semaphore } from "effect"
import { Entity } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { EmailBatchId, type EmailMessageId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { type BatchContent, BatchesRepo, type Claimed } from "./BatchesRepo.ts"
import { BatchMailer, type MailOne } from "./BatchMailer.ts"
import { BulkEmail } from "./BulkEmail.ts"

/** Recipients claimed by one statement. With those under way, all that a killed node can leave in doubt of one batch. */
const grip = 50

/** A batch whose recipients all wait for a later attempt looks at its rows at least this often. */
const longestNap = 60_000

/**
 * How long a claimed recipient may be begun, and cannot be taken over. A node may not know yet that its batch is another
 * node's: it was frozen, or a restart of PostgreSQL has released its locks. So both go by the claim's age: what the old
 * owner has not begun it never begins after the new one has taken it over.
 */
const lease = Duration.seconds(8)

/** How often a batch looks after recipients that are being sent, but not by this owner. */
const watch = 2_000

/** Milliseconds that the others wait for one who finds out whether the relay is back, unless it ends before. */
const probing = 1_000

/** Milliseconds that nobody is due for, from which on templates and key are let go: they may be large, and batches many. */
const longNap = 5_000

interface Opened {
  readonly content: BatchContent
  readonly mail: MailOne
}

/** Starts one in its turn, once there is a slot; false when its claim is too old by then, or the relay is left alone. */
const begin = Effect.fnUntraced(function*(one: Effect.Effect<void>, until: number, slots: Semaphore.Semaphore) {
  const smtp = yield* Smtp
  const { acquire } = yield* BulkThrottle
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      yield* restore(Effect.andThen(acquire, slots.take(1)))
      const isLate = (yield* Clock.currentTimeMillis) > until
      if (isLate || (yield* smtp.admission)._tag === "Refused") return yield* Effect.as(slots.release(1), false)
      // A conversation that has begun is ended and written down, also when this node has to leave.
      yield* Effect.forkChild(one, { uninterruptible: true })
      return true
    })
  )
})

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const id = EmailBatchId.make(address.entityId)
  const { smtpConnections } = yield* AppConfig
  const mailer = yield* BatchMailer
  const outcomes = yield* RecipientOutcomes
  const { complete } = yield* BulkEmail
  const repo = yield* BatchesRepo
  const width = smtpConnections * 2
  const slots = yield* Semaphore.make(width)
  const running = yield* Semaphore.make(1)
  const changed = yield* Queue.sliding<void>(1)
  /** Claimed and not yet settled, with the attempts before this one. */
  const held = new Map<EmailMessageId, Claimed>()
  let opened: Opened | undefined

  /** Templates and key; undefined when the batch has ended or is gone. */
  const open = Effect.gen(function*() {
    if (opened !== undefined) return opened
    const content = Option.getOrUndefined(yield* retryWhileUnavailable(repo.content(id)))
    if (content === undefined || !content.is_open) return undefined
    opened = { content, mail: yield* retryWhileUnavailable(mailer.open(content)) }
    return opened
  })

  const mailOne = Effect.fnUntraced(function*({ content, mail }: Opened, claimed: Claimed) {
    const { outcome, subject } = yield* mail(claimed)
    yield* retryWhileUnavailable(outcomes.record({
      id: claimed.id,
      emailId: claimed.id,
      accountId: content.account_id,
      batchId: id,
      to: claimed.recipient,
      subject,
      at: fromDateTime(yield* DateTime.now),
      attemptsBefore: claimed.attempt_count,
      transition: transition(claimed.attempt_count, outcome, claimed.doubts)
    }))
  }, (effect, _, claimed) =>
    Effect.ensuring(
      // What cannot be written down stays in `sending` and is taken over with an attempt more, hence not for ever.
      Effect.tapCause(effect, (cause) => Effect.logError("an outcome could not be recorded", cause)),
      Effect.andThen(
        Effect.sync(() => {
          held.delete(claimed.id)
          Queue.offerUnsafe(changed, undefined)
        }),
        slots.release(1)
      )
    ))

  /** Waits until somebody may be due, for `least` milliseconds unless something changes; false when the batch has ended. */
  const rest = Effect.fnUntraced(function*(least: number) {
    if (held.size === 0) yield* complete(id)
    const { is_open, millis, sending } = yield* repo.progress(id)
    if (!is_open) return false
    const astray = sending > held.size
    if (astray) yield* repo.reclaimExpired({ id, maxAttempts, claimed: [...held.keys()], after: lease })
    const nap = Math.max(least, Math.min(millis ?? longestNap, astray ? watch : longestNap))
    if (held.size === 0 && nap >= longNap) opened = undefined
    yield* Effect.timeoutOption(Queue.take(changed), Math.max(1, Math.ceil(nap)))
    return true
  })

  /** Back to the queue, unless another owner has taken them over. */
  const giveBack = (claimed: ReadonlyArray<Claimed>) =>
    Effect.andThen(
      retryWhileUnavailable(repo.releaseClaims(id, claimed)),
      Effect.sync(() => claimed.forEach((recipient) => held.delete(recipient.id)))
    )

  /** Starts everybody who is due, a page at a time, while earlier ones are under way; false when the batch has ended. */
  const round = Effect.gen(function*() {
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(lease)
    const admission = yield* Effect.flatMap(Smtp, (smtp) => smtp.admission)
    // To make and sign mails that are then refused, and to note that of each, would keep a node busy with nothing.
    if (admission._tag === "Refused") return yield* retryWhileUnavailable(rest(admission.retryInMillis))
    const isProbe = admission._tag === "Probe"
    const claimed = yield* retryWhileUnavailable(repo.claim({ id, limit: isProbe ? 1 : grip }))
    if (claimed.length === 0) return yield* retryWhileUnavailable(rest(0))
    for (const recipient of claimed) held.set(recipient.id, recipient)
    const mail = yield* open
    if (mail === undefined) return false
    for (const [index, recipient] of claimed.entries()) {
      if (!(yield* begin(mailOne(mail, recipient), until, slots))) {
        yield* giveBack(claimed.slice(index))
        break
      }
    }
    return isProbe ? yield* retryWhileUnavailable(rest(probing)) : true
  })

  /** What is under way ends; whoever was claimed and not begun goes back to the queue. */
  const leave = Effect.gen(function*() {
    opened = undefined
    yield* slots.take(width)
    yield* giveBack([...held.values()])
    yield* slots.release(width)
  })

  const run = Effect.gen(function*() {
    if ((yield* open) === undefined) return
    yield* retryWhileUnavailable(Effect.andThen(
      repo.begin(id),
      repo.reclaimExpired({ id, maxAttempts, claimed: [], after: lease })
    ))
    yield* Effect.annotateLogs(Effect.logDebug("a batch runs on this node"), { batch: id })
    yield* Effect.onExit(
      Effect.gen(function*() {
        while (yield* round) continue
      }),
      () => leave
    )
  })

  return BatchEntity.of({
    Run: () => running.withPermit(run),
    Wake: () =>
      Effect.suspend(() => {
        Queue.offerUnsafe(changed, undefined)
        return Effect.asVoid(running.withPermitsIfAvailable(1)(run))
      })
  })
})

/** Runs batches on this node. A `Wake` must get through while `Run` is open. */
export const BatchActor = drainBeforeClose((stay) =>
  BatchEntity.toLayer(Effect.andThen(stay, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
).pipe(Layer.provide(BatchesRepo.layer))
