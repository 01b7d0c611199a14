import { Effect } from "effect"
import { People } from "../../../people/People.ts"
import { PersonChange } from "../../../people/Person.ts"
import { validated } from "../../../platform/http/violations.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { PersonAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { languages, zones } from "../doors/SetupPage.ts"

const changeIn = validated(PersonChange)

const save = Action.own({
  name: "save",
  fields: {
    name: Field.text({ label: "me.name", autocomplete: "name" }),
    locale: Field.select({ label: "me.language", options: languages }),
    timezone: Field.select({ label: "me.zone", options: zones }),
    hour_cycle: Field.select({
      label: "me.hours",
      options: ({ t }) =>
        (["language", "h23", "h12"] as const).map((value) => ({ value, label: t.text(`me.hours.${value}`) }))
    }),
    theme: Field.radio({
      label: "me.theme",
      options: ({ t }) =>
        (["system", "light", "dark"] as const).map((value) => ({ value, label: t.text(`me.theme.${value}`) }))
    }),
    has_shortcuts: Field.flag({ label: "me.shortcuts" })
  },
  run: (wanted, { signedIn: { person } }: PersonAsk) =>
    Effect.gen(function*() {
      yield* (yield* People).change(person.id, yield* changeIn(wanted))
      return goTo("/console/me", "me.saved")
    })
})

/** The person: how the console speaks to them, and how it looks. */
export const profilePage = Page.person({
  path: "/me",
  read: () => Effect.void,
  draw: (_, ask) => {
    const { has_shortcuts, hour_cycle, locale, name, theme, timezone } = ask.signedIn.person
    return {
      title: ask.t.text("me.title"),
      lead: ask.signedIn.person.email,
      content: form(ask, save, {
        submit: ask.t.text("me.save"),
        values: { name, locale, timezone, hour_cycle, theme, has_shortcuts: has_shortcuts ? "on" : undefined }
      })
    }
  },
  actions: [save]
})
