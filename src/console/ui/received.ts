/** What the sandbox received from an account in test mode, as its recipients see it. */
import type { SandboxMessage } from "../../messages/SandboxMessage.ts"
import { type Html, html } from "../../platform/http/html.ts"
import type { Ask } from "../page/Ask.ts"
import { foreign, moment } from "./parts.ts"

/** A mail in an inbox, or a bubble on the phone of its recipient. */
const one = (ask: Ask, { channel, from, received_at, subject, text, to, type }: SandboxMessage): Html => {
  const { t } = ask
  const words = text ?? t.text("sandbox.noText", { type })
  return html`<li class="received ${channel}"><p class="quiet">${
    from === null ? foreign(to) : t.text("sandbox.fromTo", { from, to })
  } · ${moment(ask, received_at)}</p>${subject !== null && html`<h3>${foreign(subject)}</h3>`}<p class="words">${
    foreign(words.length > 600 ? `${words.slice(0, 600)}…` : words)
  }</p></li>`
}

/** The messages, the newest first. */
export const received = (ask: Ask, messages: ReadonlyArray<SandboxMessage>): Html =>
  messages.length === 0
    ? html`<p class="quiet">${ask.t.text("sandbox.nothing")}</p>`
    : html`<ol class="inbox">${messages.map((message) => one(ask, message))}</ol>`
