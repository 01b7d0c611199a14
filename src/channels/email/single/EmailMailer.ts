import { Cause, Context, DateTime, Effect, Layer, Option } from "effect"
import { MacKeys } from "../../../platform/crypto/MacKeys.ts"
import { fillIn } from "../../../platform/crypto/oneTimeCode.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import { renderPart } from "../../../templates/TemplatePart.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { type MessageLabels, noLabels } from "../../../values/Labels.ts"
import { prepare } from "../mime/compose.ts"
import { sign } from "../mime/dkim.ts"
import * as DkimSigners from "../mime/DkimSigners.ts"
import { BulkThrottle } from "../recipients/BulkThrottle.ts"
import { DueChecks } from "../recipients/DueChecks.ts"
import type { SendOutcome } from "../recipients/RecipientState.ts"
import { ReturnPaths } from "../reports/ReturnPaths.ts"
import { Smtp } from "../smtp/Smtp.ts"
import { Transcript } from "../smtp/Transcript.ts"
import { fixedPart, track, trackingValues } from "../tracking/track.ts"
import { TrackingLinks } from "../tracking/TrackingLinks.ts"
import { type ClaimedRecipient, type EmailContent, type EmailPart, EmailSenderRepo, lanes } from "./EmailSenderRepo.ts"

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
      const tracking = yield* TrackingLinks
      const { verify: codeKey } = yield* MacKeys

      /** Fills in the one-time code. Before this moment it is written nowhere. */
      const filledIn = (text: string | undefined, { code_seed }: EmailContent) =>
        text === undefined || code_seed === null ? text : fillIn(codeKey, code_seed, text)

      /** Adds the recipient's tracked links and pixel to the HTML. */
      const htmlOf = (id: ClaimedRecipient["id"], html: string | undefined, { links, track_opens }: EmailContent) => {
        if (html === undefined || (!track_opens && links.length === 0)) return html
        const part = track(fixedPart(html), { opens: track_opens, targets: links })
        return renderPart(part, trackingValues(tracking.urlsOf(id, links.length)), (url) => url)
      }

      const compose = ({ id, parts, ...email }: EmailContent & {
        readonly id: ClaimedRecipient["id"]
        readonly parts: ReadonlyArray<EmailPart>
      }) => {
        const token = paths.tokenOf(id)
        // Complaints identify the message by a token. Copies of one email share a Message-ID, so a header carries theirs.
        const local = email.is_alone ? `${token}.${email.message_id}` : email.message_id
        return prepare({
          from: mailbox(email.from_name, email.from_address),
          replyTo: email.reply_to_address === null ? undefined : mailbox(email.reply_to_name, email.reply_to_address),
          headers: { ...email.headers, ...(!email.is_alone && { "X-Recipient-Token": token }) }
        })({
          to: email.to,
          cc: email.cc,
          subject: email.subject,
          html: htmlOf(id, filledIn(textOf(parts, "html"), email), email),
          text: filledIn(textOf(parts, "text"), email),
          messageId: `${local}@${domainOf(email.from_address)}`,
          date: DateTime.toEpochMillis(DateTime.makeUnsafe(email.created_at)),
          attachments: filesOf(parts)
        })
      }

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
          const outcome = obstacle !== undefined
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
