import { Cause, Context, Duration, Effect, Layer, Option, Result } from "effect"
import { MemoryBudget } from "../../../platform/http/MemoryBudget.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import type * as Template from "../../../templates/Template.ts"
import { modeOf } from "../../../values/TestMode.ts"
import { sign } from "../mime/dkim.ts"
import * as DkimSigners from "../mime/DkimSigners.ts"
import { DueChecks, hinders } from "../recipients/DueChecks.ts"
import type { SendOutcome } from "../recipients/RecipientState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { Transcript } from "../smtp/Transcript.ts"
import * as BatchComposer from "./BatchComposer.ts"
import type { BatchContent, Claimed } from "./BatchesRepo.ts"

/** Mails with larger texts share a limit of memory. The others need none of it, because their number in flight is limited. */
export const maxSmallBytes = 100_000

/** The texts of large mails in flight. Composed and signed, a text needs three times its size. */
const large = { total: 32 * 1024 * 1024, share: 16 * 1024 * 1024, wait: Duration.infinity }

/** The outcome of sending one message, and its subject. */
export interface Mailed {
  readonly subject: string
  /** Absent if the relay was not asked. */
  readonly transcript?: Transcript
  readonly outcome: SendOutcome
}

/** Sends one recipient's message. Total: every fault becomes that recipient's outcome and delays no other. */
export type MailOne = (claimed: Claimed, lease: Lease) => Effect.Effect<Mailed>

/** Composes, signs and sends the messages of batches. */
export class BatchMailer extends Context.Service<BatchMailer, {
  /** Compiles the templates and loads the key once for all recipients of a batch. */
  readonly open: (content: BatchContent) => Effect.Effect<MailOne>
}>()("messaging-service/channels/email/bulk/BatchMailer") {
  static readonly layer = Layer.effect(
    BatchMailer,
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const signerOf = yield* DkimSigners.make
      const paths = yield* ReturnPaths
      const checks = yield* DueChecks
      const composerOf = yield* BatchComposer.make
      // Mail of test accounts does not wait for the relay, nor for mail that does.
      const memory = { live: MemoryBudget.make(large), test: MemoryBudget.make(large) }

      const open = Effect.fn("BatchMailer.open")(function*(content: BatchContent) {
        const { account_id, from_address } = content
        const { bytesOf, compose, rendered } = composerOf(content)
        const signer = yield* Effect.result(signerOf(account_id, from_address))
        const obstacle = yield* checks.obstacle(content)

        const send = Effect.fnUntraced(function*(
          claimed: Claimed,
          mail: Template.Rendered,
          { lease, transcript }: { readonly lease: Lease; readonly transcript: Transcript }
        ) {
          const signing = yield* Effect.fromResult(signer)
          const plain = compose(claimed, mail)
          const message = Option.isNone(signing) ? plain : yield* sign(plain, signing.value)
          const envelope = paths.envelopeOf(claimed.id, { from: from_address, to: claimed.recipient })
          yield* smtp.send({ envelope, message, priority: "bulk", account: account_id, lease, transcript })
          return { _tag: "Accepted" } as const
        })

        const unsendable = (reason: string): Mailed => ({
          subject: content.subject,
          outcome: { _tag: "Unsendable", reason }
        })

        const mailOne: MailOne = Effect.fnUntraced(
          function*(claimed, lease) {
            if (hinders(obstacle, claimed.attempt_count)) return unsendable(obstacle)
            // The template compiled when the batch was accepted, so only a text stored by another version fails here.
            if (Result.isFailure(rendered)) return unsendable(rendered.failure.map(({ message }) => message).join("; "))
            const bytes = bytesOf(claimed)
            if (bytes > maxSmallBytes) yield* Effect.orDie(memory[modeOf(account_id)].take(account_id, bytes))
            const mail = rendered.success(claimed)
            if (claimed.is_suppressed) return { subject: mail.subject, outcome: { _tag: "Suppressed" as const } }
            const transcript = new Transcript()
            const outcome = yield* Effect.catch(
              send(claimed, mail, { lease, transcript }),
              (failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)
            )
            return { subject: mail.subject, outcome, transcript }
          },
          Effect.scoped,
          (effect, { id: message }) =>
            Effect.catchCauseIf(effect, (cause) => !Cause.hasInterrupts(cause), (cause) =>
              Effect.as(
                Effect.logError("composing a message failed", cause).pipe(Effect.annotateLogs({ message })),
                unsendable("the message could not be composed")
              ))
        )
        return mailOne
      })

      return BatchMailer.of({ open })
    })
  )
}
