import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { column } from "../platform/database/column.ts"
import { AccountId, WebhookId } from "../values/Ids.ts"
import { Webhook } from "./Webhook.ts"

const One = Schema.Struct({ accountId: AccountId, id: WebhookId })

/** What the actor needs of its webhook; `secret` is sealed. */
const Target = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  secret: Schema.Uint8Array,
  is_active: Schema.Boolean
})

/** SQL of `webhooks`. */
export const makeWebhooksRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(`id, url, events, secret_prefix as secret, is_active, failure_count, created_at,
    case when is_active then 'active' else 'disabled' end as status`)

  const nextId = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ id: WebhookId }),
    execute: () => sql`select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`
  })

  const insert = SqlSchema.findOne({
    Request: Schema.Struct({
      id: WebhookId,
      accountId: AccountId,
      url: Schema.String,
      events: Schema.Array(Schema.String),
      secret: Schema.Uint8Array,
      secret_prefix: Schema.String
    }),
    Result: Webhook,
    execute: (row) =>
      sql`insert into webhooks (id, account_id, url, events, secret, secret_prefix) overriding system value
        values (${row.id}, ${row.accountId}, ${row.url}, ${
        column.text(row.events)
      }, ${row.secret}, ${row.secret_prefix})
        returning ${columns}`
  })

  const list = SqlSchema.findAll({
    Request: AccountId,
    Result: Webhook,
    execute: (accountId) => sql`select ${columns} from webhooks where account_id = ${accountId} order by id desc`
  })

  const find = SqlSchema.findOneOption({
    Request: One,
    Result: Webhook,
    execute: ({ accountId, id }) => sql`select ${columns} from webhooks where id = ${id} and account_id = ${accountId}`
  })

  const update = SqlSchema.findOneOption({
    Request: Schema.Struct({
      ...One.fields,
      url: Schema.NullOr(Schema.String),
      events: Schema.NullOr(Schema.Array(Schema.String)),
      is_active: Schema.NullOr(Schema.Boolean)
    }),
    Result: Webhook,
    execute: ({ accountId, events, id, is_active, url }) =>
      sql`update webhooks set
          url = coalesce(${url}::text, url),
          events = coalesce(${events === null ? null : column.text(events)}::text[], events),
          is_active = coalesce(${is_active}::boolean, is_active),
          failure_count = case when ${is_active}::boolean then 0 else failure_count end,
          updated_at = now()
        where id = ${id} and account_id = ${accountId}
        returning ${columns}`
  })

  const remove = SqlSchema.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: WebhookId }),
    execute: ({ accountId, id }) =>
      sql`delete from webhooks where id = ${id} and account_id = ${accountId} returning id`
  })

  const target = SqlSchema.findOneOption({
    Request: WebhookId,
    Result: Target,
    execute: (id) => sql`select id, url, secret, is_active from webhooks where id = ${id}`
  })

  const subscriptions = SqlSchema.findAll({
    Request: Schema.Array(AccountId),
    Result: Schema.Struct({ id: WebhookId, account_id: AccountId, events: Schema.Array(Schema.String) }),
    execute: (accountIds) =>
      sql`select id, account_id, events from webhooks where account_id = any(${column.int8(accountIds)}) and is_active`
  })

  return { nextId, insert, list, find, update, remove, target, subscriptions }
})
