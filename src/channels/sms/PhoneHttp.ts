import { Effect } from "effect"
import { baseContract, endpointGroup } from "../../platform/http/baseContract.ts"
import { phoneFacts } from "../../values/PhoneNumber.ts"
import { PhoneApi, type PhoneValidation } from "./PhoneApi.ts"

const names = new Intl.DisplayNames(["en"], { type: "region" })

const validation = (input: string): PhoneValidation => {
  const facts = phoneFacts(input)
  const country = facts?.country
  return {
    input,
    valid: facts?.isAssigned ?? false,
    e164: facts?.e164 ?? null,
    national_format: facts?.nationalFormat ?? null,
    country: country === undefined ? null : names.of(country) ?? country,
    country_code: country ?? null,
    dial_prefix: facts?.dialPrefix ?? null,
    line_type: facts?.lineType ?? null
  }
}

/** A query reads `+` as a space. */
const asWritten = (number: string) => number.replace(/^ (?=\d)/, "+")

export const PhoneHttp = endpointGroup(
  baseContract.add(PhoneApi),
  "phone",
  (handlers) =>
    handlers.handle("validate", ({ query }) => Effect.sync(() => ({ data: validation(asWritten(query.number)) })))
)
