/**
 * Plays the mail servers and readers behind the sandbox: mail to some addresses is reported on to its return path, by
 * SMTP, as others would. The sandbox's SMTP server puts a report here when it has taken the mail; it is sent at once, one
 * after the other, to this node's own listener. Reports wait in memory: what a killed node had not sent is not sent.
 */
import { Context, DateTime, Effect, Layer, Queue, References } from "effect"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import type { ReceivedMail } from "./SandboxInbox.ts"
import { askedReport, type ReportKind, writeReport } from "./writeReport.ts"

/** Reports that may wait; the oldest give way, as nobody but a bench writes to so many. */
const most = 10_000

interface Asked {
  readonly kind: ReportKind
  readonly to: string
  readonly raw: Buffer
}

/** The reports that mail in the sandbox asks for. */
export class SandboxReports extends Context.Service<SandboxReports, {
  /** Notes what the recipients of a mail that was taken ask for. */
  readonly note: (mail: ReceivedMail) => Effect.Effect<void>
  /** The next report, as soon as there is one. */
  readonly next: Effect.Effect<Asked>
}>()("messaging-service/sandbox/mail/SandboxReports") {
  static readonly layer = Layer.effect(
    SandboxReports,
    Effect.gen(function*() {
      const queue = yield* Queue.sliding<Asked>(most)
      return SandboxReports.of({
        note: Effect.fnUntraced(function*({ envelopeFrom: returnPath, raw, recipients }) {
          // RFC 5321 6.1: nobody reports about a mail without a sender.
          if (returnPath === "") return
          const at = yield* DateTime.now
          for (const recipient of recipients) {
            const kind = askedReport(recipient)
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
    yield* smtp.send({ envelope: { from: "", to }, message: raw, priority: "bulk" }).pipe(
      // Mail without a return path of ours, such as a notice: its sender is nobody who takes reports.
      Effect.catch((failure) => Effect.logDebug(`a ${kind} could not be reported`, failure))
    )
  })
  // What is said of a relay is said of the service's; this one is its own listener.
  yield* Effect.forkScoped(Effect.provideService(Effect.forever(sendOne), References.MinimumLogLevel, "Warn"))
})

/** Sends the reports of this node's sandbox to this node's listener, which its `Smtp` leads to. */
export const SandboxReporter = Layer.effectDiscard(sending)
