import { Effect, Option } from "effect"
import { type Passkey, Passkeys } from "../../../people/Passkeys.ts"
import type { SignIn } from "../../../people/Person.ts"
import { type Enrolment, type Factors, SecondFactors } from "../../../people/SecondFactors.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { html } from "../../../platform/http/html.ts"
import { lacksFactor, type PersonAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form, refusalOf } from "../../ui/form.ts"
import { badge, card, copyable, foreign, linkButton, moment, note } from "../../ui/parts.ts"
import { passkeyForm } from "../../ui/passkeyForm.ts"
import { type Column, table } from "../../ui/table.ts"
import { browserOf } from "./browserOf.ts"
import {
  addPasskey,
  beginApp,
  changePassword,
  confirmApp,
  endOthersPath,
  endSignIn,
  renewCodes,
  security
} from "./securityActions.ts"

/** Loaded with the first picture. */
const qrOf = (text: string) =>
  Effect.promise(() =>
    import("qrcode").then(({ toDataURL }) => toDataURL(text, { errorCorrectionLevel: "M", margin: 2, scale: 5 }))
  )

interface Facts {
  readonly factors: Factors
  readonly enrolment: (Enrolment & { readonly picture: string }) | undefined
  readonly passkeys: ReadonlyArray<Passkey>
  readonly creation: string | undefined
  readonly signIns: ReadonlyArray<SignIn>
}

const passwordCard = (ask: PersonAsk) =>
  card(
    ask.t.text("security.password"),
    form(ask, changePassword, { submit: ask.t.text("security.password.button") }),
    "password"
  )

const passkeyColumns = (ask: PersonAsk): ReadonlyArray<Column<Passkey>> => [
  { label: ask.t.text("security.passkeys.name"), cell: ({ name }) => foreign(name) },
  { label: ask.t.text("security.passkeys.made"), cell: ({ created_at }) => moment(ask, created_at) },
  {
    label: ask.t.text("security.passkeys.used"),
    cell: ({ last_used_at }) => last_used_at === null ? ask.t.text("common.never") : moment(ask, last_used_at)
  },
  {
    label: ask.t.text("security.passkeys.remove"),
    kind: "actions",
    cell: ({ id, name }) =>
      html`<span class="buttons">${
        linkButton(`${security}/passkeys/${id}/rename`, ask.t.text("sessions.rename"), {
          opensDialog: true,
          label: ask.t.text("security.passkeys.rename", { name })
        })
      }${
        linkButton(`${security}/passkeys/${id}/remove`, ask.t.text("security.passkeys.remove"), {
          opensDialog: true,
          label: ask.t.text("security.passkeys.removeNamed", { name })
        })
      }</span>`
  }
]

/** Adds a passkey. A form whose proof of identity became too old waits for another one, with the browser's passkey. */
const adding = (ask: PersonAsk, creation: string | undefined) => {
  const { attempt, base, signedIn: { is_fresh }, t } = ask
  const label = t.text("security.passkeys.add")
  if (attempt?.action === addPasskey.name && !is_fresh) return form(ask, addPasskey, { submit: label })
  if (creation === undefined) return html`<p class="quiet">${t.text("security.passkeys.where", { base })}</p>`
  return passkeyForm(ask, addPasskey, { kind: "create", wanted: creation, label })
}

const passkeysCard = (ask: PersonAsk, { creation, passkeys }: Facts) => {
  const { t } = ask
  return card(
    t.text("security.passkeys"),
    html`<p>${t.text("security.passkeys.text")}</p>${
      passkeys.length === 0
        ? html`<p class="quiet">${t.text("security.passkeys.none")}</p>`
        : table(t.text("security.passkeys.caption"), passkeyColumns(ask), passkeys)
    }${adding(ask, creation)}`,
    "passkeys"
  )
}

const appCard = (ask: PersonAsk, { enrolment, factors: { has_authenticator } }: Facts) => {
  const { attempt, t } = ask
  const state = has_authenticator
    ? badge(t.text("security.app.on"), "good")
    : badge(t.text("security.app.off"), "quiet")
  const about = html`<p>${t.text("security.app.text")} ${state}</p>`
  if (has_authenticator) {
    const off = linkButton(`${security}/app/remove`, t.text("security.app.remove"), {
      opensDialog: true,
      tone: "danger"
    })
    return card(t.text("security.app"), html`${about}<div class="buttons">${off}</div>`, "app")
  }
  const confirms = form(ask, confirmApp, { submit: t.text("security.app.confirm") })
  if (enrolment === undefined) {
    const begins = form(ask, beginApp, { submit: t.text("security.app.begin"), tone: "plain" })
    return card(
      t.text("security.app"),
      html`${about}${attempt?.action === confirmApp.name ? confirms : begins}`,
      "app"
    )
  }
  return card(
    t.text("security.app"),
    html`${about}<p>${t.text("security.app.scan")}</p>
<img class="qr" src="${enrolment.picture}" width="205" height="205" alt="${t.text("security.app.picture")}">
${copyable(ask, enrolment.secret, { label: t.text("security.app.key") })}
${confirms}`,
    "app"
  )
}

const codesCard = (
  ask: PersonAsk,
  { factors: { codes_made, has_authenticator, passkeys, recovery_codes } }: Facts
) =>
  (has_authenticator || passkeys > 0) && card(
    ask.t.text("security.codes"),
    html`<p>${ask.t.text("security.codes.text")} ${ask.t.text("security.codes.left", { count: recovery_codes })}</p>${
      form(ask, renewCodes, {
        submit: ask.t.text("security.codes.make"),
        tone: "plain",
        values: { replaced: codes_made ?? "" }
      })
    }`,
    "codes"
  )

const signInColumns = (ask: PersonAsk): ReadonlyArray<Column<SignIn>> => {
  const { signedIn: { sign_in_id }, t } = ask
  return [
    {
      label: t.text("security.signIns.browser"),
      cell: ({ id, user_agent }) =>
        html`${foreign(browserOf(user_agent) ?? t.text("security.signIns.unknown"))} ${
          id === sign_in_id && badge(t.text("security.signIns.this"), "good")
        }`
    },
    {
      label: t.text("security.signIns.address"),
      cell: ({ client_address }) => html`<code dir="ltr">${client_address}</code>`
    },
    { label: t.text("security.signIns.since"), cell: ({ created_at }) => moment(ask, created_at) },
    {
      label: t.text("security.signIns.seen"),
      cell: ({ created_at, last_used_at }) => moment(ask, last_used_at ?? created_at)
    },
    {
      label: t.text("security.signIns.end"),
      kind: "actions",
      cell: ({ id, user_agent }) =>
        id !== sign_in_id && buttonForm(ask, endSignIn, {
          values: { id: String(id) },
          label: html`${t.text("security.signIns.end")}<span class="hidden">: ${browserOf(user_agent)}</span>`
        })
    }
  ]
}

const signInsCard = (ask: PersonAsk, { signIns }: Facts) =>
  card(
    ask.t.text("security.signIns"),
    html`${table(ask.t.text("security.signIns.caption"), signInColumns(ask), signIns)}${
      signIns.length > 1 &&
      html`<div class="buttons">${
        linkButton(endOthersPath, ask.t.text("security.signIns.endOthers"), { tone: "danger", opensDialog: true })
      }</div>`
    }`,
    "sign-ins"
  )

const read = Effect.fnUntraced(function*({ party, signedIn: { is_fresh, person } }: PersonAsk) {
  const factors = yield* SecondFactors
  const passkeys = yield* Passkeys
  // Who sees the seed has the second factor.
  const pending = is_fresh ? Option.getOrUndefined(yield* factors.pending(person.id, person.email)) : undefined
  return {
    factors: yield* factors.of(person.id),
    enrolment: pending === undefined ? undefined : { ...pending, picture: yield* qrOf(pending.uri) },
    passkeys: yield* passkeys.list(person.id),
    creation: party === undefined ? undefined : yield* passkeys.creation(person, party.host),
    signIns: yield* (yield* SignIns).list(person.id)
  }
})

/** The forms of this page that say themselves why they did not work. */
const isTold = ({ attempt, signedIn: { is_fresh } }: PersonAsk) =>
  [changePassword, beginApp, confirmApp, renewCodes].some(({ name }) => name === attempt?.action) ||
  (attempt?.action === addPasskey.name && !is_fresh)

/** How a person signs in, and where they are signed in. */
export const securityPage = Page.person({
  path: "/me/security",
  read,
  draw: (facts, ask) => ({
    title: ask.t.text("security.title"),
    content: html`${!isTold(ask) && refusalOf(ask)}${
      lacksFactor(ask) && note(ask.t.text("security.operator"), "warn")
    }<div class="cards">${signInsCard(ask, facts)}${passkeysCard(ask, facts)}${appCard(ask, facts)}${
      codesCard(ask, facts)
    }${passwordCard(ask)}</div>`
  }),
  actions: [
    changePassword,
    beginApp,
    confirmApp,
    renewCodes,
    addPasskey,
    endSignIn
  ]
})
