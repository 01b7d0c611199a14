import type { AttentionItem } from "../../../overview/attentionOf.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { buttonForm } from "../../ui/form.ts"
import { card, foreign, heldList, linkButton, moment } from "../../ui/parts.ts"
import { check } from "../email/DomainsPages.ts"
import { enable } from "../webhooks/WebhookPage.ts"
import { changes } from "../webhooks/webhookParts.ts"
import { connect } from "../whatsapp/SessionPage.ts"

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

/** What a person can do at once. The page of the subject shows what became of it. */
const actionOf = (ask: AccountAsk, item: AttentionItem, name: string) => {
  const { can, t } = ask
  const at = placeOf(ask, item)
  const named = (label: string) => html`${label}<span class="hidden">: ${foreign(name)}</span>`
  const test = () =>
    can("webhooks:write") &&
    linkButton(`${at}/test`, t.text("webhooks.test"), { label: `${t.text("webhooks.test")}: ${name}` })
  switch (item.code) {
    case "webhook_unhealthy":
      return html`${changes(ask) && buttonForm(ask, enable, { at, label: named(t.text("webhooks.enable")) })}${test()}`
    case "webhook_failing":
      return test()
    case "session_failed":
    case "session_disconnected":
      return can("sessions:write") && buttonForm(ask, connect, { at, label: named(t.text("sessions.reconnect")) })
    case "domain_lost":
    case "domain_pending":
      return can("domains:write") && buttonForm(ask, check, { at, label: named(t.text("domains.check")) })
    default:
      return false
  }
}

const itemOf = (ask: AccountAsk, item: AttentionItem) => {
  const { code, severity, since, subject } = item
  const { t } = ask
  const name = code === "queue_late" || code === "codes_late"
    ? t.named(`channel.${subject?.id}`) ?? ""
    : subject?.name ?? ""
  const button = buttonOf(ask, code)
  return {
    id: `${code}-${subject?.id ?? ""}`,
    tone: severity,
    sentence: t.rich(sentenceOf(item), { name: foreign(name) }),
    ...(since !== null && { more: t.rich("attention.since", { time: moment(ask, since) }) }),
    actions: html`${actionOf(ask, item, name)}${
      linkButton(placeOf(ask, item), button, { label: `${button}${name === "" ? "" : `: ${name}`}` })
    }`
  }
}

/** What needs attention, the worst first. */
export const attentionList = (ask: AccountAsk, items: ReadonlyArray<AttentionItem>): Html =>
  card(
    ask.t.text("overview.attention.title"),
    heldList("attention", items.map((item) => itemOf(ask, item)), ask.t.text("overview.attention.none")),
    "attention"
  )
