import { Schema } from "effect"
import { TemplateId, TemplateNumber } from "../values/Ids.ts"
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
