import { Context, Effect, Layer, Option } from "effect"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { type DeliveryReport, DeliveryReports } from "../recipients/DeliveryReports.ts"
import { Suppressions } from "../suppressions/Suppressions.ts"
import { UnsubscribeLinks } from "../suppressions/Unsubscribe.ts"
import { meaningOf } from "./meaningOf.ts"
import { parseReport } from "./parseReport.ts"
import { type Addressee, ReturnPaths } from "./ReturnPaths.ts"

/** What mailbox providers call a complaint of a reader; `not-spam`, `auth-failure` and others are none (RFC 5965 7.3). */
const complaints: ReadonlySet<string> = new Set(["abuse", "fraud"])

const complained = (): DeliveryReport => ({ status: "complained" })

const idsOf = (addressees: ReadonlyArray<Addressee>, tag: "Message" | "Unsubscribe") => [
  ...new Set(addressees.flatMap((to) => to._tag === tag ? [to.id] : []))
]

/** More candidates than any mail of ours has; each costs a MAC. */
const mostTokens = 20

/** A mail to addresses of ours. */
export interface InboundMail {
  /** Empty for the null sender. */
  readonly from: string
  readonly to: ReadonlyArray<Addressee>
  readonly raw: Uint8Array
}

/** Mail to our own addresses, and what it means for the messages that it is about. */
export class ReportIntake extends Context.Service<ReportIntake, {
  /**
   * Returns when what the mail means is committed. Mail that is no report means nothing. What a report says of a message
   * counts only under a token of that message: in the address that it came to, or, for complaints, in the original. Mail
   * to the address of a message's List-Unsubscribe is that wish, whatever it says, but for reports: those have no sender.
   */
  readonly take: (mail: InboundMail) => Effect.Effect<void>
}>()("messaging-service/channels/email/reports/ReportIntake") {
  static readonly layer = Layer.effect(
    ReportIntake,
    Effect.gen(function*() {
      const reports = yield* DeliveryReports
      const paths = yield* ReturnPaths
      const links = yield* UnsubscribeLinks
      const suppressions = yield* Suppressions

      /** The message that a complaint's original names by a token with a MAC; providers black out much of the rest. */
      const messageIn = (hints: ReadonlyArray<string>): Option.Option<EmailMessageId> => {
        const tokens = (pattern: RegExp) =>
          hints.flatMap((hint) => Array.from(hint.matchAll(pattern), ([token]) => token)).slice(0, mostTokens)
        const ids = [
          ...tokens(/(?<![a-z2-7])[a-z2-7]{32}(?![a-z2-7])/gi).map(paths.messageOf),
          ...tokens(/(?<=\/u\/)\d{1,16}-[\w-]{16}/g).map(links.messageOf)
        ]
        return Option.firstSomeOf(ids)
      }

      const note = (id: EmailMessageId, read: (recipient: string) => DeliveryReport | undefined) =>
        Effect.flatMap(reports.apply(id, read), (noted) =>
          Effect.logDebug("a report came").pipe(
            Effect.annotateLogs({ message: id, noted })
          ))

      const take = Effect.fn("ReportIntake.take")(function*({ from, raw, to }: InboundMail) {
        const leaving = from === "" ? [] : idsOf(to, "Unsubscribe")
        yield* Effect.forEach(leaving, suppressions.unsubscribe, { discard: true })
        if (to.every(({ _tag }) => _tag === "Unsubscribe")) return
        const report = parseReport(raw)
        const named = idsOf(to, "Message")
        if (report._tag === "Delivery") {
          return yield* Effect.forEach(
            named,
            (id) => note(id, (recipient) => meaningOf(report.recipients, recipient)),
            {
              discard: true
            }
          )
        }
        if (report._tag === "None") return yield* Effect.logDebug("mail that is no report was dropped")
        if (!complaints.has(report.type)) return
        const ids = named.length > 0 ? named : Option.toArray(messageIn(report.hints))
        if (ids.length === 0) return yield* Effect.logInfo("a complaint names no message of ours and was dropped")
        yield* Effect.forEach(ids, (id) => note(id, complained), { discard: true })
      })
      return ReportIntake.of({ take })
    })
  )
}
