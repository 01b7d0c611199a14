import { Array, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { QuickWrites } from "../platform/work/QuickWrites.ts"
import { AccountId, TemplateId, TemplateNumber, TemplateVersionId } from "../values/Ids.ts"
import { windowFields } from "../values/Page.ts"
import { Plan } from "../values/Plan.ts"
import {
  EmailTemplate,
  EmailTemplateSummary,
  EmailTemplateVersion,
  EmailTemplateVersionSummary
} from "./EmailTemplate.ts"

const One = Schema.Struct({ accountId: AccountId, ref: Schema.Union([TemplateId, TemplateNumber]) })

const Versions = Schema.Struct({ accountId: AccountId, templateId: TemplateId })

/** The most versions of a template. */
const maxVersions = 20

const Content = Schema.Struct({
  id: TemplateId,
  name: Schema.String,
  subject: Schema.String,
  html: Schema.String,
  text: Schema.NullOr(Schema.String),
  variables: Schema.Array(Schema.String)
})

const New = Schema.Struct({ ...Content.fields, accountId: AccountId, plans: Schema.Array(Plan) })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const quick = yield* QuickWrites.orClient

  const summary = sql.literal("id, numeric_id, name, subject, variables, created_at, updated_at")
  const names = "id, numeric_id, name, subject, html, text, variables, created_at, updated_at"
  const columns = sql.literal(names)

  const named = ({ accountId, ref }: typeof One.Encoded) =>
    sql.and([sql`account_id = ${accountId}`, typeof ref === "number" ? sql`numeric_id = ${ref}` : sql`id = ${ref}`])

  /** Nothing if the account is on none of the plans. */
  const inserted = Query.lookup(quick, {
    Result: EmailTemplate,
    statement: `insert into email_templates (id, account_id, name, subject, html, text, variables)
      select $1, id, $2, $3, $4, $5, $6 from accounts where id = $7 and plan = any($8) returning ${names}`,
    values: ({ accountId, html, id, name, plans, subject, text, variables }: typeof New.Type) => [
      id,
      name,
      subject,
      html,
      text,
      column.text(variables),
      accountId,
      column.text(plans)
    ]
  })
  const insert = (row: typeof New.Type) => Effect.map(inserted(row), Array.head)

  const list = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ...windowFields }),
    Result: EmailTemplateSummary,
    execute: ({ accountId, limit, offset, ...start }) =>
      sql`select ${summary} from email_templates
        where account_id = ${accountId} and ${Query.afterId(sql, "numeric_id", start)}
        order by numeric_id desc limit ${limit} offset ${offset}`
  })

  const count = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (accountId) => sql`select count(*) as total from email_templates where account_id = ${accountId}`
  })

  const find = Query.findOneOption({
    Request: One,
    Result: EmailTemplate,
    execute: (one) => sql`select ${columns} from email_templates where ${named(one)}`
  })

  /** Like {@link find}, and locks the row until the transaction ends. */
  const lock = Query.findOneOption({
    Request: One,
    Result: EmailTemplate,
    execute: (one) => sql`select ${columns} from email_templates where ${named(one)} for update`
  })

  /** Requires a locked row. */
  const update = Query.findOne({
    Request: Content,
    Result: EmailTemplate,
    execute: ({ html, id, name, subject, text, variables }) =>
      sql`update email_templates set name = ${name}, subject = ${subject}, html = ${html}, text = ${text},
          variables = ${column.text(variables)}, updated_at = clock_timestamp()
        where id = ${id} returning ${columns}`
  })

  const ofTemplate = ({ accountId, templateId }: typeof Versions.Encoded) =>
    sql`account_id = ${accountId} and template_id = ${templateId}`

  /** Keeps the texts as a version, and removes the versions that are too many. Requires a locked row. */
  const keep = Query.void({
    Request: Versions,
    execute: ({ accountId, templateId }) =>
      sql`with kept as (
          insert into email_template_versions (account_id, template_id, subject, html, text)
          select account_id, id, subject, html, text from email_templates
          where account_id = ${accountId} and id = ${templateId}
        )
        delete from email_template_versions where ${ofTemplate({ accountId, templateId })} and id <= (
          select id from email_template_versions where ${ofTemplate({ accountId, templateId })}
          order by id desc offset ${maxVersions - 1} limit 1)`
  })

  const versions = Query.findAll({
    Request: Versions,
    Result: EmailTemplateVersionSummary,
    execute: (template) =>
      sql`select id, created_at, subject from email_template_versions where ${ofTemplate(template)}
        order by id desc limit ${maxVersions}`
  })

  const findVersion = Query.findOneOption({
    Request: Schema.Struct({ ...Versions.fields, versionId: TemplateVersionId }),
    Result: EmailTemplateVersion,
    execute: ({ versionId, ...template }) =>
      sql`select id, created_at, subject, html, text from email_template_versions
        where ${ofTemplate(template)} and id = ${versionId}`
  })

  const remove = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: TemplateId }),
    execute: (one) => sql`delete from email_templates where ${named(one)} returning id`
  })

  return { insert, list, count, find, lock, update, keep, versions, findVersion, remove }
})

/** SQL of `email_templates` and `email_template_versions`. */
export class TemplatesRepo
  extends Context.Service<TemplatesRepo>()("messaging-service/templates/TemplatesRepo", { make })
{
  static readonly layer = Layer.effect(TemplatesRepo, make)
}
