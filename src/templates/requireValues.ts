import type { Effect } from "effect"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { type Fault, requireOfEach } from "./requireOfEach.ts"
import * as Template from "./Template.ts"
import type { Variables } from "./TemplatePart.ts"

/** A message names no more; the reader repairs the first of hundreds and sees the rest. */
const mostNames = 10

const listed = (names: ReadonlyArray<string>) => {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ""
  return `${names.slice(0, mostNames).join(", ")}${more}`
}

/** What is missing among the values of one message, or is none that can stand in a text, with the first names of it. */
export const missingValues = (template: Template.Template, variables: Variables): Fault | undefined => {
  const names = Template.missing(template, variables)
  if (names.length === 0) return undefined
  const composite = new Set(Template.composite(template, variables))
  const absent = names.filter((name) => !composite.has(name))
  const message = [
    ...(absent.length === 0 ? [] : [`must have a value for ${listed(absent)}`]),
    ...(composite.size === 0
      ? []
      : [`must have text, a number, true or false for ${listed([...composite])}, not an object`])
  ].join("; ")
  return { type: "missing_variable", message }
}

/** Refuses recipients that lack a value, with the names: nothing is sent with gaps. */
export const requireValues = (
  template: Template.Template,
  recipients: ReadonlyArray<{ readonly variables?: Variables }>
): Effect.Effect<void, ValidationFailed> => requireOfEach(recipients, (variables) => missingValues(template, variables))
