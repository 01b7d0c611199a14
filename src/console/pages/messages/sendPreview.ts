/** What a form of the page *Send* would do, before it does it. */
import { Effect, Schema } from "effect"
import { NewEmail } from "../../../channels/email/single/EmailApi.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { NewSms } from "../../../channels/sms/SmsApi.ts"
import { SmsMessages } from "../../../channels/sms/SmsMessages.ts"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { html, type HtmlValue } from "../../../platform/http/html.ts"
import { violationsOf } from "../../../platform/http/violations.ts"
import { domainOf } from "../../../values/EmailAddress.ts"
import { refusedBy } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { facts, foreign, inDollars, note, number } from "../../ui/parts.ts"

/** What a request would send, as the page shows it, and what speaks against it. */
interface Preview {
  readonly facts: ReadonlyArray<readonly [term: string, value: HtmlValue]>
  readonly warnings: ReadonlyArray<HtmlValue>
}

/** The request as its endpoint reads it. */
const read = <A>(schema: Schema.Codec<A, unknown>, body: unknown): Effect.Effect<A, ValidationFailed> =>
  Schema.decodeUnknownEffect(schema)(body, { errors: "all" }).pipe(
    Effect.mapError(({ issue }) => {
      const errors = violationsOf(issue)
      return new ValidationFailed({ param: errors[0]?.param ?? "", errors })
    })
  )

const ofSms = Effect.fnUntraced(function*(ask: AccountAsk, body: unknown) {
  const { t } = ask
  const given = yield* read(NewSms, body)
  const { cost_usd, encoding, segments, sender_id, to } = yield* (yield* SmsMessages).preview(ask.accountId, given)
  const preview: Preview = {
    facts: [
      [t.text("message.from"), sender_id === null ? t.text("smsPage.anySender") : foreign(sender_id)],
      [t.text("messages.to"), foreign(to)],
      [t.text("message.segments"), number(ask, segments)],
      [t.text("message.cost"), inDollars(ask, cost_usd)]
    ],
    warnings: encoding === "ucs2" ? [t.text("send.preview.ucs2")] : []
  }
  return preview
})

const listOf = (addresses: NewEmail["to"] = []) => [addresses].flat()

const ofEmail = Effect.fnUntraced(function*(ask: AccountAsk, body: unknown) {
  const { accountId, t } = ask
  const { bcc, cc, from, to } = yield* read(NewEmail, body)
  const { mailFrom, mailFromShared } = yield* AppConfig
  const recipients = [to, cc, bcc].flatMap(listOf)
  const suppressed = yield* (yield* Suppressions).among(accountId, recipients)
  const isOwn = from !== undefined
    && (yield* Effect.isSuccess((yield* EmailDomains).requireVerified(accountId, from.address)))
  const known = isOwn ? yield* (yield* DomainRegistrations).warnings(accountId, from.address) : []
  const preview: Preview = {
    facts: [
      [t.text("message.from"), from === undefined ? foreign(mailFrom) : foreign(from.address)],
      [t.text("messages.to"), html`${recipients.map((address) => html`${foreign(address)} `)}`]
    ],
    warnings: [
      ...(from === undefined && !mailFromShared ? [t.text("send.preview.noSender")] : []),
      ...(from === undefined || isOwn
        ? []
        : [t.text("send.preview.unverified", { domain: domainOf(from.address) })]),
      ...suppressed.map((address) => t.text("send.preview.suppressed", { address })),
      ...known.map((detail) => t.text("send.preview.warning", { detail }))
    ]
  }
  return preview
})

/** What the request of a form would do. It is refused as the form would be. */
export const previewOf = (ask: AccountAsk, channel: "email" | "sms", body: unknown) =>
  Effect.gen(function*() {
    return channel === "sms" ? yield* ofSms(ask, body) : yield* ofEmail(ask, body)
  }).pipe(Effect.catch((error) => Effect.flatMap(refusedBy(error), Effect.fail)))

export const previewShown = ({ t }: AccountAsk, { facts: given, warnings }: Preview): HtmlValue =>
  html`<p class="hint">${t.text("send.preview.text")}</p>${facts(given)}${
    warnings.length === 0 ? note(t.text("send.preview.fine"), "good") : warnings.map((text) => note(text, "warn"))
  }`
