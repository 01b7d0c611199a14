import { Effect, Schema } from "effect"
import { type Passkey, Passkeys } from "../../../people/Passkeys.ts"
import { type Factors, SecondFactors } from "../../../people/SecondFactors.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { validated } from "../../../platform/http/violations.ts"
import { lineBetween } from "../../../values/Text.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { PersonAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { facts, moment, note } from "../../ui/parts.ts"
import { endOthers, recordOf, security } from "./securityActions.ts"

const crumbs = ({ t }: PersonAsk) => [{ href: security, label: t.text("security.title") }]

/** What a person loses who removes the only factor besides the password. */
const lastNote = ({ t }: PersonAsk, { has_authenticator, passkeys }: Factors) =>
  Number(has_authenticator) + passkeys === 1 && note(t.text("security.last"), "warn")

const passkeyIn = Effect.fnUntraced(function*(ask: PersonAsk) {
  const id = yield* idIn(ask, Schema.Int)
  const passkey = (yield* (yield* Passkeys).list(ask.signedIn.person.id)).find((one) => one.id === id)
  return passkey ?? (yield* new NotFound())
})

const nameIn = validated(Schema.Struct({ name: lineBetween(1, 100) }))

const renamePasskey = Action.own({
  name: "rename",
  fields: { name: Field.text({ label: "security.passkeys.name", autocomplete: "off" }) },
  run: ({ name = "" }, ask: PersonAsk) =>
    Effect.gen(function*() {
      const given = yield* nameIn({ name })
      const { id, name: before } = yield* passkeyIn(ask)
      const { person } = ask.signedIn
      yield* (yield* Passkeys).rename(person.id, id, given.name)
      yield* recordOf(person, { action: "passkey.renamed", target: `passkey ${id}`, data: { ...given, before } })
      return goTo(security, "security.passkeys.renamed")
    })
})

const renamePage = Page.person({
  path: "/me/security/passkeys/:id/rename",
  read: passkeyIn,
  draw: ({ name }, ask) => ({
    title: ask.t.text("security.passkeys.rename", { name }),
    crumbs: crumbs(ask),
    content: form(ask, renamePasskey, { submit: ask.t.text("sessions.rename"), cancel: security, values: { name } })
  }),
  actions: [renamePasskey]
})

const removePasskey = Action.own({
  name: "remove",
  fields: {},
  isFresh: true,
  run: (_, ask: PersonAsk) =>
    Effect.gen(function*() {
      const { id, name } = yield* passkeyIn(ask)
      const { person } = ask.signedIn
      if (yield* (yield* Passkeys).remove(person.id, id)) {
        yield* recordOf(person, { action: "passkey.removed", target: `passkey ${id}`, data: { name } })
      }
      return goTo(security, "security.passkeys.removed")
    })
})

const usesOf = (ask: PersonAsk, { created_at, last_used_at }: Passkey) =>
  facts([
    [ask.t.text("security.passkeys.made"), moment(ask, created_at)],
    [
      ask.t.text("security.passkeys.used"),
      last_used_at === null ? ask.t.text("common.never") : moment(ask, last_used_at)
    ]
  ])

const passkeyPage = Page.person({
  path: "/me/security/passkeys/:id/remove",
  read: (ask) =>
    Effect.gen(function*() {
      const passkey = yield* passkeyIn(ask)
      return { passkey, factors: yield* (yield* SecondFactors).of(ask.signedIn.person.id) }
    }),
  draw: ({ factors, passkey }, ask) => ({
    title: ask.t.text("security.passkeys.remove.title", { name: passkey.name }),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.text("security.passkeys.remove.text")}</p>${lastNote(ask, factors)}${
      usesOf(ask, passkey)
    }${
      form(ask, removePasskey, {
        submit: ask.t.text("security.passkeys.remove.button"),
        tone: "danger",
        cancel: security
      })
    }`
  }),
  actions: [removePasskey]
})

const removeApp = Action.own({
  name: "remove",
  fields: {},
  isFresh: true,
  run: (_, { signedIn: { person } }: PersonAsk) =>
    Effect.gen(function*() {
      yield* (yield* SecondFactors).removeAuthenticator(person.id)
      yield* recordOf(person, { action: "authenticator.removed" })
      return goTo(security, "security.app.removed")
    })
})

const appPage = Page.person({
  path: "/me/security/app/remove",
  read: ({ signedIn: { person } }) =>
    Effect.gen(function*() {
      const factors = yield* (yield* SecondFactors).of(person.id)
      return factors.has_authenticator ? factors : yield* new NotFound()
    }),
  draw: (factors, ask) => ({
    title: ask.t.text("security.app.remove.title"),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.text("security.app.remove.text")}</p>${lastNote(ask, factors)}${
      form(ask, removeApp, { submit: ask.t.text("security.app.remove"), tone: "danger", cancel: security })
    }`
  }),
  actions: [removeApp]
})

const othersPage = Page.person({
  path: "/me/security/end-others",
  read: ({ signedIn: { person } }) => Effect.flatMap(SignIns, (signIns) => signIns.list(person.id)),
  draw: (signIns, ask) => ({
    title: ask.t.text("security.signIns.endOthers.title"),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.text("security.signIns.endOthers.text", { count: signIns.length - 1 })}</p>${
      form(ask, endOthers, {
        submit: ask.t.text("security.signIns.endOthers"),
        tone: "danger",
        cancel: security
      })
    }`
  }),
  actions: [endOthers]
})

/** The pages that rename a passkey, and that ask before a person removes a second factor or ends their other sign-ins. */
export const factorPages = [renamePage, passkeyPage, appPage, othersPage] as const
