/**
 * Mails notices to the owners of accounts; one fiber in the cluster.
 *
 * Who talks to it: nobody; it looks every second for rows that are due. Where its state lives: in the rows of `notices`;
 * in memory only which of them it is sending. When its node leaves, the SMTP conversations under way are ended and noted.
 * When its node dies, its notices are still due, and the next owner sends them with the same Message-ID: the relay may
 * have had them. An attempt is counted before it is begun, so that a notice that kills its node is given up in the end,
 * and so that whatever a former owner still learns changes nothing. When the relay is silent after the final dot it is
 * offered once more, and not a third time. No event tells of a notice: one about a webhook that fails must not become that
 * webhook's next delivery. An account's suppressions are about its recipients, not its owner.
 */
import { Cause, DateTime, Effect, Option, Schedule, Schema, Semaphore } from "effect"
import { Singleton } from "effect/cluster"
import type { ClaimedNotice } from "../../../accounts/Notice.ts"
import { Notices } from "../../../accounts/Notices.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { PublicUrl } from "../../../platform/http/PublicUrl.ts"
import { domainOf, EmailAddress } from "../../../values/EmailAddress.ts"
import type { NoticeId } from "../../../values/Ids.ts"
import { prepare } from "../mime/compose.ts"
import { makeDkimSigners } from "../mime/DkimSigners.ts"
import { sign } from "../mime/sign.ts"
import { type SendOutcome, transition, type Unsendable } from "../recipients/RecipientState.ts"
import { maxAttempts } from "../recipients/SendRetryPolicy.ts"
import { DefaultSender } from "../request/DefaultSender.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { noticeFrame } from "./noticeFrame.ts"

/** Conversations at once. Few, as codes that somebody waits for go by the same lane. */
const width = 4

const unsendable = (reason: string): Unsendable => ({ _tag: "Unsendable", reason })

/** Makes the mail of a notice and hands it over. Total: one that cannot be made holds up no other. */
const makeMailer = Effect.gen(function*() {
  const smtp = yield* Smtp
  const sender = yield* DefaultSender
  const { base } = yield* PublicUrl
  const signerOf = yield* makeDkimSigners
  // RFC 3834: vacation programs and mailing lists do not answer what a program wrote.
  const compose = prepare({ from: sender, headers: { "Auto-Submitted": "auto-generated" } })

  const handOver = Effect.fnUntraced(function*(notice: ClaimedNotice) {
    const to = yield* Schema.decodeEffect(EmailAddress)(notice.email)
    const signer = yield* retryWhileUnavailable(signerOf(null, sender.address))
    const plain = compose({
      to,
      subject: notice.subject,
      ...noticeFrame(notice, base),
      messageId: notice.message_id,
      // The notice's own date: a repetition after a crash has the same bytes.
      date: DateTime.toEpochMillis(DateTime.makeUnsafe(notice.created_at))
    })
    const message = Option.isNone(signer) ? plain : yield* sign(plain, signer.value)
    yield* smtp.send({ envelope: { from: sender.address, to }, message, priority: "single" })
    return { _tag: "Accepted" } as const
  })

  return (notice: ClaimedNotice): Effect.Effect<SendOutcome> =>
    handOver(notice).pipe(
      Effect.catchTag("SchemaError", () => Effect.succeed(unsendable("the account has no valid email address"))),
      Effect.catch((failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)),
      Effect.catchCauseIf((cause) => !Cause.hasInterrupts(cause), (cause) =>
        Effect.as(
          Effect.logError("a notice could not be made", cause),
          unsendable("the mail could not be made")
        ))
    )
})

/** Sends whatever is due, for ever; when it is interrupted, it ends what it has begun. */
export const sendNotices = Effect.gen(function*() {
  const notices = yield* Notices
  const domain = domainOf((yield* DefaultSender).address)
  const mail = yield* makeMailer
  const smtp = yield* Smtp
  const slots = yield* Semaphore.make(width)
  const held = new Set<NoticeId>()
  yield* Effect.logDebug("notices are sent by this node")

  const sendOne = Effect.fnUntraced(function*(claimed: ClaimedNotice) {
    const settled = transition(claimed.attempt_count - 1, yield* mail(claimed), claimed.doubts)
    const status = settled.status === "bounced" ? "failed" : settled.status
    yield* retryWhileUnavailable(notices.settle(claimed, { ...settled, status }))
    if (status === "failed") yield* Effect.logWarning("a notice was given up; its row says why")
  }, (effect, claimed) =>
    effect.pipe(
      Effect.tapCause((cause) => Effect.logError("what came of a notice could not be noted", cause)),
      Effect.annotateLogs({ notice: claimed.id, account: claimed.account_id }),
      Effect.ensuring(Effect.andThen(Effect.sync(() => held.delete(claimed.id)), slots.release(1)))
    ))

  const begin = (claimed: ClaimedNotice) =>
    Effect.uninterruptible(
      Effect.andThen(slots.take(1), () => {
        held.add(claimed.id)
        // A conversation that has begun is ended and noted, also when this node has to leave.
        return Effect.forkChild(sendOne(claimed), { uninterruptible: true })
      })
    )

  /** As soon as one may be begun, begins those that are due; false when none was, or when the relay is left alone. */
  const page = Effect.gen(function*() {
    yield* slots.withPermit(Effect.void)
    const admission = yield* smtp.admission
    if (admission._tag === "Refused") return false
    const limit = admission._tag === "Probe" ? 1 : width - held.size
    const claimed = yield* notices.claim({ limit, held: [...held], domain, most: maxAttempts })
    yield* Effect.forEach(claimed, begin, { discard: true })
    return claimed.length > 0 && admission._tag === "Pass"
  })

  const round = Effect.gen(function*() {
    while (yield* retryWhileUnavailable(page)) continue
  })
  yield* round.pipe(
    Effect.tapCause((cause) => Effect.logWarning("a look for due notices failed", cause)),
    Effect.ignoreCause,
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.onExit(() => slots.take(width))
  )
})

/** Sends notices on one node of the cluster at a time. */
export const NoticeSender = Singleton.make("NoticeSender", sendNotices)
