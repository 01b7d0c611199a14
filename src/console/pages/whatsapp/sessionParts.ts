/** What the pages of WhatsApp sessions have in common. */
import { Effect } from "effect"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import type { SessionStatus } from "../../../channels/whatsapp/model/SessionState.ts"
import type { OutboxFigures } from "../../../channels/whatsapp/outbox/OutboxFigures.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { html } from "../../../platform/http/html.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { idIn } from "../../page/Page.ts"
import { badge, code, linkButton, number, type Tone } from "../../ui/parts.ts"

/** The session of the address. */
export const sessionIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  const id = yield* idIn(ask, WhatsAppSessionId)
  return yield* (yield* Sessions).find({ accountId: ask.accountId, id })
})

export const listCrumbs = ({ t, to }: AccountAsk) => [{ href: to("/whatsapp"), label: t.text("sessions.title") }]

/** The list and the session stand above each of the session's pages. */
export const sessionCrumbs = (ask: AccountAsk, { id, name }: Pick<Session, "id" | "name">) => [
  ...listCrumbs(ask),
  { href: ask.to(`/whatsapp/${id}`), label: name }
]

const tones: Readonly<Record<SessionStatus, Tone>> = {
  pending: "busy",
  connected: "good",
  disconnected: "warn",
  failed: "bad"
}

export const statusBadge = ({ t }: Ask, status: SessionStatus) =>
  badge(t.text(`sessions.status.${status}`), tones[status])

/** The number of the paired phone. */
export const ownNumber = ({ t }: Ask, phoneNumber: string | null) =>
  phoneNumber === null ? t.text("sessions.notPaired") : code(`+${phoneNumber}`)

/** A number of a person, which WhatsApp may hide. */
export const numberOf = ({ t }: Ask, phone: string | null) =>
  phone === null ? html`<span class="quiet">${t.text("contacts.hidden")}</span>` : code(phone)

/** A count that may have ended before the last row. */
const atLeast = (ask: Ask, count: number) => ask.t.text("recover.atLeast", { count: number(ask, count) })

/** Where the counts of a session end. */
export type Counting = Pick<OutboxFigures["Service"], "limits" | "most">

export const countOf = (ask: Ask, { most }: Counting, count: number) =>
  count < most ? number(ask, count) : atLeast(ask, count)

/** A part of a limit. */
export const ofLimit = (ask: Ask, count: number, limit: number) =>
  ask.t.text("sessions.ofLimit", { count: number(ask, count), limit: number(ask, limit) })

/** Leads to the chat of a session with a number. */
export const chatButton = ({ t, to }: AccountAsk, sessionId: number, { name, phone }: {
  readonly name: string | null
  readonly phone: string
}) =>
  linkButton(to(`/whatsapp/${sessionId}/chats/${encodeURIComponent(phone)}`), t.text("contacts.chat"), {
    label: t.text("contacts.chatWith", { name: name ?? phone })
  })
