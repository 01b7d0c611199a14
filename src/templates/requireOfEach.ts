import { Effect } from "effect"
import { ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"
import type { Variables } from "./TemplatePart.ts"

const mostViolations = 50

/** What is wrong with the values of one recipient. */
export type Fault = Pick<Violation, "type" | "message">

/** Refuses recipients whose values have a fault, each by its index; after the first 50 nobody is looked at any more. */
export const requireOfEach = (
  recipients: ReadonlyArray<{ readonly variables?: Variables }>,
  faultOf: (variables: Variables) => Fault | undefined
): Effect.Effect<void, ValidationFailed> => {
  const errors: Array<Violation> = []
  for (const [index, { variables = {} }] of recipients.entries()) {
    const fault = faultOf(variables)
    if (fault !== undefined) errors.push({ param: `recipients[${index}].variables`, ...fault })
    if (errors.length === mostViolations) break
  }
  return errors[0] === undefined ? Effect.void : Effect.fail(new ValidationFailed({ param: errors[0].param, errors }))
}
