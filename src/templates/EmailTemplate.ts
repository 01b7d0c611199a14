import { Schema } from "effect"
import { TemplateId, TemplateNumber, TemplateVersionId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

const naming = { id: TemplateId, numeric_id: TemplateNumber, name: Schema.String, subject: Schema.String }

const standing = {
  /** All names in subject, HTML and text, in order of their first place. */
  variables: Schema.Array(Schema.String),
  created_at: Timestamp,
  updated_at: Timestamp
}

/** A template in a list, without its texts, which may be megabytes. */
export const EmailTemplateSummary = Schema.Struct({ ...naming, ...standing }).annotate({
  identifier: "EmailTemplateSummary"
})
export type EmailTemplateSummary = typeof EmailTemplateSummary.Type

/** A stored template (spec 2.9). If `text` is null, it is derived from the HTML. */
export const EmailTemplate = Schema.Struct({
  ...naming,
  html: Schema.String,
  text: Schema.NullOr(Schema.String),
  ...standing
}).annotate({ identifier: "EmailTemplate" })
export type EmailTemplate = typeof EmailTemplate.Type

const versionOf = {
  id: TemplateVersionId,
  created_at: Timestamp.annotate({ description: "When a change replaced these texts" }),
  subject: Schema.String
}

/** A version in a list, without its texts. */
export const EmailTemplateVersionSummary = Schema.Struct(versionOf).annotate({
  identifier: "EmailTemplateVersionSummary"
})
export type EmailTemplateVersionSummary = typeof EmailTemplateVersionSummary.Type

/** Texts that a template had before. */
export const EmailTemplateVersion = Schema.Struct({
  ...versionOf,
  html: Schema.String,
  text: Schema.NullOr(Schema.String)
}).annotate({ identifier: "EmailTemplateVersion" })
export type EmailTemplateVersion = typeof EmailTemplateVersion.Type
