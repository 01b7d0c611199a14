import { Effect, Option, Redacted } from "effect"
import { People } from "../people/People.ts"
import { SecondFactors } from "../people/SecondFactors.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { nothing } from "../platform/http/RequestContext.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Account } from "./Account.ts"
import { InvalidCredentials, RegistrationClosed, SecondFactorRequired } from "./AccountErrors.ts"
import { Accounts } from "./Accounts.ts"
import { AddressConfirmations } from "./AddressConfirmations.ts"
import { AuthApi } from "./AuthApi.ts"
import { LoginGuesses } from "./LoginGuesses.ts"
import { LoginSessions } from "./LoginSessions.ts"
import { passwordViolations, refuseAll } from "./passwordFault.ts"
import { PasswordResets } from "./PasswordResets.ts"

/** Asks for the code of an owner whose password alone proves too little. */
const makeSecondStep = Effect.gen(function*() {
  const people = yield* People
  const factors = yield* SecondFactors
  const guesses = yield* LoginGuesses
  return Effect.fnUntraced(function*(accountId: AccountId, code: string | undefined) {
    const guarded = yield* people.guarded(accountId)
    if (Option.isNone(guarded)) return
    if (code === undefined) return yield* new SecondFactorRequired()
    const person = guarded.value
    const checked = Effect.filterOrFail(factors.check(person, code), Option.isSome, () => new InvalidCredentials())
    yield* guesses.countedAnywhere(`code:${person}`, checked)
  })
})

/** Handlers of {@link AuthApi}. */
export const AuthHttp = endpointGroup(baseContract.add(AuthApi), "auth", (handlers) =>
  Effect.gen(function*() {
    const accounts = yield* Accounts
    const resets = yield* PasswordResets
    const sessions = yield* LoginSessions
    const guesses = yield* LoginGuesses
    const confirmations = yield* AddressConfirmations
    const config = yield* AppConfig
    const secondStep = yield* makeSecondStep

    const opened = Effect.fnUntraced(function*(account: Account, passwordHash?: string) {
      const { expires_at, token } = yield* sessions.open(account.id, passwordHash)
      return { data: { account, token: Redacted.value(token), expires_at } }
    })

    return handlers.handleAll({
      register: Effect.fnUntraced(function*({ payload: { password, ...person } }) {
        if (config.registration === "closed") return yield* new RegistrationClosed()
        yield* refuseAll(yield* passwordViolations({ password }, person))
        if (config.registrationConfirm) yield* confirmations.permit(person.email)
        const account = yield* accounts.create({
          ...person,
          password: Redacted.make(password),
          plan: "starter",
          trial: true,
          awaitsConfirmation: config.registrationConfirm
        })
        yield* confirmations.ask(account.id)
        return yield* Effect.orDie(opened(account))
      }),
      login: Effect.fnUntraced(function*({ payload: { code, email, password } }) {
        const login = accounts.authenticate(email, Redacted.make(password))
        const { account, passwordHash } = yield* guesses.counted(email, login)
        yield* secondStep(account.id, code)
        return yield* opened(account, passwordHash)
      }),
      forgot: Effect.fnUntraced(function*({ payload: { email } }) {
        yield* resets.ask(email)
        return yield* nothing
      }),
      reset: Effect.fnUntraced(function*({ payload: { token, ...wanted } }) {
        yield* resets.use({ token: Redacted.make(token), ...wanted })
        return yield* nothing
      }),
      askConfirmation: Effect.fnUntraced(function*() {
        const { accountId } = yield* Principal
        yield* confirmations.ask(accountId)
        return yield* nothing
      }),
      logout: Effect.fnUntraced(function*() {
        const { accountId, sessionId } = yield* Principal
        // An API key has no session to end. A repeated logout finds none either.
        if (sessionId !== undefined) yield* Effect.ignore(sessions.end(accountId, sessionId))
        return yield* nothing
      })
    })
  }))
