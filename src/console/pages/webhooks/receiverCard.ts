/** The sandbox's receiver of webhooks, for the pages from which people try a webhook. */
import { Effect, Option } from "effect"
import { html } from "../../../platform/http/html.ts"
import { failingMinutes, type SandboxReceiver, SandboxReceivers } from "../../../webhooks/endpoint/SandboxReceiver.ts"
import { SandboxReceiverApi } from "../../../webhooks/SandboxReceiverApi.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type AccountAsk, withQuery } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { buttonForm } from "../../ui/form.ts"
import { card, copyable, linkButton, moment, note } from "../../ui/parts.ts"
import { changes } from "./webhookParts.ts"

/** The receiver of the account; undefined where the sandbox is closed, or where the person may not read webhooks. */
export const receiverFor = Effect.fnUntraced(function*({ accountId, can }: AccountAsk) {
  if (!can("webhooks:read")) return undefined
  return Option.getOrUndefined(yield* (yield* SandboxReceivers).find(accountId))
})

/** Makes the receiver fail, or work again. Each page that shows the card has this action. */
export const switchReceiver = Action.make({
  name: "receiver",
  endpoint: SandboxReceiverApi.endpoints.change,
  fields: { failing: Field.hidden() },
  request: ({ failing }) => ({ payload: { failing: failing === "true" } }),
  after: ({ data }, { ask }) =>
    goTo(withQuery(ask, {}), data.failing_until === null ? "receiver.recovered" : "receiver.failed")
})

const stateOf = (ask: AccountAsk, { failing_until }: SandboxReceiver) =>
  failing_until === null
    ? note(ask.t.text("receiver.answers"), "good")
    : note(ask.t.rich("receiver.fails", { time: moment(ask, failing_until) }), "bad")

/** The receiver's answer, and the button that changes it. `more` stands beside the button. */
const control = (ask: AccountAsk, receiver: SandboxReceiver, more: ReturnType<typeof linkButton> | false = false) => {
  const { can, t } = ask
  const isFailing = receiver.failing_until !== null
  return html`${stateOf(ask, receiver)}<p>${t.text("receiver.steps")}</p>${
    can("webhooks:write") &&
    html`<div class="buttons">${more}${
      buttonForm(ask, switchReceiver, {
        label: t.text(isFailing ? "receiver.recover" : "receiver.fail", { minutes: failingMinutes }),
        values: { failing: String(!isFailing) }
      })
    }</div>`
  }`
}

/** The receiver with its address. */
export const receiverCard = (ask: AccountAsk, receiver: SandboxReceiver) => {
  const { t, to } = ask
  return card(
    t.text("receiver.title"),
    html`<p>${t.text("receiver.text")}</p>${copyable(ask, receiver.url, { label: t.text("receiver.url") })}${
      control(
        ask,
        receiver,
        changes(ask) &&
          linkButton(`${to("/webhooks/new")}?to=sandbox`, t.text("receiver.new"), { icon: "plus", tone: "main" })
      )
    }`,
    "receiver"
  )
}

/** The receiver on the page of a webhook that posts to it; nothing on other pages. */
export const receiverSwitch = (ask: AccountAsk, receiver: SandboxReceiver | undefined, url: string) =>
  receiver !== undefined && receiver.url === url
  && card(ask.t.text("receiver.title"), control(ask, receiver), "receiver")
