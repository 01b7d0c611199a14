import { Cause, Context, DateTime, Effect, Layer, Option, Result } from "effect"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import * as Template from "../../../templates/Template.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { prepare } from "../mime/compose.ts"
import { sign } from "../mime/dkim.ts"
import * as DkimSigners from "../mime/DkimSigners.ts"
import { DueChecks } from "../recipients/DueChecks.ts"
import type { SendOutcome } from "../recipients/RecipientState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { Transcript } from "../smtp/Transcript.ts"
import { UnsubscribeLinks } from "../suppressions/Unsubscribe.ts"
import { track, trackingValues } from "../tracking/track.ts"
import { TrackingLinks } from "../tracking/TrackingLinks.ts"
import { type BatchContent, type Claimed, noHtml } from "./BatchesRepo.ts"

/** The outcome of sending one message, and its subject. */
export interface Mailed {
  readonly subject: string
  /** Absent if the relay was not asked. */
  readonly transcript?: Transcript
  readonly outcome: SendOutcome
}

/** Sends one recipient's message. Total: every fault becomes that recipient's outcome and delays no other. */
export type MailOne = (claimed: Claimed, lease: Lease) => Effect.Effect<Mailed>

const isTracked = ({ links, track_opens }: BatchContent) => track_opens || links.length > 0

/** Adds placeholders for each recipient's pixel and links. The text part exists already, so its links stay. */
const tracked = (texts: Template.Template, content: BatchContent): Template.Template =>
  texts.html === undefined || !isTracked(content)
    ? texts
    : { ...texts, html: track(texts.html, { opens: content.track_opens, targets: content.links }) }

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
      const links = yield* UnsubscribeLinks
      const tracking = yield* TrackingLinks
      const paths = yield* ReturnPaths
      const checks = yield* DueChecks

      const open = Effect.fn("BatchMailer.open")(function*(content: BatchContent) {
        const { account_id, created_at, from_address, from_name, id } = content
        const domain = domainOf(from_address)
        const template = Result.map(
          Template.compile({ ...content, html: content.html === noHtml ? null : content.html }),
          (texts) => tracked(texts, content)
        )
        const signer = yield* Effect.result(signerOf(account_id, from_address))
        const obstacle = yield* checks.obstacle(content)
        const compose = prepare({
          from: { ...(from_name !== null && { name: from_name }), address: from_address },
          feedbackId: `${id}:${account_id}:bulk:messaging`,
          headers: content.headers ?? undefined
        })
        // The batch's date, not the current time: a repetition after a crash has the same bytes.
        const date = DateTime.toEpochMillis(DateTime.makeUnsafe(created_at))

        const send = Effect.fnUntraced(function*(
          { id: messageId, recipient }: Claimed,
          mail: Template.Rendered,
          { lease, transcript }: { readonly lease: Lease; readonly transcript: Transcript }
        ) {
          const signing = yield* Effect.fromResult(signer)
          const plain = compose({
            to: recipient,
            ...mail,
            messageId: `${paths.tokenOf(messageId)}.${id.slice(12).toLowerCase()}@${domain}`,
            date,
            listUnsubscribe: { url: links.urlOf(messageId), mailto: paths.unsubscribeMailto(messageId) }
          })
          const message = Option.isNone(signing) ? plain : yield* sign(plain, signing.value)
          const envelope = paths.envelopeOf(messageId, { from: from_address, to: recipient })
          yield* smtp.send({ envelope, message, priority: "bulk", account: account_id, lease, transcript })
          return { _tag: "Accepted" } as const
        })

        const valuesOf = ({ id: messageId, variables }: Claimed) =>
          isTracked(content)
            ? { ...variables, ...trackingValues(tracking.urlsOf(messageId, content.links.length)) }
            : variables

        const unsendable = (reason: string): Mailed => ({
          subject: content.subject,
          outcome: { _tag: "Unsendable", reason }
        })

        const mailOne: MailOne = Effect.fnUntraced(
          function*(claimed, lease) {
            if (obstacle !== undefined) return unsendable(obstacle)
            // The template compiled when the batch was accepted, so only a text stored by another version fails here.
            if (Result.isFailure(template)) return unsendable(template.failure.map(({ message }) => message).join("; "))
            const rendered = Template.render(template.success, valuesOf(claimed))
            if (claimed.is_suppressed) return { subject: rendered.subject, outcome: { _tag: "Suppressed" as const } }
            const transcript = new Transcript()
            const outcome = yield* Effect.catch(
              send(claimed, rendered, { lease, transcript }),
              (failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)
            )
            return { subject: rendered.subject, outcome, transcript }
          },
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
