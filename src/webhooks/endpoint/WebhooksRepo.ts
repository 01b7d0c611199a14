import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { EventChannel } from "../../events/EventFilter.ts"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { AccountId, WebhookId } from "../../values/Ids.ts"
import { windowFields } from "../../values/Page.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { RetryPolicyName, UnhealthyReason, Webhook } from "./Webhook.ts"
import { maskedValue } from "./WebhookHeaders.ts"

/** A webhook of one account; for other accounts it does not exist. */
const WebhookKey = Schema.Struct({ accountId: AccountId, id: WebhookId })
export type WebhookKey = typeof WebhookKey.Type

/** A webhook as its actor reads it. The secrets are sealed; the previous one is null unless it still signs. */
const Target = Schema.Struct({
  id: WebhookId,
  account_id: AccountId,
  url: Schema.String,
  secret: Schema.Uint8Array,
  previous_secret: Schema.NullOr(Schema.Uint8Array),
  /** How long the previous secret still signs. */
  previous_millis: Schema.NullOr(Schema.Finite),
  is_active: Schema.Boolean,
  unhealthy_reason: Schema.NullOr(UnhealthyReason),
  retry_policy: RetryPolicyName,
  /** Sealed. */
  headers: Schema.NullOr(Schema.Uint8Array),
  /** Whether a recovery has events left to queue. */
  is_recovering: Schema.Boolean
})
export type Target = typeof Target.Type

/** How the deliveries of a webhook are chosen and sent; null keeps a value in a change. */
const Options = {
  retry_policy: RetryPolicyName,
  channels: Schema.Array(EventChannel),
  tags: Schema.Array(Schema.String),
  header_names: Schema.Array(Schema.String)
}

/** The headers' names are readable, the sealed values go with them. */
const Headers = { headers: Schema.NullOr(Schema.Uint8Array) }

const texts = (values: ReadonlyArray<string> | null) => values === null ? null : column.text(values)

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(`id, url, events, secret_prefix as secret, is_active, failure_count, created_at,
    unhealthy_reason, retry_policy, channels, tags,
    (select coalesce(json_object_agg(name, '${maskedValue}'), '{}') from unnest(header_names) as name) as headers,
    case when not is_active then 'disabled' when unhealthy_reason is null then 'active' else 'unhealthy' end as status`)

  const nextId = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ id: WebhookId }),
    execute: () => sql`select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`
  })

  const insert = Query.findOne({
    Request: Schema.Struct({
      id: WebhookId,
      accountId: AccountId,
      url: Schema.String,
      events: Schema.Array(Schema.String),
      is_active: Schema.Boolean,
      secret: Schema.Uint8Array,
      secret_prefix: Schema.String,
      ...Options,
      ...Headers
    }),
    Result: Webhook,
    execute: ({ accountId, id, ...row }) =>
      sql`insert into webhooks (id, account_id, url, events, is_active, secret, secret_prefix, retry_policy, channels, tags,
          header_names, headers) overriding system value
        values (${id}, ${accountId}, ${row.url}, ${column.text(row.events)}, ${row.is_active}, ${row.secret},
          ${row.secret_prefix}, ${row.retry_policy}, ${column.text(row.channels)}, ${column.text(row.tags)},
          ${column.text(row.header_names)}, ${row.headers})
        returning ${columns}`
  })

  const list = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ...windowFields }),
    Result: Webhook,
    execute: ({ accountId, limit, offset, ...start }) =>
      sql`select ${columns} from webhooks where account_id = ${accountId} and ${Query.afterId(sql, "id", start)}
        order by id desc limit ${limit} offset ${offset}`
  })

  const count = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (accountId) => sql`select count(*) as total from webhooks where account_id = ${accountId}`
  })

  const find = Query.findOneOption({
    Request: WebhookKey,
    Result: Webhook,
    execute: ({ accountId, id }) => sql`select ${columns} from webhooks where id = ${id} and account_id = ${accountId}`
  })

  /** Fails if the account has no such webhook. */
  const require = Effect.fnUntraced(function*(webhook: WebhookKey) {
    if (Option.isNone(yield* find(webhook))) return yield* new NotFound()
  })

  /** As {@link find}, and locks the webhook: it is not changed or removed until the transaction ends. */
  const lock = Query.findOneOption({
    Request: WebhookKey,
    Result: Webhook,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from webhooks where id = ${id} and account_id = ${accountId} for no key update`
  })

  /** The sealed headers of a webhook, which stays as it is until the transaction ends. */
  const lockHeaders = Query.findOneOption({
    Request: WebhookKey,
    Result: Schema.Struct(Headers),
    execute: ({ accountId, id }) =>
      sql`select headers from webhooks where id = ${id} and account_id = ${accountId} for no key update`
  })

  const update = Query.findOneOption({
    Request: Schema.Struct({
      ...WebhookKey.fields,
      url: Schema.NullOr(Schema.String),
      events: Schema.NullOr(Schema.Array(Schema.String)),
      is_active: Schema.NullOr(Schema.Boolean),
      retry_policy: Schema.NullOr(RetryPolicyName),
      channels: Schema.NullOr(Options.channels),
      tags: Schema.NullOr(Options.tags),
      header_names: Schema.NullOr(Options.header_names),
      ...Headers
    }),
    Result: Webhook,
    execute: ({ accountId, channels, events, header_names, headers, id, is_active, retry_policy, tags, url }) => {
      // Spec 3.3: a change makes an unhealthy webhook active, unless it is disabled.
      const isRepaired = sql`coalesce(${is_active}::boolean, is_active and unhealthy_reason is not null)`
      return sql`update webhooks set
          url = coalesce(${url}::text, url),
          events = coalesce(${texts(events)}::text[], events),
          retry_policy = coalesce(${retry_policy}::text, retry_policy),
          channels = coalesce(${texts(channels)}::text[], channels),
          tags = coalesce(${texts(tags)}::text[], tags),
          headers = case when ${texts(header_names)}::text[] is null then headers else ${headers}::bytea end,
          header_names = coalesce(${texts(header_names)}::text[], header_names),
          is_active = coalesce(${is_active}::boolean, is_active),
          failure_count = case when ${isRepaired} then 0 else failure_count end,
          failing_since = case when ${isRepaired} then null else failing_since end,
          unhealthy_reason = case when ${isRepaired} then null else unhealthy_reason end,
          updated_at = now()
        where id = ${id} and account_id = ${accountId}
        returning ${columns}`
    }
  })

  // It overwrites an earlier previous secret, so at most two secrets sign.
  const rotateSecret = Query.findOneOption({
    Request: Schema.Struct({
      ...WebhookKey.fields,
      overlap_seconds: Schema.Int,
      secret: Schema.Uint8Array,
      secret_prefix: Schema.String
    }),
    Result: Webhook,
    execute: ({ accountId, id, overlap_seconds, secret, secret_prefix }) =>
      sql`update webhooks set
          previous_secret = case when ${overlap_seconds}::integer > 0 then secret end,
          previous_secret_until =
            case when ${overlap_seconds}::integer > 0 then now() + make_interval(secs => ${overlap_seconds}::integer) end,
          secret = ${secret},
          secret_prefix = ${secret_prefix},
          updated_at = now()
        where id = ${id} and account_id = ${accountId}
        returning ${columns}`
  })

  const remove = Query.findOneOption({
    Request: WebhookKey,
    Result: Schema.Struct({ id: WebhookId }),
    execute: ({ accountId, id }) =>
      sql`with gone as (
          delete from webhooks where id = ${id} and account_id = ${accountId} returning id
        ), remains as (
          insert into removed_webhooks (webhook_id, account_id) select id, ${accountId}::bigint from gone
        )
        select id from gone`
  })

  const targets = Query.findAll({
    Request: Schema.Array(WebhookId),
    Result: Target,
    execute: (ids) =>
      sql`select id, account_id, url, secret, is_active, unhealthy_reason, retry_policy, headers,
          case when previous_secret_until > now() then previous_secret end as previous_secret,
          extract(epoch from previous_secret_until - now())::float8 * 1000 as previous_millis,
          exists (select from webhook_recoveries r
            where r.webhook_id = webhooks.id and r.completed_at is null and not r.is_queued) as is_recovering
        from webhooks where id = any(${column.int8(ids)})`
  })

  const subscriptions = Query.findAll({
    Request: Schema.Array(AccountId),
    Result: Schema.Struct({
      id: WebhookId,
      account_id: AccountId,
      events: Schema.Array(Schema.String),
      channels: Options.channels,
      tags: Options.tags,
      unhealthy_reason: Schema.NullOr(UnhealthyReason),
      now: Timestamp
    }),
    execute: (accountIds) =>
      sql`select id, account_id, events, channels, tags, unhealthy_reason, clock_timestamp() as now from webhooks
        where account_id = any(${column.int8(accountIds)}) and is_active`
  })

  /** Marks a healthy webhook's backlog as full; returns nothing when the webhook was not healthy. */
  const markBacklogFull = Query.findOneOption({
    Request: WebhookId,
    Result: Schema.Struct({ id: WebhookId }),
    execute: (id) =>
      sql`update webhooks set unhealthy_reason = 'backlog_full'
        where id = ${id} and is_active and unhealthy_reason is null
        returning id`
  })

  /** Resumes a webhook that was suspended for its backlog. */
  const clearBacklogFull = (id: WebhookId) =>
    Query.run(sql`update webhooks set unhealthy_reason = null where id = ${id} and unhealthy_reason = 'backlog_full'`)

  /** The details of a webhook that its owner's notice shows. */
  const unhealthyDetails = Query.findOneOption({
    Request: WebhookId,
    Result: Schema.Struct({
      account_id: AccountId,
      url: Schema.String,
      failure_count: Schema.Int,
      failing_since: Schema.NullOr(Timestamp),
      unhealthy_since: Timestamp
    }),
    execute: (id) =>
      sql`select account_id, url, failure_count, failing_since, now() as unhealthy_since from webhooks where id = ${id}`
  })

  /** Sets the failure count to 0; an unhealthy webhook stays unhealthy. */
  const resetFailures = (id: WebhookId) =>
    Query.run(sql`update webhooks set failure_count = 0, failing_since = null where id = ${id} and failure_count > 0`)

  return {
    nextId,
    insert,
    list,
    count,
    find,
    require,
    lock,
    lockHeaders,
    update,
    rotateSecret,
    remove,
    targets,
    subscriptions,
    markBacklogFull,
    clearBacklogFull,
    resetFailures,
    unhealthyDetails
  }
})

/** SQL of `webhooks`. */
export class WebhooksRepo
  extends Context.Service<WebhooksRepo>()("messaging-service/webhooks/endpoint/WebhooksRepo", { make })
{
  static readonly layer = Layer.effect(WebhooksRepo, make)
}

/** Reads webhooks for their actors, many in one statement. */
export class Targets extends Context.Service<Targets, {
  /** The webhook as the database has it now; none when it is deleted. */
  readonly read: (id: WebhookId) => Effect.Effect<Option.Option<Target>>
}>()("messaging-service/webhooks/endpoint/WebhooksRepo/Targets") {
  static readonly layer = Layer.effect(
    Targets,
    Effect.gen(function*() {
      const { targets } = yield* WebhooksRepo
      const read = yield* GroupCommit.make({
        maxSize: 200,
        concurrency: 1,
        run: (ids: ReadonlyArray<WebhookId>) =>
          Effect.map(targets(ids), (rows) => {
            const byId = new Map(rows.map((row) => [row.id, row]))
            return ids.map((id) => Option.fromNullishOr(byId.get(id)))
          })
      })
      return Targets.of({ read })
    })
  ).pipe(Layer.provide(WebhooksRepo.layer))
}
