/** What a form of the page *Send* would do, before it does it. */
import { Effect } from "effect"
import { NewEmail } from "../../../channels/email/single/EmailApi.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { NewSms } from "../../../channels/sms/SmsApi.ts"
import { SmsMessages } from "../../../channels/sms/SmsMessages.ts"
import { html, type HtmlValue } from "../../../platform/http/html.ts"
import { validated } from "../../../platform/http/violations.ts"
import { refusedBy } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { facts, foreign, inDollars, note, number } from "../../ui/parts.ts"

/** What a request would send, as the page shows it, and what speaks against it. */
interface Preview {
  readonly facts: ReadonlyArray<readonly [term: string, value: HtmlValue]>
  readonly warnings: ReadonlyArray<HtmlValue>
}

const smsIn = validated(NewSms)
const emailIn = validated(NewEmail)

const ofSms = Effect.fnUntraced(function*(ask: AccountAsk, body: unknown) {
  const { t } = ask
  const given = yield* smsIn(body)
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

const ofEmail = Effect.fnUntraced(function*(ask: AccountAsk, body: unknown) {
  const { accountId, t } = ask
  const given = yield* emailIn(body)
  const { from: { address, name }, recipients, warnings } = yield* (yield* Emails).preview(accountId, given)
  const suppressed = yield* (yield* Suppressions).among(accountId, recipients)
  const preview: Preview = {
    facts: [
      [t.text("message.from"), foreign(name === undefined ? address : `${name} <${address}>`)],
      [t.text("messages.to"), html`${recipients.map((recipient) => html`${foreign(recipient)} `)}`]
    ],
    warnings: [
      ...suppressed.map((recipient) => t.text("send.preview.suppressed", { address: recipient })),
      ...warnings.map((detail) => t.text("send.preview.warning", { detail }))
    ]
  }
  return preview
})

/** What the request of a form would do. It is refused as the form would be, but for the limits of the account. */
export const previewOf = (ask: AccountAsk, channel: "email" | "sms", body: unknown) =>
  Effect.gen(function*() {
    return channel === "sms" ? yield* ofSms(ask, body) : yield* ofEmail(ask, body)
  }).pipe(Effect.catch((error) => Effect.flatMap(refusedBy(error), Effect.fail)))

export const previewShown = ({ t }: AccountAsk, { facts: given, warnings }: Preview): HtmlValue =>
  html`<p class="hint">${t.text("send.preview.text")}</p>${facts(given)}${
    warnings.length === 0 ? note(t.text("send.preview.fine"), "good") : warnings.map((text) => note(text, "warn"))
  }`
