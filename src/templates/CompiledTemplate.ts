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

/** Compiles the texts of a request; the refusal names the parameter that has the fault, with line and column. */
export const compiled = <S extends Template.TemplateSource>(
  source: S,
  paramOf = ownNames
): Effect.Effect<CompiledTemplate<S>, ValidationFailed> =>
  Result.match(Template.compile(source), {
    onSuccess: (template) => Effect.succeed({ source, template }),
    onFailure: ({ message, part }) => Effect.fail(ValidationFailed.of(paramOf[part], message, "invalid_template"))
  })
