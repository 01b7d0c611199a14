import type { CodeTimelineEntry } from "../../../history/Timeline.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { placeOf } from "../../page/placeOf.ts"
import { buttonForm } from "../../ui/form.ts"
import { badge, code, foreign, linkButton, momentText, type Tone } from "../../ui/parts.ts"
import { type Happening, span, timeline } from "../../ui/progress.ts"
import { redeliver } from "../webhooks/DeliveryPage.ts"
import { webhookPath } from "../webhooks/webhookParts.ts"
import { codeStatusBadge, codeTones, statusBadge, toneOf } from "./messageParts.ts"

type Detail<Kind extends CodeTimelineEntry["kind"]> = Extract<CodeTimelineEntry, { readonly kind: Kind }>["detail"]

const attemptTones: Readonly<Record<Detail<"attempt">["outcome"], Tone>> = {
  accepted: "good",
  refused: "bad",
  deferred: "warn",
  unconfirmed: "warn",
  failed: "bad"
}

const deliveryTones: Readonly<Record<Detail<"delivery">["status"], Tone>> = {
  pending: "busy",
  retrying: "warn",
  delivered: "good",
  failed: "bad",
  skipped: "quiet"
}

/** Small facts in one line. */
const line = (parts: ReadonlyArray<Html | string | null>): Html | false => {
  const given = parts.filter((part) => part !== null)
  return given.length > 0 &&
    html`<p class="more">${given.map((part, index) => html`${index > 0 && " · "}${part}`)}</p>`
}

const attemptMore = (ask: Ask, { dialogue, duration_ms, part, peer, reply }: Detail<"attempt">) =>
  html`${
    line([
      peer === null ? null : foreign(peer),
      part === null ? null : ask.t.text("happened.part", { part }),
      duration_ms === null ? null : span(ask, duration_ms),
      reply === null ? null : foreign(reply)
    ])
  }${
    dialogue !== null &&
    html`<details><summary>${
      ask.t.text("happened.dialogue")
    }</summary><pre dir="ltr" tabindex="0" role="group" aria-label="${ask.t.text("happened.dialogue")}">${
      foreign(dialogue)
    }</pre></details>`
  }`

const isOpen = ({ status }: Detail<"delivery">) => status === "pending" || status === "retrying"

/** Its page, for a person who may read it, and a button that makes it again. */
const deliveryTold = (ask: AccountAsk, detail: Detail<"delivery">): Omit<Happening, "at"> => {
  const { can, t, to } = ask
  const { attempts, error, event, id, response_code, status, webhook_id } = detail
  const at = to(webhookPath(webhook_id, `/deliveries/${id}`))
  const title = t.rich("happened.delivery", { webhook: webhook_id, event: code(event) })
  return {
    title: can("webhooks:read") ? html`<a href="${at}">${title}</a>` : title,
    tone: deliveryTones[status],
    more: html`${
      line([
        badge(t.text(`happened.delivery.${status}`), deliveryTones[status]),
        t.text("happened.tries", { attempts }),
        response_code === null ? null : code(String(response_code)),
        error === null ? null : foreign(error)
      ])
    }${
      can("webhooks:write") && !isOpen(detail) &&
      buttonForm(ask, redeliver, { label: t.text("delivery.redeliver"), at })
    }`
  }
}

/** What an entry says: its title, its colour, and what stands below. */
const told = (ask: AccountAsk, { detail, kind }: CodeTimelineEntry): Omit<Happening, "at"> => {
  const { t } = ask
  switch (kind) {
    case "accepted":
      return {
        title: t.text("happened.accepted"),
        tone: "quiet",
        more: line([
          detail.key_prefix === null ? null : html`${t.text("messages.key")} ${code(detail.key_prefix)}`,
          detail.ip === null ? null : html`${t.text("requests.ip")} ${code(detail.ip)}`
        ])
      }
    case "queued":
    case "canceled":
      return { title: t.text(`happened.${kind}`), tone: "quiet" }
    case "scheduled":
    case "rescheduled":
      return { title: t.text(`happened.${kind}`, { when: momentText(ask, detail.send_at) }), tone: "busy" }
    case "suppressed":
      return { title: t.rich("happened.suppressed", { to: foreign(detail.to) }), tone: "warn" }
    case "claimed":
      return { title: t.text("happened.claimed", { attempt: detail.attempt }), tone: "quiet" }
    case "attempt":
      return {
        title: t.text(`happened.attempt.${detail.outcome}`, { attempt: detail.attempt }),
        tone: attemptTones[detail.outcome],
        more: attemptMore(ask, detail)
      }
    case "deferred":
      return { title: t.text("happened.deferred", { when: momentText(ask, detail.next_at) }), tone: "warn" }
    case "status":
      return {
        title: statusBadge(ask, detail.status),
        tone: toneOf(detail.status),
        more: line([t.text(`happened.source.${detail.source}`), detail.error === null ? null : foreign(detail.error)])
      }
    case "verification":
      return { title: codeStatusBadge(ask, detail.status), tone: codeTones[detail.status] }
    case "event":
      return { title: t.rich("happened.event", { event: code(detail.event) }), tone: "quiet" }
    case "delivery":
      return deliveryTold(ask, detail)
  }
}

/** The page of the message that an entry is about, where there are several. */
const messageLink = ({ t, to }: AccountAsk, { message }: CodeTimelineEntry) => {
  const place = message === undefined ? undefined : placeOf(message)
  const channel = place?.split("/")[2]
  return place === undefined ? null : html`<a href="${to(place)}">${t.named(`channel.${channel}`) ?? place}</a>`
}

/** An entry as it is drawn. Where there are several recipients or messages, it names its own. */
const happening = (ask: AccountAsk, entry: CodeTimelineEntry, hasRecipients: boolean): Happening => {
  const { t } = ask
  const { title, ...rest } = told(ask, entry)
  const to = hasRecipients && entry.kind !== "suppressed" && "to" in entry.detail ? entry.detail.to : null
  const what = html`${title}`
  const about = to === null ? messageLink(ask, entry) : foreign(to)
  return {
    at: entry.at,
    ...rest,
    title: about === null ? title : t.rich("happened.for", { what, to: about })
  }
}

/** More entries than this are shown as the first and the last ones. */
const most = 500
const atEnds = 100

/** What happened, the oldest first. A long list links to all of it. */
export const whatHappened = (
  ask: AccountAsk,
  entries: ReadonlyArray<CodeTimelineEntry>,
  hasRecipients = false
): Html => {
  const drawn = (given: ReadonlyArray<CodeTimelineEntry>) =>
    timeline(ask, given.map((entry) => happening(ask, entry, hasRecipients)))
  return entries.length <= most || ask.query.has("all")
    ? drawn(entries)
    : html`${drawn(entries.slice(0, atEnds))}<p>${
      linkButton(withQuery(ask, { all: "1" }), ask.t.text("happened.all"))
    }</p>${drawn(entries.slice(-atEnds))}`
}

const leastSeconds = 2
const mostSeconds = 60

/** Seconds after the last entry for which another one is likely. */
const likelyFor = 600

/**
 * Seconds after which the page loads itself again. They grow with the time since the last entry. False once another entry is
 * unlikely.
 */
export const pauseAfter = (
  entries: ReadonlyArray<CodeTimelineEntry>,
  { isOver, now }: { readonly isOver: boolean; readonly now: number }
): number | false => {
  const last = entries.at(-1)
  const quiet = last === undefined ? 0 : (now - Date.parse(last.at)) / 1000
  const waits = entries.some(({ detail, kind }) => kind === "delivery" && isOpen(detail))
  return (!isOver || waits || quiet < likelyFor) &&
    Math.min(mostSeconds, Math.max(leastSeconds, Math.round(quiet / 10)))
}
