import { Effect, Option as Maybe } from "effect"
import { FirstOperator } from "../../../accounts/FirstOperator.ts"
import { SetupLinks } from "../../../people/SetupLinks.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { html } from "../../../platform/http/html.ts"
import { Locale, Timezone } from "../../../values/Locale.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { Ask } from "../../page/Ask.ts"
import { Field, type Option } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { copyable, linkButton } from "../../ui/parts.ts"

/** The languages of the API, each in its own words. */
export const languages = ({ t }: Ask): ReadonlyArray<Option> =>
  Locale.literals.map((value) => ({ value, label: t.text(`language.${value}`) }))

export const zones = (): ReadonlyArray<Option> =>
  Timezone.literals.map((value) => ({ value, label: value.replaceAll("_", " ") }))

const setUp = Action.own({
  name: "set-up",
  fields: {
    name: Field.text({ label: "setup.name", autocomplete: "name" }),
    email: Field.email({ label: "setup.email", hint: "setup.emailHint", autocomplete: "username" }),
    password: Field.password({ label: "setup.password", hint: "setup.passwordHint", autocomplete: "new-password" }),
    locale: Field.select({ label: "setup.language", options: languages, initial: ({ t }) => t.locale }),
    timezone: Field.select({ label: "setup.zone", options: zones, initial: () => "UTC", guess: "zone" })
  },
  run: (wanted, { params }: Ask) =>
    Effect.gen(function*() {
      const { create } = yield* FirstOperator
      const person = yield* create(params["token"] ?? "", wanted)
      const opened = yield* (yield* SignIns).open(person, ["setup_link", "password"])
      return { ...goTo("/console/"), signIn: Maybe.getOrNull(opened) }
    })
})

/** The page of the link that the first start prints. */
export const setupPage = Page.door({
  path: "/setup/:token",
  read: ({ params }) => Effect.flatMap(SetupLinks, ({ isValid }) => isValid(params["token"] ?? "")),
  draw: (isValid, ask) => {
    const { isPrivate, t } = ask
    if (!isPrivate) {
      return { title: t.text("signIn.insecure.title"), content: html`<p>${t.text("signIn.insecure.text")}</p>` }
    }
    if (isValid) {
      return {
        title: t.text("setup.title"),
        lead: t.text("setup.lead"),
        content: form(ask, setUp, { submit: t.text("setup.button") })
      }
    }
    return {
      title: t.text("setup.stale.title"),
      status: 410,
      content: html`<p>${t.text("setup.stale.text")}</p>
${copyable(ask, "npm run cli -- console setup-link", { label: t.text("setup.stale.title"), isBlock: true })}
<p>${linkButton("/console/sign-in", t.text("setup.stale.signIn"))}</p>`
    }
  },
  actions: [setUp]
})
