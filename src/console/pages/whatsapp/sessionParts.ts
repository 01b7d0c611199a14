/** What the pages of WhatsApp sessions have in common. */
import { Effect } from "effect"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { idIn } from "../../page/Page.ts"

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
