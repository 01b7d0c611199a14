/**
 * Sends single emails, on every node. Those of test accounts have a separate queue.
 *
 * Callers: `Emails` on the same node wakes it after a commit. It polls every second as well.
 * State: the rows of `email_messages`. Nodes claim due rows past each other and renew their leases every second.
 * On shard move: does not apply. A stopping node finishes its mail transactions and stores their outcomes.
 * Idempotence: after 10 seconds without renewal another node reclaims the row and sends it again, with the same
 * Message-ID and bytes. Each claim has a number, so the former node's outcome changes nothing.
 * Sleep: while the relay's circuit is open, except for one probe.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Database } from "../../../platform/database/Database.ts"
import { leaseTime, leaseTimeout } from "../../../platform/work/Claims.ts"
import { FairClaims } from "../../../platform/work/FairClaims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { TestWork } from "../../../platform/work/TestWork.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { WorkPolicy } from "../../../platform/work/WorkPolicy.ts"
import type { Mode } from "../../../values/TestMode.ts"
import { fromDateTime } from "../../../values/Timestamp.ts"
import { MessageProgress } from "../recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../recipients/RecipientOutcomes.ts"
import { transition } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { EmailMailer, type Mailed } from "./EmailMailer.ts"
import { type ClaimedRecipient, EmailSenderRepo, lanes } from "./EmailSenderRepo.ts"

/** The sandbox takes test emails at once, so few at a time leave the database to the live ones. */
const testConcurrency = 2

/** The particulars of a mode: test emails do not wait for the relay. */
const limitsOf = Effect.fnUntraced(function*(mode: Mode) {
  if (mode === "test") return { concurrency: testConcurrency }
  const { smtpConnections: concurrency } = yield* AppConfig
  const { admission, paused } = yield* Smtp
  return { concurrency, admission: admission(), paused }
})

const makePolicy = Effect.fnUntraced(function*(mode: Mode, wakeup: Wakeup) {
  const { concurrency, paused, ...limits } = yield* limitsOf(mode)
  const { transaction } = yield* Database
  const { mail } = yield* EmailMailer
  const { publishFailed } = yield* MessageProgress
  const outcomes = yield* RecipientOutcomes
  const repo = yield* EmailSenderRepo
  const claims = repo.claimsOfMode(mode)
  const reclaim = Effect.gen(function*() {
    const orphaned = yield* repo.reclaimExpired({ leaseTimeout, maxAttempts })
    yield* publishFailed(orphaned.flatMap(({ has_failed, id }) => has_failed ? [id] : []))
    return orphaned.length
  })
  const claim = FairClaims.make<ClaimedRecipient>({
    lanes: Object.keys(lanes).length,
    turnOf: (claimed) => claimed,
    claimOldest: claims.claimOldest,
    waiting: () => claims.waiting,
    claimTurns: claims.claimTurns,
    ...(paused !== undefined && { paused })
  }, wakeup)
  return {
    name: mode === "live" ? "emails" : "test emails",
    ...limits,
    concurrency,
    lanes: { of: ({ lane }) => lane, limits: [concurrency, Math.max(1, concurrency - 1)] },
    accountLimit: { of: ({ account_id }) => account_id, limit: Math.max(2, concurrency - 2) },
    claim,
    leaseTime,
    perform: mail,
    settle: Effect.fnUntraced(function*(claimed, { labels, outcome, subject, transcript }) {
      yield* outcomes.record({
        id: claimed.id,
        emailId: claimed.email_id,
        accountId: claimed.account_id,
        batchId: null,
        to: claimed.recipient,
        subject,
        labels,
        at: fromDateTime(yield* DateTime.now),
        claimNumber: claimed.claim_number,
        attemptsBefore: claimed.attempt_count,
        transcript,
        transition: transition(claimed.attempt_count, outcome, claimed.unconfirmed_attempts)
      })
    }),
    release: repo.release,
    renewal: {
      renew: repo.renew,
      reclaim: transaction(reclaim)
    },
    annotations: ({ email_id }) => ({ email: email_id })
  } satisfies WorkPolicy<ClaimedRecipient, Mailed>
})

/** Sends single emails from this node. */
export class EmailSender extends Context.Service<EmailSender, {
  /** Makes it poll at once for the emails of a mode. A lost wake-up delays an email by a second. */
  readonly wake: (mode: Mode) => Effect.Effect<void>
}>()("messaging-service/channels/email/single/EmailSender") {
  static readonly layer = Layer.effect(
    EmailSender,
    Effect.gen(function*() {
      const { paused } = yield* AppConfig
      const wakeups = { live: yield* Wakeup.make, test: yield* Wakeup.make }
      const { begins } = yield* TestWork
      if (!paused) {
        const run = (mode: Mode) =>
          Effect.flatMap(makePolicy(mode, wakeups[mode]), (policy) => LeasedQueue.run(policy, wakeups[mode]))
        yield* Effect.forkScoped(run("live"))
        yield* Effect.forkScoped(Effect.andThen(begins, run("test")))
      }
      return EmailSender.of({ wake: (mode) => wakeups[mode].signal })
    })
  ).pipe(Layer.provide(EmailSenderRepo.layer))
}
