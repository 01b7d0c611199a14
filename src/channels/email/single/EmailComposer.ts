import { DateTime, Effect } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { renderPart } from "../../../templates/TemplatePart.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import { messageIdOf, prepare } from "../mime/compose.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { fixedPart, track, trackingValues } from "../tracking/track.ts"
import { TrackingLinks } from "../tracking/TrackingLinks.ts"
import type { EmailContent, EmailPart } from "./EmailSenderRepo.ts"

/** The copy of an email for one recipient. */
interface Copy extends EmailContent {
  readonly id: EmailMessageId
  readonly parts: ReadonlyArray<EmailPart>
}

const mailbox = (name: string | null, address: EmailContent["from_address"]) => ({
  ...(name !== null && { name }),
  address
})

const textOf = (parts: ReadonlyArray<EmailPart>, kind: "html" | "text") => {
  const part = parts.find((each) => each.kind === kind)
  return part === undefined ? undefined : Buffer.from(part.content).toString("utf8")
}

const filesOf = (parts: ReadonlyArray<EmailPart>) =>
  parts.filter(({ kind }) => kind === "attachment").map(({ content, content_type, filename }) => ({
    filename: filename ?? "file",
    content,
    content_type: content_type ?? "application/octet-stream"
  }))

/** Composes the copies of single emails, without a signature. A repetition has the same bytes. */
export const make = Effect.gen(function*() {
  const paths = yield* ReturnPaths
  const tracking = yield* TrackingLinks
  const { verify: codeKey } = yield* MacKeys

  /** Fills in the one-time code. Only a mail that is sent has it; every other one has stars. */
  const filledIn = (text: string | undefined, { code_seed }: EmailContent) =>
    text === undefined || code_seed === null ? text : fillIn(codeKey, code_seed, text)

  /** Adds the recipient's tracked links and pixel to the HTML. */
  const htmlOf = (html: string | undefined, { id, links, track_opens }: Copy) => {
    if (html === undefined || (!track_opens && links.length === 0)) return html
    const part = track(fixedPart(html), { opens: track_opens, targets: links })
    return renderPart(part, trackingValues(tracking.urlsOf(id, links.length)), (url) => url)
  }

  return (email: Copy) => {
    const { id, parts } = email
    const token = paths.tokenOf(id)
    return prepare({
      from: mailbox(email.from_name, email.from_address),
      replyTo: email.reply_to_address === null ? undefined : mailbox(email.reply_to_name, email.reply_to_address),
      // Complaints identify the message by a token. Copies of one email share a Message-ID, so a header carries theirs.
      headers: { ...email.headers, ...(!email.is_alone && { "X-Recipient-Token": token }) }
    })({
      to: email.to,
      cc: email.cc,
      subject: email.subject,
      html: htmlOf(filledIn(textOf(parts, "html"), email), email),
      text: filledIn(textOf(parts, "text"), email),
      messageId: messageIdOf({
        from: email.from_address,
        token: email.is_alone ? token : undefined,
        unique: email.message_id
      }),
      date: DateTime.toEpochMillis(DateTime.makeUnsafe(email.created_at)),
      attachments: filesOf(parts)
    })
  }
})
