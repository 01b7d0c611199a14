import { Effect, Result } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import * as Template from "./Template.ts"
import type { TemplatePartName } from "./TemplatePart.ts"

/** The source of a mail, stored with it, and the compiled form. */
export interface CompiledTemplate<S extends Template.TemplateSource = StoredTexts> {
  readonly source: S
  readonly template: Template.Template
}

/** Texts in their stored form: HTML and an optional plain text. */
export interface StoredTexts {
  readonly subject: string
  readonly html: string
  readonly text: string | null
}

const ownNames: Readonly<Record<TemplatePartName, string>> = { subject: "subject", html: "html", text: "text" }

/** Compiles the texts of a request. The refusal names each faulty parameter with line and column. */
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

/** Keeps lists of templates, and the lookups for each recipient, small. */
const maxVariables = 500
const maxVariableLength = 100

/** The variables of a template. If there are too many, the refusal names `param`, or the body. */
export const variablesOf = (
  { names }: Template.Template,
  param = ""
): Effect.Effect<ReadonlyArray<string>, ValidationFailed> => {
  if (names.length <= maxVariables && names.every(({ length }) => length <= maxVariableLength)) {
    return Effect.succeed(names)
  }
  const limit = `at most ${maxVariables} different variables, with names of at most ${maxVariableLength} characters`
  return Effect.fail(ValidationFailed.of(param, `must have ${limit}`))
}

/** {@link compiled} for the texts of one send, with the same limit of variables as a stored template. */
export const compiledMail = <S extends Template.TemplateSource>(source: S) =>
  Effect.tap(compiled(source), ({ template }) => variablesOf(template))

/** A message of one text, with the same limit of variables as a stored template. */
export const compiledText = Effect.fnUntraced(function*(text: string, param: string) {
  const { template } = yield* compiled({ subject: "", text }, { subject: param, html: param, text: param })
  yield* variablesOf(template, param)
  return template
})
