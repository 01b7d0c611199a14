/**
 * Plays the mail servers and readers behind the sandbox. Mail to some addresses gets a report to its return path, by
 * SMTP, as on the internet. Reports wait in memory: a node that dies loses those that it has not sent.
 */
import { Context, DateTime, Effect, Layer, Queue, References } from "effect"
import { ReportIntake } from "../../channels/email/reports/ReportIntake.ts"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
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

interface TestReport {
  readonly raw: Uint8Array
  /** The mail that it is about. */
  readonly original: Uint8Array
}

/** Reports about mail that the sandbox accepted. */
export class SandboxReports extends Context.Service<SandboxReports, {
  /** Queues a report for each special recipient of a mail. */
  readonly request: (mail: ReceivedMail) => Effect.Effect<void>
  /** Waits for the next report. */
  readonly next: Effect.Effect<PendingReport>
  /** Waits for the next report about mail of a test account. */
  readonly nextOfTests: Effect.Effect<TestReport>
}>()("messaging-service/sandbox/mail/SandboxReports") {
  static readonly layer = Layer.effect(
    SandboxReports,
    Effect.gen(function*() {
      const queue = yield* Queue.sliding<PendingReport>(maxWaiting)
      const ofTests = yield* Queue.sliding<TestReport>(maxWaiting)
      return SandboxReports.of({
        request: Effect.fnUntraced(function*({ account, envelopeFrom: returnPath, raw, recipients }) {
          // RFC 5321 6.1: mail without a return path gets no reports.
          if (returnPath === "") return
          const at = yield* DateTime.now
          for (const recipient of recipients) {
            const kind = reportOf(recipient)
            if (kind === undefined) continue
            const report = writeReport(kind, { returnPath, recipient, raw, at })
            yield* account === null
              ? Queue.offer(queue, { kind, ...report })
              : Queue.offer(ofTests, { raw: report.raw, original: raw })
          }
        }),
        next: Queue.take(queue),
        nextOfTests: Queue.take(ofTests)
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

/** Passes on the reports about mail of test accounts without SMTP, because a production node may listen for none. */
export const TestReporter = Layer.effectDiscard(Effect.gen(function*() {
  const reports = yield* SandboxReports
  const intake = yield* ReportIntake
  const takeOne = Effect.gen(function*() {
    const { original, raw } = yield* reports.nextOfTests
    yield* retryWhileUnavailable(intake.takeOn(original, raw)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("taking a report about a test mail failed", cause))
    )
  })
  yield* Effect.forkScoped(Effect.forever(takeOne))
}))
