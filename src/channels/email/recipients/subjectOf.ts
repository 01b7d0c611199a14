import { Result } from "effect"
import * as Template from "../../../templates/Template.ts"

/** The subject that a recipient of a batch reads; the template itself where another version of this program stored it. */
export const subjectOf = (source: string, variables: Readonly<Record<string, unknown>>): string => {
  const template = Template.compile({ subject: source })
  return Result.isSuccess(template) ? Template.render(template.success, variables).subject : source
}
