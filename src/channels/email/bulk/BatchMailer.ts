import { Cause, Context, DateTime, Effect, Layer, Option, Result } from "effect"
import * as Template from "../../../templates/Template.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { prepare } from "../mime/compose.ts"
import { makeDkimSigners } from "../mime/DkimSigners.ts"
import { sign } from "../mime/sign.ts"
import type { SendOutcome } from "../recipients/RecipientState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { UnsubscribeLinks } from "../suppressions/UnsubscribeLinks.ts"
import { track, trackingValues } from "../tracking/track.ts"
import { TrackingLinks } from "../tracking/TrackingLinks.ts"
import type { BatchContent, Claimed } from "./BatchesRepo.ts"

/** What became of one message, and the subject that it had. */
export interface Mailed {
  readonly subject: string
  readonly outcome: SendOutcome
}

/** Total: whatever is wrong with a recipient is that recipient's outcome, so that it can hold up nobody else. */
export type MailOne = (claimed: Claimed) => Effect.Effect<Mailed>

const isTracked = ({ links, track_opens }: BatchContent) => track_opens || links.length > 0

/** With places for the pixel and the links of each recipient. The text part was made before, so its links stay. */
const tracked = (texts: Template.Template, content: BatchContent): Template.Template =>
  texts.html === undefined || !isTracked(content)
    ? texts
    : { ...texts, html: track(texts.html, { opens: content.track_opens, targets: content.links }) }

/** Makes the messages of a batch and hands them to the relay. */
export class BatchMailer extends Context.Service<BatchMailer, {
  /** Reads the templates and the key once for all recipients. */
  readonly open: (content: BatchContent) => Effect.Effect<MailOne>
}>()("messaging-service/channels/email/bulk/BatchMailer") {
  static readonly layer = Layer.effect(
    BatchMailer,
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const signerOf = yield* makeDkimSigners
      const links = yield* UnsubscribeLinks
      const tracking = yield* TrackingLinks
      const paths = yield* ReturnPaths

      const open = Effect.fn("BatchMailer.open")(function*(content: BatchContent) {
        const { account_id, created_at, from_address, from_name, id } = content
        const domain = domainOf(from_address)
        const template = Result.map(Template.compile(content), (texts) => tracked(texts, content))
        const signer = yield* Effect.result(signerOf(account_id, from_address))
        const compose = prepare({
          from: { ...(from_name !== null && { name: from_name }), address: from_address },
          feedbackId: `${id}:${account_id}:bulk:messaging`
        })
        // The batch's own date: a repetition after a crash has the same bytes.
        const date = DateTime.toEpochMillis(DateTime.makeUnsafe(created_at))

        const handOver = Effect.fnUntraced(function*({ id: messageId, recipient }: Claimed, mail: Template.Rendered) {
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
          yield* smtp.send({ envelope, message, priority: "bulk" })
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

        const one: MailOne = Effect.fnUntraced(
          function*(claimed) {
            // It was compiled when the batch was accepted, so only a text stored by another version can fail here.
            if (Result.isFailure(template)) return unsendable(template.failure.map(({ message }) => message).join("; "))
            const rendered = Template.render(template.success, valuesOf(claimed))
            const outcome = yield* Effect.catch(
              handOver(claimed, rendered),
              (failure): Effect.Effect<SendOutcome> => Effect.succeed(failure)
            )
            return { subject: rendered.subject, outcome }
          },
          (effect, { id: message }) =>
            Effect.catchCauseIf(effect, (cause) => !Cause.hasInterrupts(cause), (cause) =>
              Effect.as(
                Effect.logError("a message could not be made", cause).pipe(Effect.annotateLogs({ message })),
                unsendable("the message could not be made")
              ))
        )
        return one
      })

      return BatchMailer.of({ open })
    })
  )
}
