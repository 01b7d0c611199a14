import { Effect } from "effect"
import type { Email } from "../channels/email/single/Email.ts"
import { Emails } from "../channels/email/single/Emails.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { EmailMessageId } from "../values/Ids.ts"
import { codeSubject, codeText } from "./codeText.ts"
import type { CodeMessage, Fate, VerifyChannel } from "./VerifyChannel.ts"

/** The texts are values of templates, so that whatever a brand's name has in it is text and no template. */
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

const fates: Readonly<Partial<Record<Email["status"], Fate>>> = {
  delivered: "arrived",
  opened: "arrived",
  clicked: "arrived",
  complained: "arrived",
  bounced: "failed",
  failed: "failed",
  suppressed: "failed"
}

const suppressed = () =>
  ValidationFailed.of("to", "is on your list of suppressions: see GET /v1/email/suppressions/{email}", "suppressed")

const isWrong = () => ValidationFailed.of("to", "must be an email address, as the code goes by email")

/** Codes by email, from the service's own address: single emails, which go out at once, past every batch. */
export const makeEmailCodes = Effect.map(Emails, (messages): VerifyChannel => ({
  send: Effect.fn("EmailCodes.send")(function*(message) {
    const { accountId, seed, to } = message
    if (to.kind !== "email") return yield* isWrong()
    const { id, status } = yield* messages.send(accountId, { ...emailOf(message), to: to.address }, seed).pipe(
      // It names neither a sender nor a template of the account.
      Effect.catchTags({ SenderNotVerified: Effect.die, NotFound: Effect.die })
    )
    return status === "queued" ? id : yield* suppressed()
  }),
  fateOf: (accountId, messageId) =>
    messages.find(accountId, EmailMessageId.make(messageId)).pipe(
      Effect.map(({ status }): Fate => fates[status] ?? "under_way"),
      Effect.catchTag("NotFound", () => Effect.succeed("failed" as const))
    )
}))
