/** What the pages of webhooks have in common. */
import { Effect } from "effect"
import { type EventName, eventNames } from "../../../events/EventNames.ts"
import { html } from "../../../platform/http/html.ts"
import { WebhookId } from "../../../values/Ids.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import type { Option } from "../../page/Field.ts"
import { idIn } from "../../page/Page.ts"
import { badge, code, note, type Tone } from "../../ui/parts.ts"

/** The webhook of the address. */
export const webhookIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  return yield* (yield* Webhooks).find(ask.accountId, yield* idIn(ask, WebhookId))
})

export const webhookPath = (id: number | string | undefined, rest = ""): `/${string}` => `/webhooks/${id}${rest}`

export const listCrumbs = ({ t, to }: AccountAsk) => [{ href: to("/webhooks"), label: t.text("webhooks.title") }]

/** The webhook's URL as a title. Without these marks its last slash would stand in front of it in a text from right to left. */
export const urlText = ({ t }: Ask, { url }: Webhook) => t.direction === "rtl" ? `\u2066${url}\u2069` : url

/** The list and the webhook stand above each of the webhook's pages. */
export const webhookCrumbs = (ask: AccountAsk, webhook: Webhook) => [
  ...listCrumbs(ask),
  { href: ask.to(webhookPath(webhook.id)), label: urlText(ask, webhook) }
]

const tones: Readonly<Record<Webhook["status"], Tone>> = { active: "good", unhealthy: "bad", disabled: "quiet" }

export const healthOf = ({ t }: Ask, { status }: Webhook) => badge(t.text(`webhooks.status.${status}`), tones[status])

/** Why the webhook gets no events, and what to do; nothing for an active one. */
export const whyOf = ({ t }: Ask, { status, unhealthy_reason }: Webhook) =>
  status === "active"
    ? false
    : status === "disabled"
    ? note(t.text("webhooks.disabled.text"), "warn")
    : note(
      html`${t.text(`webhooks.unhealthy.${unhealthy_reason ?? "unknown"}`)} ${t.text("webhooks.unhealthy.skipped")}`,
      "bad"
    )

/** A plan without webhooks; nothing for others. */
export const paidNote = ({ account, t }: AccountAsk) => account.trial !== "none" && note(t.text("webhooks.paid"))

/** Whether a button that changes webhooks would work. */
export const changes = ({ account, can }: AccountAsk) => can("webhooks:write") && account.trial === "none"

const eventText = ({ t }: Ask, name: EventName) => t.text(`webhooks.event.${name}`)

/** All events as choices, each with what it means. */
export const eventOptions = (ask: Ask): ReadonlyArray<Option> =>
  eventNames.map((name) => ({ value: name, label: name, hint: eventText(ask, name) }))

/** The events of a webhook, the first few of many. */
export const eventsOf = ({ t }: Ask, events: ReadonlyArray<string>, most = Infinity) => {
  if (events.includes("*")) return t.text("webhooks.everyEvent")
  const left = events.length - most
  return html`${events.slice(0, most).map((name) => html`${code(name)} `)}${
    left > 0 && t.text("webhooks.moreEvents", { count: left })
  }`
}
