import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import * as Query from "../../../platform/database/Query.ts"
import { EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

const Counts = Schema.Struct({ total: Schema.Int, programs: Schema.Int })

const At = Schema.Struct({ id: EmailMessageId, link: Schema.Int, at: Timestamp })

const Counted = Schema.Struct({ id: EmailMessageId, at: Timestamp, isProgram: Schema.Boolean })

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Finds the target of a message's link. */
  const target = Query.findOneOption({
    Request: Schema.Struct({ id: EmailMessageId, link: Schema.Int }),
    Result: Schema.Struct({ url: Schema.NullOr(Schema.String) }),
    execute: ({ id, link }) =>
      sql`select (coalesce(m.links, r.links, b.links))[${link}::integer + 1] as url
        from email_messages m left join email_messages r on r.id = m.part_of
        left join email_batches b on b.id = m.batch_id where m.id = ${id}`
  })

  /** Reads the time since the relay accepted a message, and whether another of its links was clicked in the last second. */
  const circumstances = Query.findOne({
    Request: At,
    Result: Schema.Struct({ millis_since_sent: Schema.NullOr(Schema.Finite), is_one_of_many: Schema.Boolean }),
    execute: ({ at, id, link }) =>
      sql`select extract(epoch from ${at}::timestamptz - sent_at)::float8 * 1000 as millis_since_sent,
          exists (select from email_clicks c where c.message_id = ${id} and c.link <> ${link}
            and c.clicked_at > ${at}::timestamptz - interval '1 second') as is_one_of_many
        from email_messages where id = ${id}`
  })

  /** Counts an open and returns the new counts. */
  const countOpen = Query.findOne({
    Request: Counted,
    Result: Counts,
    execute: ({ at, id, isProgram }) =>
      sql`update email_messages set opens = opens + 1, machine_opens = machine_opens + ${isProgram}::boolean::integer,
          opened_at = coalesce(opened_at, ${at}::timestamptz)
        where id = ${id} returning opens as total, machine_opens as programs`
  })

  /** Counts a click and returns the new counts of its link. */
  const countClick = Query.findOne({
    Request: Schema.Struct({ ...Counted.fields, link: Schema.Int }),
    Result: Counts,
    execute: ({ at, id, isProgram, link }) =>
      sql`with message as (
          update email_messages set clicks = clicks + 1, bot_clicks = bot_clicks + ${isProgram}::boolean::integer,
            clicked_at = coalesce(clicked_at, ${at}::timestamptz)
          where id = ${id}
        )
        insert into email_clicks as c (message_id, link, clicks, bot_clicks, clicked_at)
        values (${id}, ${link}, 1, ${isProgram}::boolean::integer, ${at}::timestamptz)
        on conflict (message_id, link) do update set clicks = c.clicks + 1,
          bot_clicks = c.bot_clicks + excluded.bot_clicks, clicked_at = excluded.clicked_at
        returning c.clicks as total, c.bot_clicks as programs`
  })

  return { target, circumstances, countOpen, countClick }
})

/** SQL of opens and clicks. */
export class TrackingRepo
  extends Context.Service<TrackingRepo>()("messaging-service/channels/email/tracking/TrackingRepo", { make })
{
  static readonly layer = Layer.effect(TrackingRepo, make)
}
