import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data, Nothing, Paged } from "../values/Envelope.ts"
import { templatePathId } from "../values/Ids.ts"
import { pageQuery } from "../values/Page.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import { EmailTemplate, EmailTemplateSummary } from "./EmailTemplate.ts"

const longest = 1_000_000

const html = textBetween(1, longest).annotate({ description: "With {{variable}} in the places of values" })

const text = Schema.NullOr(textBetween(1, longest)).annotate({
  description: "The plain text. Left out or null, it is made of the HTML"
})

const texts = {
  html: Schema.optionalKey(html),
  body_html: Schema.optionalKey(html.annotate({ description: "Another name of html" })),
  text: Schema.optionalKey(text),
  body_text: Schema.optionalKey(text.annotate({ description: "Another name of text" }))
}

const name = lineBetween(1, 200).annotate({ description: "For people; several templates may have the same" })

const subject = lineBetween(1, 500)

/** A template to be kept. `html` is required, under one of its names. */
export const NewTemplate = Schema.Struct({ name, subject, ...texts })
export type NewTemplate = typeof NewTemplate.Type

/** What of a template is to be changed. */
export const TemplateChange = Schema.Struct({
  name: Schema.optionalKey(name),
  subject: Schema.optionalKey(subject),
  ...texts
})
export type TemplateChange = typeof TemplateChange.Type

const reading = Access.channel(["email:write"], "templates:read")
const writing = Access.channel(["email:write"], "templates:write")
const params = { template_id: templatePathId }

const list = HttpApiEndpoint.get("list", "/", {
  query: pageQuery,
  success: Paged(EmailTemplateSummary),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List templates",
    description: "Newest first, without html and text: read one template for these."
  }))

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewTemplate,
  success: Data(EmailTemplate).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Create a template",
    description:
      "name, subject and html (or body_html) are required. A {{ }} that cannot be read is refused with its line and column."
  }))

const get = HttpApiEndpoint.get("get", "/:template_id", {
  params,
  success: Data(EmailTemplate),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a template",
    description: "By its id. Its numeric_id is accepted too; the answer then has a Deprecation header."
  }))

const update = HttpApiEndpoint.put("update", "/:template_id", {
  params,
  payload: TemplateChange,
  success: Data(EmailTemplate),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Change a template",
    description:
      "What is left out stays as it is; a text of null is made of the HTML again. Mail that was accepted before stays as it was."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:template_id", {
  params,
  success: Nothing,
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a template",
    description: "Mail that was accepted before is sent all the same."
  }))

/** Templates of email (spec 2.9). */
export class TemplatesApi extends HttpApiGroup.make("templates")
  .add(list, create, get, update, remove)
  .prefix("/v1/email/templates")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Email templates" }))
{}
