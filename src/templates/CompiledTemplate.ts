import { Effect, Result } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import * as Template from "./Template.ts"
import type { TemplatePartName } from "./TemplateErrors.ts"

/** What mail is made from: the texts, to be kept with the mail, and what they compile to. */
export interface CompiledTemplate<S extends Template.TemplateSource = StoredTexts> {
  readonly source: S
  readonly template: Template.Template
}

/** Texts as they are stored: HTML, and perhaps a text of its own. */
export interface StoredTexts {
  readonly subject: string
  readonly html: string
  readonly text: string | null
}

const ownNames: Readonly<Record<TemplatePartName, string>> = { subject: "subject", html: "html", text: "text" }

/** Compiles the texts of a request; the refusal names each parameter that has a fault, with line and column. */
export const compiled = <S extends Template.TemplateSource>(
  source: S,
  paramOf = ownNames
): Effect.Effect<CompiledTemplate<S>, ValidationFailed> =>
  Result.match(Template.compile(source), {
    onSuccess: (template) => Effect.succeed({ source, template }),
    onFailure: (faults) => {
      const errors = faults.map(({ message, part }) => ({ param: paramOf[part], type: "invalid_template", message }))
      return Effect.fail(new ValidationFailed({ param: errors[0]?.param ?? "", errors }))
    }
  })

/** What lists show of a template stays small, and so does what a send looks up for each recipient. */
const mostVariables = 500
const longestVariable = 100

/** The names of all variables of a template; the refusal of too many names `param`, or the body. */
export const variablesOf = (
  template: Template.Template,
  param = ""
): Effect.Effect<ReadonlyArray<string>, ValidationFailed> => {
  const names = Template.variables(template)
  if (names.length <= mostVariables && names.every(({ length }) => length <= longestVariable)) {
    return Effect.succeed(names)
  }
  const most = `at most ${mostVariables} different variables, with names of at most ${longestVariable} characters`
  return Effect.fail(ValidationFailed.of(param, `must have ${most}`))
}

/** {@link compiled} for the texts of one send, with no more variables than a stored template may have. */
export const compiledMail = <S extends Template.TemplateSource>(source: S) =>
  Effect.tap(compiled(source), ({ template }) => variablesOf(template))

/** A message of one text, with no more variables than a stored template may have. */
export const compiledText = Effect.fnUntraced(function*(text: string, param: string) {
  const { template } = yield* compiled({ subject: "", text }, { subject: param, html: param, text: param })
  yield* variablesOf(template, param)
  return template
})
