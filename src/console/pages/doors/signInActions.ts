import { Effect, Option } from "effect"
import { InvalidCredentials } from "../../../accounts/AccountErrors.ts"
import { Audit } from "../../../accounts/Audit.ts"
import { LoginGuesses } from "../../../accounts/LoginGuesses.ts"
import { Passkeys } from "../../../people/Passkeys.ts"
import { People } from "../../../people/People.ts"
import type { Method } from "../../../people/Person.ts"
import { SecondFactors } from "../../../people/SecondFactors.ts"
import { SignIns } from "../../../people/SignIns.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { limitPerMinute, RateLimit } from "../../../platform/http/RateLimit.ts"
import { RequestContext } from "../../../platform/http/RequestContext.ts"
import type { PersonId } from "../../../values/Ids.ts"
import { networkOf } from "../../../values/IpAddress.ts"
import { Action, goTo, Refused, show } from "../../page/Action.ts"
import type { Ask } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { form } from "../../ui/form.ts"

/** Where a person wanted to go: a page of the console, and no other site. */
export const nextOf = ({ query }: Pick<Ask, "query">): string => {
  // Dots are resolved first: "/console/..//example.com" becomes "//example.com", another site.
  const url = URL.parse(query.get("next") ?? "", "http://console")
  return url?.host === "console" && url.pathname.startsWith("/console/") ? `${url.pathname}${url.search}` : "/console/"
}

/** An address as a person typed it. PostgreSQL stores no NUL, so none has one. */
export const addressOf = (typed: string): string => typed.includes("\0") ? "" : typed.slice(0, 320)

/** Attempts of one network, whatever addresses they try. */
export const limited = Effect.gen(function*() {
  const { rateLimitLogin: limit } = yield* AppConfig
  const { clientAddress } = yield* RequestContext
  yield* limitPerMinute(yield* RateLimit, { name: `rateLimitLogin:${networkOf(clientAddress)}`, limit })
})

/** Who signs in, and the hash of the password that they gave. */
interface Entering {
  readonly person: PersonId
  readonly passwordHash?: string
}

/** Signs this browser in. */
const entered = Effect.fnUntraced(function*(
  ask: Ask,
  { passwordHash, person }: Entering,
  methods: ReadonlyArray<Method>
) {
  const token = Option.getOrUndefined(yield* (yield* SignIns).open(person, methods, passwordHash))
  if (token === undefined) return yield* new InvalidCredentials()
  const found = yield* (yield* People).find(person)
  if (Option.isSome(found) && found.value.account_id !== null) {
    yield* (yield* Audit).record({ accountId: found.value.account_id, action: "login", target: `person ${person}` })
  }
  return { ...goTo(nextOf(ask)), signIn: token }
})

/** The second step: a code. `step` says whose password was right. */
export const enterCode = Action.own({
  name: "code",
  fields: {
    code: Field.text({ label: "code.label", hint: "code.hint", autocomplete: "one-time-code", isMono: true }),
    step: Field.hidden()
  },
  run: ({ code = "", step }, ask: Ask) =>
    Effect.gen(function*() {
      const { t } = ask
      yield* limited
      const authenticated = Option.getOrUndefined(yield* (yield* SignIns).authenticatedBy(step))
      if (authenticated === undefined) return yield* Refused.of(t.text("code.late"))
      const { person } = authenticated
      const checked = (yield* SecondFactors).check(person, code.slice(0, 32)).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.mapError(() => new InvalidCredentials())
      )
      const method = yield* (yield* LoginGuesses).countedAnywhere(`code:${person}`, checked).pipe(
        Effect.catchTag("InvalidCredentials", () => {
          const message = t.text("code.wrong")
          return Effect.fail(Refused.of(message, { status: 401, faults: [{ param: "code", message }] }))
        })
      )
      return yield* entered(ask, authenticated, ["password", method])
    })
})

/** The page of the second step. */
export const codePage = (ask: Ask, step: string) => ({
  title: ask.t.text("code.title"),
  lead: ask.t.text("code.lead"),
  content: form(ask, enterCode, { submit: ask.t.text("code.button"), cancel: "/console/sign-in", values: { step } })
})

export const signIn = Action.own({
  name: "sign-in",
  fields: {
    email: Field.email({ label: "signIn.email", autocomplete: "username" }),
    password: Field.password({ label: "signIn.password", autocomplete: "current-password" })
  },
  run: ({ email: typed = "", password = "" }, ask: Ask) =>
    Effect.gen(function*() {
      yield* limited
      const email = addressOf(typed)
      const people = yield* People
      const login = people.authenticate(email, password.slice(0, 128)).pipe(
        Effect.flatMap(Effect.fromOption),
        Effect.mapError(() => new InvalidCredentials())
      )
      const authenticated = yield* (yield* LoginGuesses).counted(email, login)
      const { has_authenticator, passkeys } = yield* (yield* SecondFactors).of(authenticated.person)
      if (!has_authenticator && passkeys === 0) return yield* entered(ask, authenticated, ["password"])
      return show(codePage(ask, yield* (yield* SignIns).halfway(authenticated)))
    })
})

export const usePasskey = Action.own({
  name: "passkey",
  fields: { answer: Field.hidden() },
  run: ({ answer }, ask: Ask) =>
    Effect.gen(function*() {
      yield* limited
      const person = ask.party === undefined ? Option.none() : yield* (yield* Passkeys).verify(answer, ask.party)
      if (Option.isNone(person)) return yield* Refused.of(ask.t.text("passkey.failed"), { status: 401 })
      return yield* entered(ask, { person: person.value }, ["passkey"])
    })
})
