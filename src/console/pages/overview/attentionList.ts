import type { AttentionItem } from "../../../overview/attentionOf.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { card, foreign, icon, linkButton, moment, note } from "../../ui/parts.ts"

/** The page with the buttons that help. */
const placeOf = ({ can, to }: AccountAsk, { code, subject }: AttentionItem): string => {
  switch (code) {
    case "webhook_unhealthy":
    case "webhook_failing":
      return to(`/webhooks/${subject?.id ?? ""}`)
    case "session_failed":
    case "session_disconnected":
    case "session_unpaired":
      return to(`/whatsapp/${subject?.id ?? ""}`)
    case "domain_lost":
    case "domain_pending":
      return to(`/domains/${subject?.id ?? ""}`)
    case "bounces_high":
      return to("/messages?channel=email&status=bounced")
    case "complaints_high":
      return to("/messages?channel=email&status=complained")
    case "quota_reached":
    case "quota_near":
    case "trial_ending":
      return to("/usage")
    case "relay_away":
      return to("/messages?channel=email&status=queued")
    case "carrier_away":
      return to("/messages?channel=sms&status=queued")
    case "queue_late":
      return to(`/messages?channel=${subject?.id ?? ""}&status=queued`)
    case "codes_late":
      return to("/verify?status=pending")
    case "codes_blocked":
      return to("/verify/blocks")
    case "key_expiring":
      return to(can("keys:write") ? `/keys/${subject?.id ?? ""}/rotate` : "/keys")
    case "key_unused":
      return to(can("keys:write") ? `/keys/${subject?.id ?? ""}/revoke` : "/keys")
    case "no_second_factor":
      return "/console/me/security"
  }
}

const buttonOf = ({ can, t }: AccountAsk, code: AttentionItem["code"]): string => {
  if (can("keys:write") && code === "key_expiring") return t.text("keys.rotate.button")
  if (can("keys:write") && code === "key_unused") return t.text("keys.revoke.button")
  return t.text(`attention.${code}.button`)
}

/** The sentence about what is wrong. A queue of WhatsApp waits for its session. */
const sentenceOf = ({ code, subject }: AttentionItem) =>
  (code === "queue_late" || code === "codes_late") && subject?.id === "whatsapp"
    ? `attention.${code}.whatsapp` as const
    : `attention.${code}` as const

const itemOf = (ask: AccountAsk, item: AttentionItem) => {
  const { code, severity, since, subject } = item
  const { t } = ask
  const name = code === "queue_late" || code === "codes_late"
    ? t.named(`channel.${subject?.id}`) ?? ""
    : subject?.name ?? ""
  const button = buttonOf(ask, code)
  return html`<li class="${severity}">${icon("circle-alert")}<div><p>${
    t.rich(sentenceOf(item), { name: foreign(name) })
  }</p>${
    since !== null && html`<p class="quiet">${t.rich("attention.since", { time: moment(ask, since) })}</p>`
  }</div>${linkButton(placeOf(ask, item), button, { label: `${button}${name === "" ? "" : `: ${name}`}` })}</li>`
}

/** What needs attention, the worst first. */
export const attentionList = (ask: AccountAsk, items: ReadonlyArray<AttentionItem>): Html =>
  card(
    ask.t.text("overview.attention.title"),
    items.length === 0
      ? note(ask.t.text("overview.attention.none"), "good")
      : html`<ul class="attention">${items.map((item) => itemOf(ask, item))}</ul>`,
    "attention"
  )
