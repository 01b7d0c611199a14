import { Cause, Context, Effect, Layer, Option } from "effect"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import { type MessageLabels, noLabels } from "../../../values/Labels.ts"
import { sign } from "../mime/dkim.ts"
import * as DkimSigners from "../mime/DkimSigners.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { DueChecks, hinders } from "../recipients/DueChecks.ts"
import type { SendOutcome } from "../recipients/RecipientState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { Transcript } from "../smtp/Transcript.ts"
import * as EmailComposer from "./EmailComposer.ts"
import { type ClaimedRecipient, type EmailContent, EmailSenderRepo, lanes } from "./EmailSenderRepo.ts"

/** The outcome of sending one recipient's copy, and its subject. */
export interface Mailed {
  readonly subject: string
  /** Absent if the relay was not asked. */
  readonly transcript?: Transcript
  readonly labels: MessageLabels
  readonly outcome: SendOutcome
}

const unsendable = (reason: string): Mailed => ({
  subject: "",
  labels: noLabels,
  outcome: { _tag: "Unsendable", reason }
})

/**
 * Composes, signs and sends each recipient's copy of an email. Each copy has a separate mail transaction, so it has a
 * separate answer and return path, and bcc recipients stay hidden. All copies share one Message-ID, and a repetition has
 * the same bytes.
 */
export class EmailMailer extends Context.Service<EmailMailer, {
  /** Sends one copy. Total: every fault becomes the recipient's outcome. */
  readonly mail: (claimed: ClaimedRecipient, lease: Lease) => Effect.Effect<Mailed>
}>()("messaging-service/channels/email/single/EmailMailer") {
  static readonly layer = Layer.effect(
    EmailMailer,
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const { noteSingleEmail } = yield* BulkThrottle
      const paths = yield* ReturnPaths
      const signerOf = yield* DkimSigners.make
      const repo = yield* EmailSenderRepo
      const checks = yield* DueChecks
      const compose = yield* EmailComposer.make

      const send = Effect.fnUntraced(function*(
        claimed: ClaimedRecipient,
        content: EmailContent,
        { lease, transcript }: { readonly lease: Lease; readonly transcript: Transcript }
      ) {
        const { account_id, email_id, id, recipient: to } = claimed
        const [signer, parts] = yield* Effect.all([
          retryWhileUnavailable(signerOf(account_id, content.from_address)),
          retryWhileUnavailable(repo.parts(email_id))
        ], { concurrency: 2 })
        const plain = compose({ ...content, id, parts })
        const message = Option.isNone(signer) ? plain : yield* sign(plain, signer.value)
        yield* smtp.send({
          envelope: paths.envelopeOf(id, { from: content.from_address, to }),
          message,
          priority: claimed.lane === lanes.code ? "urgent" : "single",
          account: account_id,
          lease,
          transcript
        })
        return { _tag: "Accepted" } as const
      })

      const mail = Effect.fn("EmailMailer.mail")(
        function*(claimed: ClaimedRecipient, lease: Lease) {
          yield* noteSingleEmail(claimed.account_id)
          const content = yield* retryWhileUnavailable(repo.content(claimed.email_id))
          if (Option.isNone(content)) return unsendable("the account was removed")
          const { failover_id, metadata, subject, tags } = content.value
          const facts = { subject, labels: { tags, metadata, failover_id } }
          if (claimed.is_suppressed) return { ...facts, outcome: { _tag: "Suppressed" as const } }
          const transcript = new Transcript()
          const obstacle = yield* checks.obstacle(content.value)
          const outcome = hinders(obstacle, claimed.attempt_count)
            ? { _tag: "Unsendable" as const, reason: obstacle }
            : yield* Effect.catch(
              send(claimed, content.value, { lease, transcript }),
              (failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)
            )
          return { ...facts, outcome, transcript }
        },
        (effect, { id: message }) =>
          Effect.catchCauseIf(effect, (cause) => !Cause.hasInterrupts(cause), (cause) =>
            Effect.as(
              Effect.logError("composing an email failed", cause).pipe(Effect.annotateLogs({ message })),
              unsendable("the message could not be composed")
            ))
      )
      return EmailMailer.of({ mail })
    })
  ).pipe(Layer.provide(EmailSenderRepo.layer))
}
