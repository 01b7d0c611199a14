/**
 * Sends emails of their own; one on every node.
 *
 * Who talks to it: `Emails` on the same node wakes it after a commit; it looks every second by itself. Where its
 * state lives: in the rows of `email_messages`; in memory only which of them it is sending. Any node takes any row that is
 * due, past those that others take at that moment, so the nodes share what there is without telling each other, and no
 * row waits for a certain one of them. A row in `sending` belongs to the node that says so every second; when none has
 * said so for ten, the node is dead or cannot reach the database, and another one sends it again with the same Message-ID
 * and the same bytes, as the relay may or may not have it. Taking it over counts an attempt, so whatever the node before
 * still learns about the row changes nothing. While the relay is left alone nothing is taken, but one row as a probe when
 * that may end. When a node leaves, it ends the SMTP conversations under way and notes what came of them.
 */
import { Clock, Context, DateTime, Duration, Effect, Layer, Queue, Schedule, Semaphore } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { EmailMailer } from "./EmailMailer.ts"
import { type ClaimedRecipient, makeEmailSenderRepo } from "./EmailSenderRepo.ts"

/** How long nobody has to say that they have a row until it is somebody else's. */
const strayAfter = Duration.seconds(10)

/** Milliseconds in which a claimed row may be begun: a node that was frozen for longer has lost it to another one. */
const lease = 8_000

const everySecond = Schedule.spaced("1 second")

const make = Effect.gen(function*() {
  const { smtpConnections: width } = yield* AppConfig
  const mailer = yield* EmailMailer
  const outcomes = yield* RecipientOutcomes
  const repo = yield* makeEmailSenderRepo
  const smtp = yield* Smtp
  const slots = yield* Semaphore.make(width)
  const woken = yield* Queue.sliding<void>(1)
  const held = new Map<EmailMessageId, ClaimedRecipient>()

  const sendOne = Effect.fnUntraced(function*(claimed: ClaimedRecipient) {
    const { outcome, subject } = yield* mailer.mail(claimed)
    yield* retryWhileUnavailable(outcomes.record({
      id: claimed.id,
      emailId: claimed.email_id,
      accountId: claimed.account_id,
      batchId: null,
      to: claimed.recipient,
      subject,
      at: fromDateTime(yield* DateTime.now),
      attemptsBefore: claimed.attempt_count,
      transition: transition(claimed.attempt_count, outcome, claimed.doubts)
    }))
  }, (effect, claimed) =>
    effect.pipe(
      // What cannot be written down stays in `sending` and is taken over with an attempt more, hence not for ever.
      Effect.tapCause((cause) => Effect.logError("an outcome could not be recorded", cause)),
      Effect.annotateLogs({ email: claimed.email_id }),
      Effect.ensuring(Effect.andThen(Effect.sync(() => held.delete(claimed.id)), slots.release(1)))
    ))

  const begin = Effect.fnUntraced(function*(claimed: ClaimedRecipient, until: number) {
    if ((yield* Clock.currentTimeMillis) > until) return
    yield* slots.take(1)
    held.set(claimed.id, claimed)
    // A conversation that has begun is ended and noted, also when this node has to leave.
    yield* Effect.forkDetach(sendOne(claimed))
  })

  /**
   * As soon as one may be begun, begins those that are due; false when none was, or when the relay is left alone. Then
   * they stay in the queue, and one at a time finds out whether it is back.
   */
  const page = Effect.gen(function*() {
    yield* slots.withPermit(Effect.void)
    const admission = yield* smtp.admission
    if (admission._tag === "Refused") return false
    const until = (yield* Clock.currentTimeMillis) + lease
    return yield* Effect.uninterruptible(Effect.gen(function*() {
      const claimed = yield* Effect.orDie(repo.claim(admission._tag === "Probe" ? 1 : width - held.size))
      yield* Effect.forEach(claimed, (recipient) => begin(recipient, until), { discard: true })
      return claimed.length > 0 && admission._tag === "Pass"
    }))
  })

  const round = Effect.gen(function*() {
    while (yield* page) continue
    yield* Effect.timeoutOption(Queue.take(woken), "1 second")
  })

  const quietly = <A, E>(effect: Effect.Effect<A, E>) =>
    effect.pipe(
      Effect.tapCause((cause) => Effect.logDebug("a look for emails failed", cause)),
      Effect.ignoreCause
    )

  const watch = Effect.gen(function*() {
    if (held.size > 0) yield* repo.renew([...held.values()])
    const strays = yield* repo.takeOver({ after: strayAfter, most: maxAttempts })
    if (strays.length > 0) Queue.offerUnsafe(woken, undefined)
  })

  // In this order: while the conversations under way are ended, the node goes on to say that it has them.
  yield* Effect.forkScoped(Effect.repeat(quietly(watch), everySecond))
  yield* Effect.addFinalizer(() => slots.take(width))
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.catchCause(
        round,
        (cause) => Effect.andThen(Effect.logDebug("a look for emails failed", cause), Effect.sleep("1 second"))
      )
    )
  )

  return { wake: Effect.sync(() => void Queue.offerUnsafe(woken, undefined)) }
})

/** The sender of emails of their own on this node. */
export class EmailSender extends Context.Service<EmailSender, {
  /** Says that something may be due; a wake that gets lost costs a second. */
  readonly wake: Effect.Effect<void>
}>()("messaging-service/channels/email/single/EmailSender") {
  static readonly layer = Layer.effect(EmailSender, make)
}
