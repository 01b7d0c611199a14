import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId, TemplateId, TemplateNumber } from "../values/Ids.ts"
import { windowFields } from "../values/Page.ts"
import { Plan } from "../values/Plan.ts"
import { EmailTemplate, EmailTemplateSummary } from "./EmailTemplate.ts"

const One = Schema.Struct({ accountId: AccountId, ref: Schema.Union([TemplateId, TemplateNumber]) })

const Content = Schema.Struct({
  id: TemplateId,
  name: Schema.String,
  subject: Schema.String,
  html: Schema.String,
  text: Schema.NullOr(Schema.String),
  variables: Schema.Array(Schema.String)
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const summary = sql.literal("id, numeric_id, name, subject, variables, created_at, updated_at")
  const columns = sql.literal("id, numeric_id, name, subject, html, text, variables, created_at, updated_at")

  const named = ({ accountId, ref }: typeof One.Encoded) =>
    sql.and([sql`account_id = ${accountId}`, typeof ref === "number" ? sql`numeric_id = ${ref}` : sql`id = ${ref}`])

  /** Nothing if the account is on none of the plans. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, ...Content.fields, plans: Schema.Array(Plan) }),
    Result: EmailTemplate,
    execute: ({ accountId, html, id, name, plans, subject, text, variables }) =>
      sql`insert into email_templates (id, account_id, name, subject, html, text, variables)
        select ${id}::text, id, ${name}::text, ${subject}::text, ${html}::text, ${text}::text, ${column.text(variables)}
        from accounts where id = ${accountId} and plan = any(${column.text(plans)})
        returning ${columns}`
  })

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

  const remove = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: TemplateId }),
    execute: (one) => sql`delete from email_templates where ${named(one)} returning id`
  })

  return { insert, list, count, find, lock, update, remove }
})

/** SQL of `email_templates`. */
export class TemplatesRepo
  extends Context.Service<TemplatesRepo>()("messaging-service/templates/TemplatesRepo", { make })
{
  static readonly layer = Layer.effect(TemplatesRepo, make)
}
