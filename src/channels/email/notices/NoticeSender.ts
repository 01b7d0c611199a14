/**
 * Mails notices to the owners of accounts, on one node of the cluster.
 *
 * Callers: none. It polls every second for due notices.
 * State: the rows of `notices`. A claimed notice stays due until its outcome is stored.
 * On shard move: the node finishes its mail transactions. After a crash the next node sends the same notices again.
 * Idempotence: repetitions share a Message-ID. A claim counts an attempt, so a notice that kills its node fails in the end,
 * and a former owner's outcome changes nothing.
 * Sleep: with PAUSED, and while the relay's circuit is open, except for one probe.
 *
 * Notices publish no event: the notice about a failing webhook would become that webhook's next delivery. Suppressions do
 * not apply: they are about an account's recipients, not its owner.
 */
import { Cause, DateTime, Duration, Effect, Option, Schema } from "effect"
import { Singleton } from "effect/cluster"
import { type ClaimedNotice, lanes } from "../../../accounts/notices/Notice.ts"
import { Notices } from "../../../accounts/notices/Notices.ts"
import { SealedNotices } from "../../../accounts/notices/SealedNotices.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { FairClaims } from "../../../platform/work/FairClaims.ts"
import { LeasedQueue } from "../../../platform/work/LeasedQueue.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import { domainOf, EmailAddress } from "../../../values/EmailAddress.ts"
import { prepare } from "../mime/compose.ts"
import { sign } from "../mime/dkim.ts"
import * as DkimSigners from "../mime/DkimSigners.ts"
import { type SendOutcome, transition, type Unsendable } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { NoticeAddress } from "../request/DefaultSender.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { noticeFrame } from "./noticeFrame.ts"

/** Small, because one-time codes share the lane. */
const concurrency = 4

/** Less than it takes until another node replaces a frozen one. */
const leaseTime = Duration.seconds(8)

const unsendable = (reason: string): Unsendable => ({ _tag: "Unsendable", reason })

/** Composes and sends the mail of a notice. Its failure is an outcome, so that it delays no other notice. */
const makeMailer = Effect.gen(function*() {
  const smtp = yield* Smtp
  const sender = yield* NoticeAddress
  const { base } = yield* PublicUrl
  const { bodyOf } = yield* SealedNotices
  const signerOf = yield* DkimSigners.make
  // RFC 3834: stops automatic replies from vacation programs and mailing lists.
  const compose = prepare({ from: sender, headers: { "Auto-Submitted": "auto-generated" } })

  const send = Effect.fnUntraced(function*(notice: ClaimedNotice, lease: Lease) {
    const to = yield* Schema.decodeEffect(EmailAddress)(notice.email)
    const signer = yield* retryWhileUnavailable(signerOf(null, sender.address))
    const body = yield* bodyOf(notice)
    const plain = compose({
      to,
      subject: notice.subject,
      ...noticeFrame({ ...notice, body }, base),
      messageId: notice.message_id,
      // The notice's date, so that a repetition after a crash has the same bytes.
      date: DateTime.toEpochMillis(DateTime.makeUnsafe(notice.created_at))
    })
    const message = Option.isNone(signer) ? plain : yield* sign(plain, signer.value)
    yield* smtp.send({
      envelope: { from: sender.address, to },
      message,
      priority: notice.lane === lanes.security ? "urgent" : "single",
      account: notice.account_id,
      lease
    })
    return { _tag: "Accepted" } as const
  })

  return (notice: ClaimedNotice, lease: Lease): Effect.Effect<SendOutcome> =>
    send(notice, lease).pipe(
      Effect.catchTags({
        SchemaError: () => Effect.succeed(unsendable("the account has no valid email address")),
        SealBroken: (broken) => Effect.succeed(unsendable(broken.message))
      }),
      Effect.catch((failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)),
      Effect.catchCauseIf((cause) => !Cause.hasInterrupts(cause), (cause) =>
        Effect.as(
          Effect.logError("composing a notice failed", cause),
          unsendable("the mail could not be composed")
        ))
    )
})

/** Sends due notices until it is interrupted. */
export const sendNotices = Effect.gen(function*() {
  const notices = yield* Notices
  const domain = domainOf((yield* NoticeAddress).address)
  const perform = yield* makeMailer
  const { admission, paused } = yield* Smtp
  const wakeup = yield* Wakeup.make
  const idsOf = (inFlight: ReadonlySet<ClaimedNotice>) => Array.from(inFlight, ({ id }) => id)
  const claimOf = (inFlight: ReadonlySet<ClaimedNotice>) => ({ inFlight: idsOf(inFlight), domain, maxAttempts })
  yield* Effect.logDebug("sending notices on this node")

  const settle = Effect.fnUntraced(function*(claimed: ClaimedNotice, outcome: SendOutcome) {
    const settled = transition(claimed.attempt_count - 1, outcome, claimed.unconfirmed_attempts)
    const status = settled.status === "queued" || settled.status === "sent" ? settled.status : "failed"
    yield* notices.settle(claimed, { ...settled, status })
    if (status === "failed") yield* Effect.logWarning("notice failed, its row has the reason")
  })

  yield* LeasedQueue.run({
    name: "notices",
    concurrency,
    admission: admission(),
    lanes: { of: ({ lane }) => lane, limits: [concurrency, concurrency - 1] },
    claim: FairClaims.make<ClaimedNotice>({
      lanes: Object.keys(lanes).length,
      turnOf: (claimed) => claimed,
      claimOldest: (limits, inFlight) => notices.claimOldest(claimOf(inFlight), limits),
      waiting: (inFlight) => notices.waiting(idsOf(inFlight)),
      claimTurns: (turns, inFlight) => notices.claimTurns(claimOf(inFlight), turns),
      paused
    }, wakeup),
    leaseTime,
    renewal: { renew: notices.stillClaimed },
    perform,
    settle,
    // The row is still due.
    release: () => Effect.void,
    annotations: ({ account_id, id }) => ({ notice: id, account: account_id })
  }, wakeup)
})

/** Sends notices on one node of the cluster at a time. */
export const NoticeSender = Singleton.make(
  "NoticeSender",
  Effect.flatMap(AppConfig, ({ paused }) => paused ? Effect.void : sendNotices)
)
