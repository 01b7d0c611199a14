import { Effect, Option } from "effect"
import { PasswordChange } from "../../../accounts/AccountApi.ts"
import { AccountSettings } from "../../../accounts/AccountSettings.ts"
import { Audit, type AuditEntry } from "../../../accounts/Audit.ts"
import { Notices } from "../../../accounts/notices/Notices.ts"
import { factorAddedNotice } from "../../../accounts/notices/securityNotices.ts"
import { Passkeys } from "../../../people/Passkeys.ts"
import type { Person } from "../../../people/Person.ts"
import { SecondFactors } from "../../../people/SecondFactors.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { Database } from "../../../platform/database/Database.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { validated } from "../../../platform/http/violations.ts"
import { Action, goTo, Refused, show } from "../../page/Action.ts"
import type { PersonAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { code, linkButton, note } from "../../ui/parts.ts"

/** The page of most of these forms. */
export const security = "/console/me/security"

const passwordIn = validated(PasswordChange)

export const changePassword = Action.own({
  name: "password",
  fields: {
    current_password: Field.password({ label: "security.password.current", autocomplete: "current-password" }),
    password: Field.password({
      label: "security.password.new",
      hint: "setup.passwordHint",
      autocomplete: "new-password"
    }),
    password_confirmation: Field.password({ label: "security.password.again", autocomplete: "new-password" })
  },
  run: (given, { signedIn: { person: { account_id, id } }, t }: PersonAsk) =>
    Effect.gen(function*() {
      if (account_id === null) return yield* Refused.of(t.text("security.password.other"))
      yield* (yield* AccountSettings).changePassword(account_id, yield* passwordIn(given), id)
      return goTo(security, "security.password.done")
    })
})

/** What a person changed of how they sign in. */
interface SignInChange extends Pick<AuditEntry, "action" | "data" | "target"> {
  /** The way in that their mail is about. */
  readonly added?: Parameters<typeof factorAddedNotice>[1]
}

/**
 * Writes into the log of the account that a person owns what they changed, and mails them what was added. In the transaction
 * of that change: a thief who adds a way in must not keep it without the mail, by ending the request in between.
 */
export const recordOf = Effect.fnUntraced(
  function*({ account_id: accountId, id }: Person, { added, ...entry }: SignInChange) {
    if (accountId === null) return
    yield* (yield* Audit).record({ ...entry, accountId, person: id })
    if (added !== undefined) yield* (yield* Notices).enqueue(factorAddedNotice(accountId, added))
  }
)

export const beginApp = Action.own({
  name: "app-begin",
  fields: {},
  isFresh: true,
  run: (_, { signedIn: { person } }: PersonAsk) =>
    Effect.gen(function*() {
      yield* (yield* SecondFactors).begin(person.id)
      return goTo(security)
    })
})

/** Recovery codes, which have no page with an address. None: a form that was sent again, after its codes were shown. */
const codesPage = (ask: PersonAsk, made: Option.Option<ReadonlyArray<string>>) => {
  const page = {
    title: ask.t.text("security.codes.title"),
    crumbs: [{ href: security, label: ask.t.text("security.title") }]
  }
  if (Option.isNone(made)) return show({ ...page, content: note(ask.t.text("security.codes.again"), "warn") })
  return show({
    ...page,
    content: html`${note(ask.t.text("security.codes.once"), "warn")}<ul class="codes">${
      made.value.map((one) => html`<li>${code(one)}</li>`)
    }</ul><div class="buttons">${
      linkButton(security, ask.t.text("security.codes.stored"), { icon: "check", tone: "main" })
    }</div>`
  })
}

export const confirmApp = Action.own({
  name: "app-confirm",
  fields: { code: Field.text({ label: "code.label", autocomplete: "one-time-code", isMono: true }) },
  // A stolen browser must not finish what its person began.
  isFresh: true,
  run: ({ code: given = "" }, ask: PersonAsk) =>
    Effect.gen(function*() {
      const factors = yield* SecondFactors
      const { person } = ask.signedIn
      const { id } = person
      if ((yield* factors.of(id)).has_authenticator) return codesPage(ask, Option.none())
      const { transaction } = yield* Database
      const isRight = yield* transaction(Effect.tap(
        factors.confirm(id, given.slice(0, 32)),
        (isRight) => isRight ? recordOf(person, { action: "authenticator.added", added: "authenticator" }) : Effect.void
      ))
      if (!isRight) {
        const message = ask.t.text("security.app.wrong")
        return yield* Refused.of(message, { faults: [{ param: "code", message }] })
      }
      const { codes_made } = yield* factors.of(id)
      return codes_made === null
        ? codesPage(ask, yield* factors.renewCodes(id, null))
        : goTo(security, "security.app.done")
    })
})

export const renewCodes = Action.own({
  name: "codes",
  fields: { replaced: Field.hidden() },
  isFresh: true,
  run: ({ replaced }, ask: PersonAsk) =>
    Effect.gen(function*() {
      const { person } = ask.signedIn
      const { transaction } = yield* Database
      const made = yield* transaction(Effect.tap(
        (yield* SecondFactors).renewCodes(person.id, replaced),
        Option.match({
          onNone: () => Effect.void,
          onSome: () => recordOf(person, { action: "recovery_codes.renewed", added: "recovery_codes" })
        })
      ))
      return codesPage(ask, made)
    })
})

export const addPasskey = Action.own({
  name: "passkey-add",
  fields: { answer: Field.hidden() },
  // A stolen browser must not add a way in.
  isFresh: true,
  run: ({ answer }, ask: PersonAsk) =>
    Effect.gen(function*() {
      const passkeys = yield* Passkeys
      const { party, signedIn: { person }, t } = ask
      const count = (yield* passkeys.list(person.id)).length
      const name = t.text("security.passkeys.default", { number: count + 1 })
      const { transaction } = yield* Database
      const made = party === undefined ? Option.none() : yield* passkeys.made(answer, party)
      const isAdded = Option.isSome(made) && (yield* transaction(Effect.tap(
        passkeys.add(person.id, name, made.value),
        (isAdded) =>
          isAdded ? recordOf(person, { action: "passkey.added", data: { name }, added: "passkey" }) : Effect.void
      )))
      if (!isAdded) return yield* Refused.of(t.text("security.passkeys.failed"))
      return goTo(security, "security.passkeys.added")
    })
})

const idOf = (text: string) => /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0

export const endSignIn = Action.own({
  name: "end",
  fields: { id: Field.hidden() },
  run: ({ id }, { signedIn: { person } }: PersonAsk) =>
    Effect.gen(function*() {
      if (!(yield* (yield* SignIns).end(person.id, idOf(id)))) return yield* new NotFound()
      yield* recordOf(person, { action: "session.ended", target: `sign-in ${id}` })
      return goTo(security, "security.signIns.ended")
    })
})

/** The page that asks before it. */
export const endOthersPath = `${security}/end-others`

export const endOthers = Action.own({
  name: "end-others",
  fields: {},
  run: (_, { signedIn: { person, sign_in_id } }: PersonAsk) =>
    Effect.gen(function*() {
      const count = yield* (yield* SignIns).endOthers(person.id, sign_in_id)
      if (count > 0) yield* recordOf(person, { action: "session.ended", data: { count } })
      return goTo(security, "security.signIns.endedOthers")
    })
})
