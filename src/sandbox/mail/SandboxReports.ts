/**
 * Plays the mail servers and readers behind the sandbox. Mail to some addresses gets a report to its return path, by
 * SMTP, as on the internet. Reports wait in memory: a node that dies loses those that it has not sent.
 */
import { Context, DateTime, Effect, Layer, Queue, References } from "effect"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import type { ReceivedMail } from "./SandboxInbox.ts"
import { type ReportKind, reportOf } from "./specialAddresses.ts"
import { writeReport } from "./writeReport.ts"

/** Only a bench fills this queue. It then drops the oldest reports. */
const maxWaiting = 10_000

interface PendingReport {
  readonly kind: ReportKind
  readonly to: string
  readonly raw: Buffer
}

/** Reports about mail that the sandbox accepted. */
export class SandboxReports extends Context.Service<SandboxReports, {
  /** Queues a report for each special recipient of a mail. */
  readonly request: (mail: ReceivedMail) => Effect.Effect<void>
  /** Waits for the next report. */
  readonly next: Effect.Effect<PendingReport>
}>()("messaging-service/sandbox/mail/SandboxReports") {
  static readonly layer = Layer.effect(
    SandboxReports,
    Effect.gen(function*() {
      const queue = yield* Queue.sliding<PendingReport>(maxWaiting)
      return SandboxReports.of({
        request: Effect.fnUntraced(function*({ envelopeFrom: returnPath, raw, recipients }) {
          // RFC 5321 6.1: mail without a return path gets no reports.
          if (returnPath === "") return
          const at = yield* DateTime.now
          for (const recipient of recipients) {
            const kind = reportOf(recipient)
            if (kind === undefined) continue
            yield* Queue.offer(queue, { kind, ...writeReport(kind, { returnPath, recipient, raw, at }) })
          }
        }),
        next: Queue.take(queue)
      })
    })
  )
}

const sending = Effect.gen(function*() {
  const reports = yield* SandboxReports
  const smtp = yield* Smtp
  const sendOne = Effect.gen(function*() {
    const { kind, raw, to } = yield* reports.next
    yield* smtp.send({ envelope: { from: "", to }, message: raw, priority: "bulk", account: null }).pipe(
      // The listener refuses reports about mail with a foreign return path, such as a notice.
      Effect.catch((failure) =>
        Effect.logDebug("sending a sandbox report failed", failure).pipe(
          Effect.annotateLogs({ kind })
        )
      )
    )
  })
  // The log lines of an `Smtp` are about the operator's relay; this one leads to the node's own listener.
  yield* Effect.forkScoped(Effect.provideService(Effect.forever(sendOne), References.MinimumLogLevel, "Warn"))
})

/** Sends the reports of this node's sandbox through `Smtp`, which leads to this node's own listener. */
export const SandboxReporter = Layer.effectDiscard(sending)
