import { Effect } from "effect"
import { Emails } from "../channels/email/single/Emails.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { EmailMessageId } from "../values/Ids.ts"
import { codeSubject, codeText } from "./codeText.ts"
import { type CodeMessage, codeStatusOf, type VerifyChannel } from "./VerifyChannel.ts"

/** The texts are template variables, so that a brand name is never parsed as a template. */
const template = {
  subject: "{{subject}}",
  text: "{{text}}",
  html: `<p dir="{{direction}}" lang="{{locale}}" style="font-size:1.2em">{{text}}</p>`
}

const emailOf = ({ words }: CodeMessage) => ({
  ...template,
  variables: {
    subject: codeSubject(words),
    text: codeText(words),
    direction: words.locale === "ar" ? "rtl" : "ltr",
    locale: words.locale
  },
  track_opens: false,
  track_clicks: false
})

const suppressed = () =>
  ValidationFailed.of("to", "is on your suppression list: see GET /v1/email/suppressions/{email}", "suppressed")

const notAnAddress = () => ValidationFailed.of("to", "must be an email address, because the code goes by email")

/** Sends codes by email from the service's default sender, as single emails, which do not wait for batches. */
export const make = Effect.map(Emails, (messages): VerifyChannel => ({
  send: Effect.fn("EmailCodes.send")(function*(message) {
    const { accountId, seed, to } = message
    if (to.kind !== "email") return yield* notAnAddress()
    const { id, status } = yield* messages.send(accountId, { ...emailOf(message), to: to.address }, seed).pipe(
      // The email names neither a sender nor a template of the account.
      Effect.catchTags({ SenderNotVerified: Effect.die, NotFound: Effect.die })
    )
    return status === "queued" ? id : yield* suppressed()
  }),
  statusOf: (accountId, messageId) => codeStatusOf(messages.find(accountId, EmailMessageId.make(messageId))),
  // No channel follows email.
  withdraw: () => Effect.void
}))
