import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { BodyLimit, RequestRules, texts as textLimits } from "../platform/http/RequestRules.ts"
import { pathId, templatePathId, TemplateVersionId } from "../values/Ids.ts"
import { Data, Nothing, Paged, pageQuery } from "../values/Page.ts"
import { lineBetween, textBetween } from "../values/Text.ts"
import {
  EmailTemplate,
  EmailTemplateSummary,
  EmailTemplateVersion,
  EmailTemplateVersionSummary
} from "./EmailTemplate.ts"

const longest = 1_000_000

const html = textBetween(1, longest).annotate({ description: "Contains {{variable}} for each value" })

const text = Schema.NullOr(textBetween(1, longest)).annotate({
  description: "The plain text. If absent or null, it is derived from the HTML"
})

const texts = {
  html: Schema.optionalKey(html),
  body_html: Schema.optionalKey(html.annotate({ description: "Alias of html" })),
  text: Schema.optionalKey(text),
  body_text: Schema.optionalKey(text.annotate({ description: "Alias of text" }))
}

const name = lineBetween(1, 200).annotate({ description: "A name for people. It need not be unique" })

const subject = lineBetween(1, 500)

/** A new template. `html` is required, under one of its names. */
export const NewTemplate = Schema.Struct({ name, subject, ...texts }).annotate({ identifier: "NewEmailTemplate" })
export type NewTemplate = typeof NewTemplate.Type

/** A change of a template. */
export const TemplateChange = Schema.Struct({
  name: Schema.optionalKey(name),
  subject: Schema.optionalKey(subject),
  ...texts
}).annotate({ identifier: "EmailTemplateChange" })
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
    description: "Newest first, without html and text. Read a single template for these."
  }))

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewTemplate,
  success: Data(EmailTemplate).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed, PlanLimitExceeded)
})
  .annotate(Access.Access, writing)
  .annotate(BodyLimit, textLimits)
  .annotateMerge(OpenApi.annotations({
    summary: "Create a template",
    description:
      "name, subject and html (or body_html) are required. An invalid {{ }} is refused with its line and column."
  }))

const get = HttpApiEndpoint.get("get", "/:template_id", {
  params,
  success: Data(EmailTemplate),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a template",
    description: "By its id. Its numeric_id is accepted too; the response then has a Deprecation header."
  }))

const update = HttpApiEndpoint.put("update", "/:template_id", {
  params,
  payload: TemplateChange,
  success: Data(EmailTemplate),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotate(BodyLimit, textLimits)
  .annotateMerge(OpenApi.annotations({
    summary: "Change a template",
    description:
      "Absent fields keep their value. A text of null is derived from the HTML again. Mail accepted before does not change. "
      + "The texts that a change of subject, html or text replaces become a version."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:template_id", {
  params,
  success: Nothing,
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a template",
    description: "Deletes its versions too. Mail accepted before is still sent."
  }))

const versions = HttpApiEndpoint.get("versions", "/:template_id/versions", {
  params,
  success: Data(Schema.Array(EmailTemplateVersionSummary)),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List a template's versions",
    description:
      "The last 20 that the template had before, newest first, without html and text. Read a single version for these."
  }))

const ofVersion = { ...params, version_id: pathId(TemplateVersionId) }

const version = HttpApiEndpoint.get("version", "/:template_id/versions/:version_id", {
  params: ofVersion,
  success: Data(EmailTemplateVersion),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a version",
    description: "Returns the texts that a change of the template replaced."
  }))

const restore = HttpApiEndpoint.post("restore", "/:template_id/versions/:version_id/restore", {
  params: ofVersion,
  success: Data(EmailTemplate),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Restore a version",
    description:
      "Gives the template the subject, html and text of the version. The texts until then become a version. The name stays."
  }))

/** Email templates (spec 2.9). */
export class TemplatesApi extends HttpApiGroup.make("templates")
  .add(list, create, get, update, remove, versions, version, restore)
  .prefix("/v1/email/templates")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Email templates", description: "Stored texts with variables." }))
{}
