import { Effect } from "effect"
import { ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"
import * as Template from "./Template.ts"
import type { Variables } from "./TemplatePart.ts"

const mostViolations = 50

/** Refuses recipients that lack a value, with the names: nothing is sent with gaps. */
export const requireValues = (
  template: Template.Template,
  recipients: ReadonlyArray<{ readonly variables?: Variables }>
): Effect.Effect<void, ValidationFailed> => {
  const errors = recipients.flatMap(({ variables = {} }, index): ReadonlyArray<Violation> => {
    const names = Template.missing(template, variables)
    if (names.length === 0) return []
    const message = `must have a value for ${names.join(", ")}`
    return [{ param: `recipients[${index}].variables`, type: "missing_variable", message }]
  }).slice(0, mostViolations)
  return errors[0] === undefined ? Effect.void : Effect.fail(new ValidationFailed({ param: errors[0].param, errors }))
}
