import { Effect, Layer } from "effect"
import { Smtp } from "../../channels/email/smtp/Smtp.ts"
import { OutcomeUnknown, RecipientRefused, type SendFailure } from "../../channels/email/smtp/SmtpErrors.ts"
import { type FaultOf, SandboxFaults } from "../../messages/SandboxFault.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import { isTest } from "../../values/TestMode.ts"
import { SandboxDelivery } from "./SandboxDelivery.ts"
import type { Refusal } from "./specialAddresses.ts"

const failureOf = ({ at, code, text }: Refusal) =>
  new RecipientRefused({
    stage: at === "recipient" ? "rcpt" : "message",
    permanent: code >= 500,
    code,
    enhanced: text.split(" ")[0] ?? "",
    response: `${code} ${text}`
  })

const refused = (code: number, enhanced: string, text: string) =>
  new RecipientRefused({
    stage: "rcpt",
    permanent: code >= 500,
    code,
    enhanced,
    response: `${code} ${enhanced} ${text}`
  })

/**
 * What a planned fault does to a mail. The refusal is about a policy, so it suppresses nothing: the next mail to the same
 * recipient arrives. A relay that hangs up has all of the mail, so it may have accepted it.
 */
const plannedFailures: Readonly<Record<FaultOf<"email">, SendFailure>> = {
  email_bounce: refused(550, "5.7.1", "Refused by a planned fault"),
  email_defer: refused(451, "4.7.1", "Deferred by a planned fault, try again later"),
  email_hang_up: new OutcomeUnknown({ reason: "connection closed by a planned fault" })
}

/**
 * The upstreams of mail: the sandbox takes that of test accounts, in this process, and the relay all other. The account
 * decides at the moment of the hand-over, so a test mail has no way to the relay, and a live one none to the sandbox.
 */
export const withTestMail = <E, R>(relay: Layer.Layer<Smtp, E, R>) =>
  Layer.effect(
    Smtp,
    Effect.gen(function*() {
      const live = yield* Smtp
      const { deliver } = yield* SandboxDelivery
      const faults = yield* SandboxFaults
      return Smtp.of({
        ...live,
        send: (mail) => {
          const { account, envelope, lease, message } = mail
          if (account === null || !isTest(account)) return live.send(mail)
          return Effect.gen(function*() {
            if (lease?.begin() === false) return yield* Effect.interrupt
            const fault = yield* faults.take(account, "email")
            if (fault !== undefined) return yield* plannedFailures[fault]
            const received = { account, envelopeFrom: envelope.from, recipients: [envelope.to], raw: message }
            const refusal = yield* retryWhileUnavailable(deliver(received))
            return refusal === undefined ? { response: "250 2.0.0 Stored in the sandbox" } : yield* failureOf(refusal)
          })
        },
        admission: (account) =>
          account !== undefined && isTest(account) ? Effect.succeed({ _tag: "Pass" }) : live.admission(account)
      })
    })
  ).pipe(Layer.provide(relay))
