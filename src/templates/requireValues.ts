import { Effect } from "effect"
import { ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"
import * as Template from "./Template.ts"
import type { Variables } from "./TemplatePart.ts"

const maxViolations = 50

/** The fault of one recipient's variables. */
export type Fault = Pick<Violation, "type" | "message">

/** Refuses recipients with faulty variables, each by its index, up to 50. */
export const requireOfEach = (
  recipients: ReadonlyArray<{ readonly variables?: Variables }>,
  faultOf: (variables: Variables) => Fault | undefined
): Effect.Effect<void, ValidationFailed> => {
  const errors: Array<Violation> = []
  for (const [index, { variables = {} }] of recipients.entries()) {
    const fault = faultOf(variables)
    if (fault !== undefined) errors.push({ param: `recipients[${index}].variables`, ...fault })
    if (errors.length === maxViolations) break
  }
  return errors[0] === undefined ? Effect.void : Effect.fail(new ValidationFailed({ param: errors[0].param, errors }))
}

/** The most names in an error message. */
const maxNames = 10

const listed = (names: ReadonlyArray<string>) => {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ""
  return `${names.slice(0, maxNames).join(", ")}${more}`
}

/** The fault of one message's variables that are missing or have no text form, with the first names. */
export const missingValues = (template: Template.Template, variables: Variables): Fault | undefined => {
  const names = Template.missing(template, variables)
  if (names.length === 0) return undefined
  const composite = new Set(Template.composite(template, variables))
  const absent = names.filter((name) => !composite.has(name))
  const message = [
    ...(absent.length === 0
      ? []
      : [`must have a value for ${listed(absent)}; or write a default into the text, as in {{${absent[0]}|there}}`]),
    ...(composite.size === 0
      ? []
      : [`must have text, a number, true or false for ${listed([...composite])}, not a list or an object`])
  ].join("; ")
  return { type: "missing_variable", message }
}

/** Refuses recipients without a value, so that no message is sent with gaps. */
export const requireValues = (
  template: Template.Template,
  recipients: ReadonlyArray<{ readonly variables?: Variables }>
): Effect.Effect<void, ValidationFailed> => requireOfEach(recipients, (variables) => missingValues(template, variables))
