import type { Effect } from "effect"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { type Fault, requireOfEach } from "./requireOfEach.ts"
import * as Template from "./Template.ts"
import type { Variables } from "./TemplatePart.ts"

/** A message names no more; the reader repairs the first of hundreds and sees the rest. */
const mostNames = 10

/** What is missing among the values of one message, with the first names of it. */
export const missingValues = (template: Template.Template, variables: Variables): Fault | undefined => {
  const names = Template.missing(template, variables)
  if (names.length === 0) return undefined
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ""
  const message = `must have a value for ${names.slice(0, mostNames).join(", ")}${more}`
  return { type: "missing_variable", message }
}

/** Refuses recipients that lack a value, with the names: nothing is sent with gaps. */
export const requireValues = (
  template: Template.Template,
  recipients: ReadonlyArray<{ readonly variables?: Variables }>
): Effect.Effect<void, ValidationFailed> => requireOfEach(recipients, (variables) => missingValues(template, variables))
