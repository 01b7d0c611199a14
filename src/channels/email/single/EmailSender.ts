/**
 * Sends single emails, on every node.
 *
 * Callers: `Emails` on the same node wakes it after a commit. It polls every second as well.
 * State: the rows of `email_messages`. Nodes claim due rows past each other and renew their leases every second.
 * On shard move: does not apply. A stopping node finishes its mail transactions and stores their outcomes.
 * Idempotence: after 10 seconds without renewal another node reclaims the row and sends it again, with the same
 * Message-ID and bytes. That counts an attempt, so the former node's outcome changes nothing.
 * Sleep: while the relay's circuit is open, except for one probe.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { FairClaims } from "../../../platform/work/FairClaims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { EmailMailer, type Mailed } from "./EmailMailer.ts"
import { type ClaimedRecipient, EmailSenderRepo, lanes } from "./EmailSenderRepo.ts"

const leaseTimeout = Duration.seconds(10)

/** Less than `leaseTimeout`, so that an old claim ends before another node can reclaim it. */
const leaseTime = Duration.seconds(8)

const makePolicy = Effect.fnUntraced(function*(wakeup: Wakeup) {
  const { smtpConnections } = yield* AppConfig
  const { mail } = yield* EmailMailer
  const outcomes = yield* RecipientOutcomes
  const repo = yield* EmailSenderRepo
  const { admission, paused } = yield* Smtp
  const claim = FairClaims.make<ClaimedRecipient>({
    lanes: Object.keys(lanes).length,
    turnOf: (claimed) => claimed,
    claimOldest: repo.claimOldest,
    waiting: () => repo.waiting,
    claimTurns: repo.claimTurns,
    paused
  }, wakeup)
  return {
    name: "emails",
    concurrency: smtpConnections,
    lanes: { of: ({ lane }) => lane, limits: [smtpConnections, Math.max(1, smtpConnections - 1)] },
    accountLimit: { of: ({ account_id }) => account_id, limit: Math.max(2, smtpConnections - 2) },
    admission: admission(),
    claim,
    leaseTime,
    perform: mail,
    settle: Effect.fnUntraced(function*(claimed, { outcome, subject }) {
      yield* outcomes.record({
        id: claimed.id,
        emailId: claimed.email_id,
        accountId: claimed.account_id,
        batchId: null,
        to: claimed.recipient,
        subject,
        at: fromDateTime(yield* DateTime.now),
        attemptsBefore: claimed.attempt_count,
        transition: transition(claimed.attempt_count, outcome, claimed.unconfirmed_attempts)
      })
    }),
    release: repo.release,
    renewal: {
      renew: repo.renew,
      reclaim: Effect.map(repo.reclaimExpired({ leaseTimeout, maxAttempts }), ({ length }) => length)
    },
    annotations: ({ email_id }) => ({ email: email_id })
  } satisfies WorkPolicy<ClaimedRecipient, Mailed>
})

/** Sends single emails from this node. */
export class EmailSender extends Context.Service<EmailSender, {
  /** Makes it poll at once. A lost wake-up delays an email by a second. */
  readonly wake: Effect.Effect<void>
}>()("messaging-service/channels/email/single/EmailSender") {
  static readonly layer = Layer.effect(
    EmailSender,
    Effect.gen(function*() {
      const { paused } = yield* AppConfig
      const wakeup = yield* Wakeup.make
      if (!paused) yield* Effect.forkScoped(LeasedQueue.run(yield* makePolicy(wakeup), wakeup))
      return EmailSender.of({ wake: wakeup.signal })
    })
  ).pipe(Layer.provide(EmailSenderRepo.layer))
}
