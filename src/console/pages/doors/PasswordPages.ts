import { Effect, Redacted } from "effect"
import { PasswordResets } from "../../../accounts/PasswordResets.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { Ask } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { linkButton } from "../../ui/parts.ts"
import { addressOf, limited } from "./signInActions.ts"

const askForLink = Action.own({
  name: "forgot",
  fields: { email: Field.email({ label: "signIn.email", autocomplete: "username" }) },
  run: ({ email = "" }, _: Ask) =>
    Effect.gen(function*() {
      yield* limited
      yield* (yield* PasswordResets).ask(addressOf(email))
      // The same for every address, so that it reveals no account.
      return goTo("/console/password/forgot", "forgot.done")
    })
})

const forgotPage = Page.door({
  path: "/password/forgot",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("forgot.title"),
    lead: ask.t.text("forgot.lead"),
    content: form(ask, askForLink, { submit: ask.t.text("forgot.button"), cancel: "/console/sign-in" })
  }),
  actions: [askForLink]
})

const setPassword = Action.own({
  name: "reset",
  fields: {
    password: Field.password({
      label: "security.password.new",
      hint: "setup.passwordHint",
      autocomplete: "new-password"
    }),
    password_confirmation: Field.password({ label: "security.password.again", autocomplete: "new-password" })
  },
  run: ({ password = "", password_confirmation = "" }, { params }: Ask) =>
    Effect.gen(function*() {
      yield* limited
      const token = Redacted.make(params["token"] ?? "")
      yield* (yield* PasswordResets).use({ token, password, password_confirmation })
      return { ...goTo("/console/sign-in", "reset.done"), signIn: null }
    })
})

const resetPage = Page.door({
  path: "/password/reset/:token",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("reset.title"),
    lead: ask.t.text("reset.lead"),
    content: html`${form(ask, setPassword, { submit: ask.t.text("reset.button") })}${
      ask.attempt?.status === 410 && html`<p>${linkButton("/console/password/forgot", ask.t.text("forgot.button"))}</p>`
    }`
  }),
  actions: [setPassword]
})

export const passwordPages = [forgotPage, resetPage] as const
