import { nearest } from "../../values/nearest.ts"
import { settings } from "./settings.ts"

const known: ReadonlyArray<string> = Object.values(settings).map(({ name }) => name)

/** Prefixes that other programs seldom use. */
const ours = /^(?:BOUNCE|DATABASE|DELIVERY|OTP|PLAN|RATE_LIMIT|RUNNER|SANDBOX|SMPP|SMS|SMTP|WEBHOOK|WHATSAPP)_[A-Z]/

/** Short names such as HOME and PATH are close to HOST and PORT by chance. */
const shortest = 6

const suggestion = (name: string, otherwise: string) => {
  const similar = nearest(name.toUpperCase(), known)
  const near = similar.length > 0 ? similar : known.filter((other) => other.startsWith(`${name}_`)).slice(0, 2)
  return near.length === 0 ? otherwise : `Did you mean ${near.join(" or ")}?`
}

const unknown = (names: ReadonlyArray<string>) => names.filter((name) => !known.includes(name))

/** A sentence for each name of a settings file that is not a setting. The file is ours, so it is a mistake. */
export const unknownInFile = (path: string, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  unknown(names).map((name) =>
    `${path} sets ${name}, which is not a setting. ${
      suggestion(name, "Remove it: docs/settings.md lists all settings.")
    }`
  )

/** A sentence for each variable that looks like a misspelt setting. The environment also has other programs' variables. */
export const unknownInEnvironment = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  unknown(names)
    .filter((name) => ours.test(name) || (name.length >= shortest && nearest(name, known).length > 0))
    .map((name) => `${name} is not a setting. ${suggestion(name, "docs/settings.md lists all settings.")}`)
