import { Effect } from "effect"
import { channelFaults, type FaultName, type SandboxFault, SandboxFaults } from "../../../messages/SandboxFault.ts"
import { SandboxFaultsApi } from "../../../messages/SandboxFaultsApi.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form } from "../../ui/form.ts"
import { card, linkButton, moment } from "../../ui/parts.ts"

const plan = Action.make({
  name: "planFault",
  endpoint: SandboxFaultsApi.endpoints.plan,
  fields: { fault: Field.hidden() },
  request: ({ fault }) => ({ payload: { fault } }),
  after: (_, { ask }) => goTo(ask.path, "sandbox.lab.isPlanned")
})

const clear = Action.make({
  name: "clearFaults",
  endpoint: SandboxFaultsApi.endpoints.clear,
  fields: {},
  request: () => ({}),
  after: (_, { ask }) => goTo(ask.to("/sandbox"), "sandbox.lab.cleared")
})

export const faultActions = [plan] as const

const faults: ReadonlyArray<FaultName> = Object.values(channelFaults).flat()

const list = (ask: AccountAsk, planned: ReadonlyArray<SandboxFault>) => {
  const { t } = ask
  return html`<h3 id="planned">${t.text("sandbox.lab.planned")}</h3>
<ol aria-labelledby="planned">${
    planned.map(({ expires_at, fault }) =>
      html`<li>${t.text(`sandbox.lab.${fault}`)} <span class="quiet">${t.text("keys.expires")} ${
        moment(ask, expires_at)
      }</span></li>`
    )
  }</ol>`
}

const clearButton = ({ can, t, to }: AccountAsk) =>
  can("messages:write") &&
  html`<div class="buttons">${
    linkButton(to("/sandbox/faults/clear"), t.text("sandbox.lab.clear"), { tone: "danger", opensDialog: true })
  }</div>`

/** The card that makes the next test messages fail: a button for each fault, and the planned faults. */
export const faultLab = (ask: AccountAsk, planned: ReadonlyArray<SandboxFault>): Html => {
  const { can, t } = ask
  return card(
    t.text("sandbox.lab.title"),
    html`<p>${t.text("sandbox.lab.lead")}</p>${
      can("messages:write") && html`<div class="buttons">${
        faults.map((fault) => buttonForm(ask, plan, { label: t.text(`sandbox.lab.${fault}`), values: { fault } }))
      }</div>`
    }${
      planned.length === 0
        ? html`<p class="quiet">${t.text("sandbox.lab.none")}</p>`
        : html`${list(ask, planned)}${clearButton(ask)}`
    }`,
    "fault-lab"
  )
}

/** Asks before the planned faults are deleted. */
export const clearFaultsPage = Page.account({
  path: "/sandbox/faults/clear",
  permission: "messages:write",
  read: (ask) =>
    Effect.gen(function*() {
      if (ask.mode === "live") return yield* new NotFound()
      return yield* (yield* SandboxFaults).list(ask.accountId)
    }),
  draw: (planned, ask) => ({
    title: ask.t.text("sandbox.lab.clear.title"),
    crumbs: [{ href: ask.to("/sandbox"), label: ask.t.text("sandbox.title") }],
    content: html`<p>${ask.t.text("sandbox.lab.clear.text")}</p>${list(ask, planned)}${
      form(ask, clear, { submit: ask.t.text("sandbox.lab.clear"), tone: "danger", cancel: ask.to("/sandbox") })
    }`
  }),
  actions: [clear]
})
