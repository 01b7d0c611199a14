import { Effect } from "effect"
import { Passkeys } from "../../../people/Passkeys.ts"
import { People } from "../../../people/People.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { Ask, Drawn, PersonAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form, whyOf } from "../../ui/form.ts"
import { copyable, icon } from "../../ui/parts.ts"
import { passkeyForm } from "../../ui/passkeyForm.ts"
import { codePage, enterCode, signIn, usePasskey } from "./signInActions.ts"

const noOperator = (ask: Ask): Drawn => ({
  title: ask.t.text("signIn.noOperator.title"),
  content: html`<p>${ask.t.text("signIn.noOperator.text")}</p>
${copyable(ask, "npm run cli -- console setup-link", { label: ask.t.text("signIn.noOperator.text"), isBlock: true })}`
})

const ways = (ask: Ask, wanted: string | undefined): Drawn => ({
  title: ask.t.text("signIn.title"),
  content: html`${
    wanted !== undefined && passkeyForm(ask, usePasskey, { kind: "get", wanted, label: ask.t.text("passkey.button") })
  }${
    ask.attempt?.action === "passkey" &&
    html`<p class="note bad" role="alert">${icon("circle-alert")}<span>${whyOf(ask, ask.attempt)}</span></p>`
  }
${form(ask, signIn, { submit: ask.t.text("signIn.button") })}
<p><a href="/console/password/forgot">${ask.t.text("forgot.link")}</a></p>`
})

/** The ways in: a passkey, or password and code. */
const signInPage = Page.door({
  path: "/sign-in",
  read: ({ party }) =>
    Effect.gen(function*() {
      const canSignIn = yield* (yield* People).canSignIn
      return { canSignIn, wanted: party === undefined ? undefined : yield* (yield* Passkeys).request(party.host) }
    }),
  draw: ({ canSignIn, wanted }, ask) => {
    const { attempt, isPrivate, t } = ask
    if (!isPrivate) {
      return { title: t.text("signIn.insecure.title"), content: html`<p>${t.text("signIn.insecure.text")}</p>` }
    }
    if (attempt?.action === enterCode.name) return codePage(ask, attempt.form.get("step") ?? "")
    return canSignIn ? ways(ask, wanted) : noOperator(ask)
  },
  actions: [signIn, enterCode, usePasskey]
})

const signOut = Action.own({
  name: "sign-out",
  fields: {},
  run: (_, { signedIn: { person, sign_in_id } }: PersonAsk) =>
    Effect.gen(function*() {
      yield* (yield* SignIns).end(person.id, sign_in_id)
      return { ...goTo("/console/sign-in", "signIn.signedOut"), signIn: null }
    })
})

const signOutPage = Page.person({
  path: "/sign-out",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("frame.signOut"),
    content: form(ask, signOut, { submit: ask.t.text("frame.signOut"), cancel: "/console/" })
  }),
  actions: [signOut]
})

/** The button of the frame. */
export const signOutButton = (ask: PersonAsk) =>
  buttonForm(ask, signOut, {
    label: html`${icon("log-out")}<span>${ask.t.text("frame.signOut")}</span>`,
    at: "/console/sign-out",
    tone: "quiet"
  })

/** Leads to the account that the person used last. */
const home = Page.person({
  path: "",
  read: () => Effect.void,
  draw: (_, { signedIn: { accounts, person }, t }) => {
    const account = accounts.find(({ id }) => id === person.last_account_id) ?? accounts[0]
    return {
      title: t.text("noAccount.title"),
      content: html`<p>${t.text("noAccount.text")}</p>`,
      ...(account !== undefined && { leadsTo: `/console/${account.id}/` })
    }
  }
})

export const signInPages = [signInPage, signOutPage, home] as const
