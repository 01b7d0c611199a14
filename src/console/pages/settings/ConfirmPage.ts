import { Effect, Option } from "effect"
import { Passkeys } from "../../../people/Passkeys.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, goTo, Refused } from "../../page/Action.ts"
import type { PersonAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form, refusalOf } from "../../ui/form.ts"
import { passkeyForm } from "../../ui/passkeyForm.ts"
import { nextOf } from "../doors/signInActions.ts"

/** The gate asks for the proof, and then there is nothing left to do. */
const confirm = Action.own({
  name: "confirm",
  fields: {},
  isFresh: true,
  run: (_, ask: PersonAsk) => Effect.succeed(goTo(nextOf(ask)))
})

const confirmByPasskey = Action.own({
  name: "confirm-passkey",
  fields: { answer: Field.hidden() },
  run: ({ answer }, ask: PersonAsk) =>
    Effect.gen(function*() {
      const { party, signedIn: { person, sign_in_id }, t } = ask
      const found = party === undefined ? Option.none() : yield* (yield* Passkeys).verify(answer, party)
      if (!Option.contains(found, person.id)) return yield* Refused.of(t.text("passkey.failed"), { status: 401 })
      return { ...goTo(nextOf(ask)), signIn: yield* (yield* SignIns).prove(sign_in_id) }
    })
})

/** A fresh proof of identity, which holds for ten minutes. */
export const confirmPage = Page.person({
  path: "/confirm",
  read: ({ party }) =>
    party === undefined ? Effect.undefined : Effect.flatMap(Passkeys, (passkeys) => passkeys.request(party.host)),
  draw: (wanted, ask) => ({
    title: ask.t.text("proof.title"),
    lead: ask.t.text("proof.text"),
    content: html`${ask.attempt?.action === confirmByPasskey.name && refusalOf(ask)}${
      wanted !== undefined && ask.signedIn.has_second_factor
      && passkeyForm(ask, confirmByPasskey, { kind: "get", wanted, label: ask.t.text("proof.passkeyButton") })
    }${form(ask, confirm, { submit: ask.t.text("proof.button"), cancel: nextOf(ask) })}`
  }),
  actions: [confirm, confirmByPasskey]
})
