/** What a person can do about a message that waits, or that did not arrive. */
import { Option, Schema } from "effect"
import { SuppressionsApi } from "../../../channels/email/suppressions/SuppressionsApi.ts"
import type { Explanation } from "../../../messages/Explanation.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { buttonForm } from "../../ui/form.ts"
import { icon, linkButton } from "../../ui/parts.ts"
import type { Surroundings, Told } from "./explanation.ts"
import { channelsOf } from "./messageParts.ts"

/** A message as its explanation sees it. */
export interface Subject {
  readonly channel: SummaryChannel
  readonly to: string | ReadonlyArray<string>
  readonly told: Told
}

const decodeAddress = Schema.decodeUnknownOption(EmailAddress)

/** The address whose suppression a person may change here. */
export const addressOf = ({ channel, to }: Pick<Subject, "channel" | "to">) =>
  channel === "email" && typeof to === "string" ? Option.getOrUndefined(decodeAddress(to)) : undefined

/** The page that sends the content of this message again. */
const againPage = ({ params, to }: AccountAsk, channel: SummaryChannel) =>
  `${to("/send")}?channel=${channel}&again=${params["id"]}`

/** Leads to the form that sends this message again. */
export const sendAgain = (ask: AccountAsk, channel: SummaryChannel): Html | false =>
  ask.can("messages:write") && linkButton(againPage(ask, channel), ask.t.text("message.again"), { icon: "send" })

export const unsuppress = Action.make({
  name: "unsuppress",
  endpoint: SuppressionsApi.endpoints.remove,
  fields: { email: Field.hidden() },
  request: ({ email }) => ({ params: { email } }),
  after: (_, { ask }) => goTo(ask.can("messages:write") ? againPage(ask, "email") : ask.path, "message.unsuppressed")
})

/** Takes the address off the suppression list. A complaint cannot be taken back. */
export const unsuppressButton = (ask: AccountAsk, { channel, to, told: { suppression } }: Subject): Html | false => {
  const address = addressOf({ channel, to })
  return address !== undefined && ask.can("emails:write") && suppression !== undefined &&
    suppression.reason !== "complaint" &&
    buttonForm(ask, unsuppress, {
      label: html`${icon("check")}<span>${ask.t.text("message.unsuppress", { address })}</span>`,
      values: { email: address }
    })
}

const sessionLink = ({ can, t, to }: AccountAsk, { code, fix }: Explanation, { session }: Surroundings) => {
  if (session === undefined) return false
  if (fix === "groups") {
    return can("groups:read") &&
      linkButton(to(`/whatsapp/${session.id}/groups`), t.text("groups.title"), { icon: "users" })
  }
  const label = t.text(`attention.${code === "session_pending" ? "session_unpaired" : "session_failed"}.button`)
  return can("sessions:read") && linkButton(to(`/whatsapp/${session.id}`), label)
}

/** The one button that helps, if there is one and the person may use it. */
export const fixOf = (
  ask: AccountAsk,
  explanation: Explanation,
  { around, subject }: { readonly subject: Subject; readonly around: Surroundings }
): Html | false => {
  const { can, t, to } = ask
  switch (explanation.fix) {
    case null:
      return false
    case "again":
      return sendAgain(ask, subject.channel)
    case "as_sms": {
      const query = new URLSearchParams({ channel: "sms", to: [subject.to].flat().join() })
      return can("messages:write") && channelsOf(ask, "write").includes("sms") &&
        linkButton(`${to("/send")}?${query.toString()}`, t.text("message.asSms"), { icon: "send" })
    }
    case "session":
    case "groups":
      return sessionLink(ask, explanation, around)
    case "domain":
      return can("domains:read") && (around.domain === undefined
        ? linkButton(to("/domains"), t.text("domains.title"), { icon: "globe" })
        : linkButton(to(`/domains/${around.domain.id}`), t.text("attention.domain_lost.button"), { icon: "globe" }))
    case "unsuppress":
      return unsuppressButton(ask, subject)
    case "usage":
      return can("account:read") && linkButton(to("/usage"), t.text("attention.trial_ending.button"))
  }
}
