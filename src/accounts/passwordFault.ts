import { Effect } from "effect"

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
