import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { subjectOf, subjectValues } from "../channels/email/recipients/MessageProgress.ts"
import { rareStatuses, weights } from "../channels/email/recipients/MessageState.ts"
import { MessageSummary, SummaryChannel } from "../messages/MessageSummary.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { taggedRows } from "../platform/database/taggedRows.ts"
import { AccountId } from "../values/Ids.ts"
import { modeColumn } from "../values/TestMode.ts"
import { slowestInsert } from "./SearchRepo.ts"

type Fragment = Statement.Fragment

/** The messages of one channel to read, newest first. */
export interface SummaryRange {
  readonly accountId: AccountId
  readonly channel: SummaryChannel
  readonly status: string | undefined
  readonly direction: "in" | "out" | undefined
  readonly batch_id: string | undefined
  /** Only WhatsApp messages have one. */
  readonly session_id: number | undefined
  /** Only SMS and WhatsApp messages have one, and the status must be `failed`. */
  readonly error_code: string | undefined
  /** All of them. */
  readonly tags: ReadonlyArray<string>
  readonly metadata: Readonly<Record<string, string>>
  /** Inclusive. */
  readonly from_date: string | undefined
  /** Exclusive. */
  readonly to_date: string | undefined
  /** Those with these ids, or those that a search finds. */
  readonly found: ReadonlyArray<number> | Found | undefined
  /** Ids below this one. */
  readonly before: number
  readonly limit: number
}

/**
 * The messages that a search finds: among the newest that another filter selects by its own index, or by the index of
 * words.
 */
export interface Found {
  /** See `tsqueryPartsOf`. */
  readonly query: ReadonlyArray<string>
  readonly by: "filter" | "words"
}

/** Records that a search compares one by one, the newest first, if another filter has an index. */
const newestSelected = 2000

/** The same without such a filter. They fill a page with a word that is in each tenth message. */
const newestOfAll = 500

/** Of an account, so many of the newest records are looked at for those that an open list does not show. */
export const newestAdded = 500

/** What an open list has of one source. */
export interface Known {
  /** It has all records up to this one that it selects. */
  readonly mark: number
  /** Later ones that are on it. */
  readonly ids: ReadonlyArray<number>
}

const Row = Schema.Struct({
  ...MessageSummary.fields,
  preview: Schema.NullOr(Schema.String),
  batch_subject: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown)
})

const summaryOf = ({ batch_subject, preview, variables, ...summary }: typeof Row.Type): MessageSummary => ({
  ...summary,
  preview: batch_subject === null ? preview ?? "" : subjectOf(batch_subject, variables)
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const mode = sql.literal(modeColumn("m."))
  const values = sql.literal(subjectValues)

  /** The status, the error and the times of the recipients of a record that has several. */
  const summed = sql.literal(`select (${weights})[max(array_position(${weights}, p.status))] as status,
      jsonb_agg(p.recipient order by p.position) filter (where p.kind = 'to') as "to",
      (array_agg(p.error order by p.position) filter (where p.error is not null))[1] as error,
      max(greatest(p.sent_at, p.completed_at, p.delivered_at, p.opened_at, p.clicked_at)) as updated_at
    from email_messages p where p.id = m.id or p.part_of = m.id`)

  /** The ids of hourly marks bound a time by an id, so that a page of last month does not read this one. */
  const idsWithin = (first: Fragment, last: Fragment, { channel, from_date, to_date }: SummaryRange) => {
    const table = sql(channel === "email" ? "email_messages" : "messages")
    return [
      ...(from_date === undefined ? [] : [
        sql`${last} > coalesce((select ${table} from retention_marks where at < ${from_date}::timestamptz - interval '1 minute'
        order by at desc limit 1), 0)`
      ]),
      ...(to_date === undefined ? [] : [
        sql`${first} <= coalesce((select ${table} from retention_marks where at > ${to_date}::timestamptz + interval '1 minute'
        order by at limit 1), ${Number.MAX_SAFE_INTEGER}::bigint)`
      ])
    ]
  }

  const within = (range: SummaryRange) => [
    ...(range.from_date === undefined ? [] : [sql`m.created_at >= ${range.from_date}::timestamptz`]),
    ...(range.to_date === undefined ? [] : [sql`m.created_at < ${range.to_date}::timestamptz`]),
    ...idsWithin(sql`m.id`, sql`m.id`, range)
  ]

  const hasRareStatus = ({ status }: SummaryRange) => status !== undefined && rareStatuses.has(status)

  /** A rare status, a batch, a session and tags have an index. */
  const isSelective = (range: SummaryRange) =>
    hasRareStatus(range) || range.batch_id !== undefined || range.session_id !== undefined || range.tags.length > 0

  /** Rows that a filter selects. An email to several addresses has several. */
  const selected = (range: SummaryRange) => {
    const { accountId, batch_id, before, channel, session_id, status, tags } = range
    const id = sql.literal(channel === "email" ? "coalesce(o.part_of, o.id)" : "o.id")
    const conditions = [
      sql`o.account_id = ${accountId} and ${id} < ${before}`,
      ...idsWithin(id, id, range),
      ...(channel === "email" ? [] : [sql`o.channel = ${channel}`]),
      ...(hasRareStatus(range) ? [sql`o.status = ${sql.literal(`'${status}'`)}`] : []),
      ...(batch_id === undefined ? [] : [sql`o.batch_id = ${batch_id}`]),
      ...(session_id === undefined ? [] : [sql`o.session_id = ${session_id}`]),
      ...(tags.length === 0 ? [] : [taggedRows(sql, range, "o.")])
    ]
    return sql`select ${id} as message_id from ${sql(channel === "email" ? "email_messages" : "messages")} o
      where ${sql.and(conditions)} order by ${id} desc`
  }

  /** The first id of the rows that a search compares one by one. */
  const endOfCompared = (range: SummaryRange) =>
    sql`select r.message_id as id from (${selected(range)}) r offset ${newestSelected - 1} limit 1`

  /** The ids that a search finds, the newest first. Those of the index are in the order of `block` and `id`. */
  const searched = (range: SummaryRange, { by, query }: Found) => {
    const { accountId, before, channel } = range
    if (by === "filter") {
      return sql`select r.message_id as id from (select distinct l.message_id from (${selected(range)}
          limit ${newestSelected}) l order by l.message_id desc) r
        cross join lateral (select 1 from message_search s where s.account_id = ${accountId} and s.channel = ${channel}
          and s.message_id = r.message_id and s.words @@ ${query.join("")}::tsquery offset 0) s
        where r.message_id >= coalesce((${endOfCompared(range)}), 0)`
    }
    const blocks = [
      sql`b.account_id = ${accountId} and b.channel = ${channel} and b.first_id < ${before}`,
      ...idsWithin(sql`b.first_id`, sql`b.last_id`, range)
    ]
    const records = [
      sql`s.message_id < ${before}`,
      ...idsWithin(sql`s.message_id`, sql`s.message_id`, range)
    ]
    // The planner must find the records by their terms, not by their account or in the order of their ids. So the inner
    // query has an offset, and compares the account in a way that no index supports.
    return sql`select b.first_id as block, s.message_id as id
      from (select b.first_id from message_search_blocks b where ${sql.and(blocks)} order by b.first_id desc offset 0) b
      cross join lateral (select s.message_id from message_search s
        where s.account_id is not distinct from ${accountId} and search_terms(s.channel, s.block, s.words)
          @@ array_to_string(${column.text(query)}, left(${channel}, 1) || b.first_id || ':')::tsquery offset 0) s
      where ${sql.and(records)} order by b.first_id desc, s.message_id desc offset 0`
  }

  const matching = (range: SummaryRange): ReadonlyArray<Fragment> => [
    sql`m.account_id = ${range.accountId} and m.id < ${range.before}`,
    ...within(range),
    ...(range.batch_id === undefined ? [] : [sql`m.batch_id = ${range.batch_id}`]),
    ...(range.session_id === undefined ? [] : [sql`m.session_id = ${range.session_id}`]),
    ...(range.error_code === undefined ? [] : [sql`m.error_code = ${range.error_code}`]),
    ...(range.tags.length === 0 ? [] : [taggedRows(sql, range, "m.")]),
    ...(Object.keys(range.metadata).length === 0 ? [] : [sql`m.metadata @> ${sql.json(range.metadata)}`])
  ]

  /** The newest rows that match. Those of a search are read one by one, the newest first, until the page is full. */
  const rowsOf = (table: "email_messages" | "messages", range: SummaryRange, conditions: ReadonlyArray<Fragment>) => {
    const { found, limit } = range
    const all = [...matching(range), ...conditions]
    const rows = (also: ReadonlyArray<Fragment>) =>
      sql`select * from ${sql(table)} m where ${sql.and([...all, ...also])}`
    if (table === "email_messages" && found === undefined && hasRareStatus(range)) {
      // No account reaches this limit. Without it, the planner would read and sort all rows of the status.
      const lazily = sql`limit ${Number.MAX_SAFE_INTEGER}`
      return sql`select m.* from (select distinct s.message_id from (${selected(range)} ${lazily}) s
          order by s.message_id desc ${lazily}) f
        cross join lateral (${rows([sql`m.id = f.message_id`])} offset 0) m order by f.message_id desc limit ${limit}`
    }
    if (found === undefined) return sql`${rows([])} order by m.id desc limit ${limit}`
    const isSearch = "query" in found
    const ids = isSearch ? searched(range, found) : sql`select unnest(${column.int8(found)}) as id`
    const order = sql.literal(isSearch && found.by === "words" ? "f.block desc, f.id desc" : "f.id desc")
    return sql`select m.* from (${ids}) f
      cross join lateral (${rows([sql`m.id = f.id`])} offset 0) m order by ${order} limit ${limit}`
  }

  const emailStatus = ({ status }: SummaryRange) => {
    if (status === undefined) return []
    const statuses = status === "queued" ? sql`('queued', 'sending')` : sql`(${status})`
    return [
      sql`case when m.copies is null then m.status in ${statuses}
        else (select s.status from (${summed}) s) in ${statuses} end`
    ]
  }

  const emailConditions = (range: SummaryRange) => [sql`m.part_of is null`, ...emailStatus(range)]

  const emails = (range: SummaryRange) =>
    sql`select m.id, 'email' as channel, 'out' as direction, coalesce(m.from_address, b.from_address) as "from",
        coalesce(s."to", to_jsonb(m.recipient)) as "to",
        case coalesce(s.status, m.status) when 'sending' then 'queued' else coalesce(s.status, m.status) end as status,
        case m.lane when 0 then 'code' else 'email' end as type, m.batch_id, m.failover_id, m.tags, m.metadata, ${mode},
        m.subject as preview, b.subject as batch_subject, ${values}, coalesce(s.error, m.error) as error, m.created_at,
        coalesce(s.updated_at, greatest(m.created_at, m.sent_at, m.completed_at, m.delivered_at, m.opened_at, m.clicked_at))
          as updated_at, '/v1/email/messages/' || m.id as href
      from (${rowsOf("email_messages", range, emailConditions(range))}) m
      left join email_batches b on b.id = m.batch_id
      left join lateral (${summed}) s on m.copies is not null
      order by m.id desc`

  const textConditions = ({ channel, direction, status }: SummaryRange) => [
    sql`m.channel = ${channel}`,
    ...(direction === undefined ? [] : [sql`m.direction = ${direction}`]),
    ...(status === undefined ? [] : [
      status === "queued" ? sql`m.status in ('queued', 'sending')` : sql`m.status = ${status}`
    ])
  ]

  const texts = (range: SummaryRange) => {
    const { channel } = range
    const isCode = channel === "sms"
      ? sql`(select code_seed is not null from sms_parts c where c.message_id = m.id and c.part_no = 1)`
      : sql`(select code_seed is not null from whatsapp_outbox c where c.message_id = m.id)`
    return sql`select m.id, m.channel, m.direction, m.sender as "from", to_jsonb(m.recipient) as "to",
        case m.status when 'sending' then 'queued' else m.status end as status,
        case when m.direction = 'out' and ${isCode} then 'code' else m.type end as type, m.batch_id, m.failover_id,
        m.tags, m.metadata, ${mode}, left(m.content ->> 'body', 200) as preview, null::text as batch_subject,
        '{}'::jsonb as variables, coalesce(m.error_message, m.error_code) as error, m.created_at,
        greatest(m.created_at, m.sent_at, m.delivered_at, m.read_at, m.failed_at) as updated_at,
        '/v1/' || m.channel || '/messages/' || m.id as href
      from (${rowsOf("messages", range, textConditions(range))}) m order by m.id desc`
  }

  /**
   * Ids follow the order of creation and have the index. The best plan depends on the values of the filters, so the statement
   * is unprepared. A search by words is prepared: its plan is always the same, and planning it takes longer than running it.
   */
  const read = (range: SummaryRange) => {
    const { found } = range
    const statement = range.channel === "email" ? emails(range) : texts(range)
    const isPrepared = found !== undefined && !("query" in found && found.by === "filter")
    return Query.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () => isPrepared ? statement : statement.unprepared
    })().pipe(Effect.map((rows) => rows.map(summaryOf)))
  }

  const newestFound = Query.findOne({
    Request: Schema.Struct({
      accountId: AccountId,
      channel: Schema.String,
      before: Schema.Int,
      query: Schema.String
    }),
    Result: Schema.Struct({ ids: Schema.Array(Schema.Int), end: Schema.NullOr(Schema.Int) }),
    execute: ({ accountId, before, channel, query }) =>
      sql`select coalesce(array_agg(n.message_id) filter (where n.words @@ ${query}::tsquery), '{}') as ids,
          case count(*) when ${newestOfAll} then min(n.message_id) end as end
        from (select s.message_id, s.words from message_search s where s.account_id = ${accountId}
          and s.channel = ${channel} and s.message_id < ${before} order by s.message_id desc limit ${newestOfAll}) n`
  })

  /** Those of the newest messages that have the words, and where the search goes on; null if it has compared all. */
  const newest = ({ accountId, before, channel }: SummaryRange, query: ReadonlyArray<string>) =>
    newestFound({ accountId, before, channel, query: query.join("") })

  /** Where the index of words takes over from a search by another filter. None if that one has compared all. */
  const restOfSearch = (range: SummaryRange) =>
    Query.findOneOption({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.Int }),
      execute: () => endOfCompared(range).unprepared
    })()

  /** A record with a lower id may be committed later than one that is not settled. */
  const isSettled = sql.literal(`m.created_at <= now() - interval '${slowestInsert}' as is_settled`)

  const newestRecords = (
    channel: SummaryChannel,
    { accountId, mark }: { readonly accountId: number; readonly mark: number }
  ) =>
    channel === "email"
      ? sql`select m.*, ${isSettled} from email_messages m where m.account_id = ${accountId} and m.id > ${mark}
          order by m.id desc limit ${newestAdded}`
      : sql`select m.*, ${isSettled} from messages m where m.account_id = ${accountId} and m.channel = ${channel}
          and m.id > ${mark} order by m.id desc limit ${newestAdded}`

  /** The newest record of an account and a channel, and the newest one before which no other one can come any more. */
  const marks = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, channel: SummaryChannel }),
    Result: Schema.Struct({ settled: Schema.Int, newest: Schema.Int }),
    execute: ({ accountId, channel }) =>
      sql`select coalesce(max(m.id) filter (where m.is_settled), min(m.id) - 1, 0) as settled, coalesce(max(m.id), 0) as newest
        from (${newestRecords(channel, { accountId, mark: 0 })}) m`.unprepared
  })

  /**
   * Counts the records that match and that a list does not have. Those up to the new mark are never counted again.
   * `is_whole` is false if there were too many to look at.
   */
  const added = (range: SummaryRange, { ids, mark }: Known) => {
    const { accountId, channel, found } = range
    const conditions = [
      ...matching(range),
      ...(channel === "email" ? emailConditions(range) : textConditions(range)),
      sql`m.id <> all(${column.int8(ids)})`,
      ...(found === undefined || "query" in found ? [] : [sql`m.id = any(${column.int8(found)})`])
    ]
    return Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({
        mark: Schema.Int,
        settled: Schema.Int,
        recent: Schema.Int,
        is_whole: Schema.Boolean
      }),
      execute: () =>
        sql`select coalesce(max(n.id) filter (where n.is_settled), case count(*) when ${newestAdded} then min(n.id) - 1 end,
            ${mark}) as mark,
          count(*) filter (where n.matches and n.is_settled) as settled,
          count(*) filter (where n.matches and not n.is_settled) as recent, count(*) < ${newestAdded} as is_whole
        from (select m.id, m.is_settled, ${sql.and(conditions)} as matches
          from (${newestRecords(channel, { accountId, mark })}) m) n`.unprepared
    })()
  }

  return { read, newest, restOfSearch, isSelective, marks, added }
})

/** SQL that reads the messages of every channel, for the list of all of them. */
export class HistoryRepo extends Context.Service<HistoryRepo>()("messaging-service/history/HistoryRepo", { make }) {
  static readonly layer = Layer.effect(HistoryRepo, make)
}
