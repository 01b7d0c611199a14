import { Effect } from "effect"
import { ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"

/** Loaded with the first password: the dictionaries are large, and most nodes never see a password. */
const estimator = Effect.runSync(Effect.cached(
  Effect.promise(() => Promise.all([import("@zxcvbn-ts/core"), import("@zxcvbn-ts/language-common")])).pipe(
    Effect.map(([{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }]) =>
      new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
    )
  )
))

/** On zxcvbn's scale of 0 to 4. At 3, an attacker with the hash needs 10^8 guesses or more. */
const minScore = 3

const messages: Readonly<Record<string, string>> = {
  straightRow: "must not be a row of letters, digits or keys",
  keyPattern: "must not be a row of letters, digits or keys",
  sequences: "must not be a row of letters, digits or keys",
  simpleRepeat: "must not repeat the same few characters",
  extendedRepeat: "must not repeat the same few characters",
  userInputs: "must not be your name or your email address",
  topTen: "must not be one of the most common passwords",
  topHundred: "must not be one of the most common passwords",
  common: "must not be one of the most common passwords",
  similarToCommon: "must not resemble one of the most common passwords"
}

/** The owner of the password. */
export interface Person {
  readonly name: string
  readonly email: string
}

/**
 * Why a password is too weak, as the end of a sentence; undefined if it is strong enough. The caller checks the length.
 * There are no rules for signs and digits, because they make passwords worse (NIST 800-63B).
 */
export const passwordFault = Effect.fn("passwordFault")(function*(password: string, { email, name }: Person) {
  const words = [email, ...email.split(/[@.]/), name, ...name.split(" ")].filter((word) => word.length >= 3)
  const { feedback, score } = (yield* estimator).check(password.normalize("NFKC"), words)
  if (score >= minScore) return undefined
  return messages[feedback.warning ?? ""] ?? "must be harder to guess; use several words that do not belong together"
})

/** The violations of a new password, if any. */
export const passwordViolations = Effect.fn("passwordViolations")(function*(
  wanted: { readonly password: string; readonly password_confirmation?: string },
  person: Person
) {
  const fault = yield* passwordFault(wanted.password, person)
  return [
    ...(fault === undefined ? [] : [{ param: "password", type: "weak_password", message: fault }]),
    ...(wanted.password_confirmation === undefined || wanted.password_confirmation === wanted.password
      ? []
      : [{ param: "password_confirmation", type: "mismatch", message: "must be the same as password" }])
  ] satisfies ReadonlyArray<Violation>
})

/** Fails with all violations, if there are any. */
export const refuseAll = (errors: ReadonlyArray<Violation>): Effect.Effect<void, ValidationFailed> =>
  errors[0] === undefined ? Effect.void : Effect.fail(new ValidationFailed({ param: errors[0].param, errors }))
