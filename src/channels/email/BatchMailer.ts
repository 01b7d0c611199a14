import { Cause, Context, DateTime, Effect, Layer, Option, Redacted, Result } from "effect"
import { EmailDomains } from "../../email-domains/EmailDomains.ts"
import * as Template from "../../templates/Template.ts"
import { parseDomainName } from "../../values/DomainName.ts"
import type { BatchContent, Claimed } from "./BatchesRepo.ts"
import type { SendOutcome } from "./BatchState.ts"
import { prepare } from "./compose.ts"
import { DefaultSender } from "./DefaultSender.ts"
import { DkimSigningFailed } from "./DkimErrors.ts"
import { type DkimSigner, parseKey, sign } from "./sign.ts"
import { Smtp } from "./Smtp.ts"
import { UnsubscribeLinks } from "./UnsubscribeLinks.ts"

/** What became of one message, and the subject that it had. */
export interface Mailed {
  readonly subject: string
  readonly outcome: SendOutcome
}

/** Total: whatever is wrong with a recipient is that recipient's outcome, so that it can hold up nobody else. */
export type MailOne = (claimed: Claimed) => Effect.Effect<Mailed>

/** Makes the messages of a batch and hands them to the relay. */
export class BatchMailer extends Context.Service<BatchMailer, {
  /** Reads the templates and the key once for all recipients. */
  readonly open: (content: BatchContent) => Effect.Effect<MailOne>
}>()("messaging-service/channels/email/BatchMailer") {
  static readonly layer = Layer.effect(
    BatchMailer,
    Effect.gen(function*() {
      const smtp = yield* Smtp
      const domains = yield* EmailDomains
      const links = yield* UnsubscribeLinks
      const standard = yield* DefaultSender

      /** Nothing when the domain has no key; a failure when it has one that cannot be used. */
      const signerOf = Effect.fnUntraced(function*({ account_id, from_address }: BatchContent, domain: string) {
        const failed = (reason: string) => new DkimSigningFailed({ domain, reason })
        const pem = yield* domains.dkimKey(account_id, domain).pipe(
          Effect.catchTags({
            SenderNotVerified: () =>
              from_address === standard.address ? Effect.succeedNone : Effect.fail(failed("the domain was removed")),
            SealBroken: () => Effect.fail(failed("its key cannot be decrypted"))
          })
        )
        if (Option.isNone(pem)) return Option.none<DkimSigner>()
        const name = yield* Effect.fromResult(parseDomainName(domain)).pipe(Effect.mapError(failed))
        const key = yield* Effect.mapError(parseKey(Redacted.value(pem.value)), ({ reason }) => failed(reason))
        return Option.some({ domain: name, selector: "api", key })
      })

      const open = Effect.fn("BatchMailer.open")(function*(content: BatchContent) {
        const { account_id, created_at, from_address, from_name, id } = content
        const domain = from_address.slice(from_address.lastIndexOf("@") + 1)
        const template = Template.compile(content)
        const signer = yield* Effect.result(signerOf(content, domain))
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
            messageId: `${messageId}.${id.slice(12).toLowerCase()}@${domain}`,
            date,
            listUnsubscribe: { url: links.urlOf(messageId) }
          })
          const message = Option.isNone(signing) ? plain : yield* sign(plain, signing.value)
          yield* smtp.send({ envelope: { from: from_address, to: recipient }, message, priority: "bulk" })
          return { _tag: "Accepted" } as const
        })

        const unsendable = (reason: string): Mailed => ({
          subject: content.subject,
          outcome: { _tag: "Unsendable", reason }
        })

        const one: MailOne = Effect.fnUntraced(
          function*(claimed) {
            // It was compiled when the batch was accepted, so only a text stored by another version can fail here.
            if (Result.isFailure(template)) return unsendable(template.failure.message)
            const rendered = Template.render(template.success, claimed.variables)
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
