import type { CodeTimelineEntry } from "../../../history/Timeline.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import type { Ask } from "../../page/Ask.ts"
import { badge, code, foreign, momentText, type Tone } from "../../ui/parts.ts"
import { type Happening, span } from "../../ui/progress.ts"
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

const deliveryMore = (ask: Ask, { attempts, error, response_code, status }: Detail<"delivery">) =>
  line([
    badge(ask.t.text(`happened.delivery.${status}`), deliveryTones[status]),
    ask.t.text("happened.tries", { attempts }),
    response_code === null ? null : code(String(response_code)),
    error === null ? null : foreign(error)
  ])

/** What an entry says: its title, its colour, and what stands below. */
const told = (ask: Ask, { detail, kind }: CodeTimelineEntry): Omit<Happening, "at"> => {
  const { t } = ask
  switch (kind) {
    case "accepted":
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
      return {
        title: t.rich("happened.delivery", { webhook: detail.webhook_id, event: code(detail.event) }),
        tone: deliveryTones[detail.status],
        more: deliveryMore(ask, detail)
      }
  }
}

/** The entries of a timeline as they are drawn. Where a message has several recipients, each entry names its own. */
export const happenings = (
  ask: Ask,
  entries: ReadonlyArray<CodeTimelineEntry>,
  hasRecipients: boolean
): ReadonlyArray<Happening> =>
  entries.map((entry) => {
    const { title, ...rest } = told(ask, entry)
    const to = entry.kind !== "suppressed" && "to" in entry.detail ? entry.detail.to : null
    return {
      at: entry.at,
      ...rest,
      title: hasRecipients && to !== null
        ? ask.t.rich("happened.for", { what: html`${title}`, to: foreign(to) })
        : title
    }
  })
