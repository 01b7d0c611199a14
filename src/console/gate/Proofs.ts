import { Context, Effect, Layer, Option } from "effect"
import { InvalidCredentials, type LoginPaused } from "../../accounts/AccountErrors.ts"
import { LoginGuesses } from "../../accounts/LoginGuesses.ts"
import { People } from "../../people/People.ts"
import { SecondFactors } from "../../people/SecondFactors.ts"
import { SignIns } from "../../people/SignIns.ts"
import { Refused } from "../page/Action.ts"
import { codeField, passwordField } from "../ui/form.ts"
import { signInCookie } from "./Browser.ts"
import type { Visit } from "./Visits.ts"

/** Asks people to prove their identity again, before a form that a stolen browser must not send. */
export class Proofs extends Context.Service<Proofs, {
  /**
   * The visit with a fresh proof, if the action needs one: password, and the code of a person with a second factor. The browser
   * gets another token. A form without a proof, from a page that was drawn while the last one was fresh, is no wrong guess.
   */
  readonly before: (
    action: { readonly isFresh: boolean },
    visit: Visit,
    form: URLSearchParams
  ) => Effect.Effect<Visit, LoginPaused | Refused>
}>()("messaging-service/console/gate/Proofs") {
  static readonly layer = Layer.effect(
    Proofs,
    Effect.gen(function*() {
      const people = yield* People
      const factors = yield* SecondFactors
      const signIns = yield* SignIns
      const guesses = yield* LoginGuesses

      const proves = Effect.fnUntraced(
        function*({ has_second_factor, person }: NonNullable<Visit["signedIn"]>, form: URLSearchParams) {
          const password = (form.get(passwordField) ?? "").slice(0, 128)
          if (!(yield* people.hasPassword(person.id, password))) return yield* new InvalidCredentials()
          if (!has_second_factor) return
          const code = (form.get(codeField) ?? "").slice(0, 32)
          if (Option.isNone(yield* factors.check(person.id, code))) return yield* new InvalidCredentials()
        }
      )

      const before = Effect.fn("Proofs.before")(
        function*(action: { readonly isFresh: boolean }, visit: Visit, form: URLSearchParams) {
          const { approach, ask: { t }, cookies, signedIn } = visit
          if (!action.isFresh || signedIn === undefined || signedIn.is_fresh) return visit
          if (!form.has(passwordField)) return yield* Refused.of(t.text("proof.text"))
          yield* guesses.countedAnywhere(`proof:${signedIn.person.id}`, proves(signedIn, form)).pipe(
            Effect.catchTag("InvalidCredentials", () => {
              const message = t.text("proof.wrong")
              return Effect.fail(Refused.of(message, { faults: [{ param: passwordField, message }] }))
            })
          )
          const token = yield* signIns.prove(signedIn.sign_in_id)
          const fresh = { ...signedIn, is_fresh: true }
          return { ...visit, signedIn: fresh, cookies: [...cookies, signInCookie(approach, token)] }
        }
      )
      return Proofs.of({ before })
    })
  )
}
