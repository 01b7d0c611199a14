import { DateTime, Effect, Result } from "effect"
import * as Template from "../../../templates/Template.ts"
import { messageIdOf, prepare } from "../mime/compose.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { measure } from "../request/MailFields.ts"
import { UnsubscribeLinks } from "../suppressions/Unsubscribe.ts"
import { track, trackingValues } from "../tracking/track.ts"
import { TrackingLinks } from "../tracking/TrackingLinks.ts"
import { uniqueOf } from "./Batch.ts"
import { type BatchContent, type Claimed, noHtml } from "./BatchesRepo.ts"

/** A recipient, and the values of their message. */
type Recipient = Pick<Claimed, "id" | "recipient" | "variables">

const isTracked = ({ links, track_opens }: BatchContent) => track_opens || links.length > 0

/** Adds placeholders for each recipient's pixel and links. The text part exists already, so its links stay. */
const tracked = (texts: Template.Template, content: BatchContent): Template.Template =>
  texts.html === undefined || !isTracked(content)
    ? texts
    : { ...texts, html: track(texts.html, { opens: content.track_opens, targets: content.links }) }

/**
 * Renders and composes the messages of batches, without a signature. It compiles the templates once for all recipients of a
 * batch.
 */
export const make = Effect.gen(function*() {
  const links = yield* UnsubscribeLinks
  const tracking = yield* TrackingLinks
  const paths = yield* ReturnPaths

  return (content: BatchContent) => {
    const { account_id, created_at, from_address, from_name, id: batchId } = content
    const template = Result.map(
      Template.compile({ ...content, html: content.html === noHtml ? null : content.html }),
      (texts) => tracked(texts, content)
    )
    const composed = prepare({
      from: { ...(from_name !== null && { name: from_name }), address: from_address },
      feedbackId: `${batchId}:${account_id}:bulk:messaging`,
      headers: content.headers ?? undefined
    })
    // The batch's date, not the current time: a repetition after a crash has the same bytes.
    const date = DateTime.toEpochMillis(DateTime.makeUnsafe(created_at))

    const valuesOf = ({ id, variables }: Recipient) =>
      isTracked(content)
        ? { ...variables, ...trackingValues(tracking.urlsOf(id, content.links.length)) }
        : variables

    const measured = Result.map(template, measure)

    return {
      /** The bytes of a recipient's texts, almost exactly, without rendering them. */
      bytesOf: ({ variables }: Recipient) => Result.isSuccess(measured) ? measured.success(variables).bytes : 0,
      /** Fills in a recipient's values. A text that another version stored may not compile. */
      rendered: Result.map(template, (texts) => (recipient: Recipient) => Template.render(texts, valuesOf(recipient))),
      compose: ({ id, recipient }: Recipient, mail: Template.Rendered) =>
        composed({
          to: recipient,
          ...mail,
          messageId: messageIdOf({ from: from_address, token: paths.tokenOf(id), unique: uniqueOf(batchId) }),
          date,
          listUnsubscribe: { url: links.urlOf(id), mailto: paths.unsubscribeMailto(id) }
        })
    }
  }
})
