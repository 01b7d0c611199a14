import { Context, Effect, Layer, Option } from "effect"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { type DeliveryReport, DeliveryReports } from "../recipients/DeliveryReports.ts"
import { Suppressions } from "../suppressions/Suppressions.ts"
import { UnsubscribeLinks } from "../suppressions/Unsubscribe.ts"
import { parseReport } from "./parseReport.ts"
import { meaningFor } from "./Report.ts"
import { type Addressee, ReturnPaths } from "./ReturnPaths.ts"

/** The feedback types of a reader's complaint; `not-spam`, `auth-failure` and others are not (RFC 5965 7.3). */
const complaints: ReadonlySet<string> = new Set(["abuse", "fraud"])

const complained = (): DeliveryReport => ({ status: "complained" })

const idsOf = (addressees: ReadonlyArray<Addressee>, tag: "Message" | "Unsubscribe") => [
  ...new Set(addressees.flatMap((to) => to._tag === tag ? [to.id] : []))
]

/** More candidates than any of our mails contains; each costs a MAC. */
const maxTokens = 20

/** A mail to our addresses. */
export interface InboundMail {
  /** Empty for the null sender. */
  readonly from: string
  readonly to: ReadonlyArray<Addressee>
  readonly raw: Uint8Array
}

/** Applies mail to our addresses: delivery reports, complaints and unsubscribe requests. */
export class ReportIntake extends Context.Service<ReportIntake, {
  /**
   * Returns after the commit. It ignores mail that is not a report. A report about a message needs a token of that
   * message: in the address it was sent to or, for a complaint, in the original message. Any mail to a message's
   * List-Unsubscribe address unsubscribes its recipient, except mail without a sender, which is a report.
   */
  readonly take: (mail: InboundMail) => Effect.Effect<void>
  /** Takes a report about one of our mails from a simulated mail server, also without a bounce domain. */
  readonly takeOn: (original: Uint8Array, report: Uint8Array) => Effect.Effect<void>
}>()("messaging-service/channels/email/reports/ReportIntake") {
  static readonly layer = Layer.effect(
    ReportIntake,
    Effect.gen(function*() {
      const reports = yield* DeliveryReports
      const paths = yield* ReturnPaths
      const links = yield* UnsubscribeLinks
      const suppressions = yield* Suppressions

      /** The message whose token is in a complaint's original; providers redact much of the rest. */
      const messageIn = (hints: ReadonlyArray<string>): Option.Option<EmailMessageId> => {
        const tokens = (pattern: RegExp) =>
          hints.flatMap((hint) => Array.from(hint.matchAll(pattern), ([token]) => token)).slice(0, maxTokens)
        const ids = [
          ...tokens(/(?<![a-z2-7])[a-z2-7]{32}(?![a-z2-7])/gi).map(paths.messageOf),
          ...tokens(/(?<=\/u\/)\d{1,16}-[\w-]{16}/g).map(links.messageOf)
        ]
        return Option.firstSomeOf(ids)
      }

      const apply = (id: EmailMessageId, read: (recipient: string) => DeliveryReport | undefined) =>
        Effect.flatMap(
          reports.apply(id, read),
          (outcome) => Effect.logDebug("applied a mail report").pipe(Effect.annotateLogs({ message: id, outcome }))
        )

      const take = Effect.fn("ReportIntake.take")(function*({ from, raw, to }: InboundMail) {
        const unsubscribing = from === "" ? [] : idsOf(to, "Unsubscribe")
        yield* Effect.forEach(unsubscribing, suppressions.unsubscribe, { discard: true })
        if (to.every(({ _tag }) => _tag === "Unsubscribe")) return
        const report = parseReport(raw)
        const named = idsOf(to, "Message")
        if (report._tag === "Delivery") {
          return yield* Effect.forEach(
            named,
            (id) => apply(id, (recipient) => meaningFor(report.recipients, recipient)),
            {
              discard: true
            }
          )
        }
        if (report._tag === "None") return yield* Effect.logDebug("dropped a mail that is not a report")
        if (!complaints.has(report.type)) return
        const ids = named.length > 0 ? named : Option.toArray(messageIn(report.hints))
        if (ids.length === 0) return yield* Effect.logInfo("dropped a complaint that names no message of ours")
        yield* Effect.forEach(ids, (id) => apply(id, complained), { discard: true })
      })
      const takeOn = Effect.fn("ReportIntake.takeOn")(function*(original: Uint8Array, raw: Uint8Array) {
        const id = messageIn([Buffer.from(original).toString("latin1")])
        if (Option.isSome(id)) yield* take({ from: "", to: [{ _tag: "Message", id: id.value }], raw })
      })

      return ReportIntake.of({ take, takeOn })
    })
  )
}
