/**
 * Erases old messages: first their texts, later their records. An hourly retention mark stores how far the ids have come,
 * so that an age is a range of ids: a round reads only rows that expire, by the primary key.
 */
import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import * as Query from "../../platform/database/Query.ts"
import { RetentionClock } from "../../platform/database/RetentionClock.ts"
import { AccountId } from "../../values/Ids.ts"
import { portions, portionSize, type Step } from "./portions.ts"

const tables = ["email_messages", "messages"] as const
type Table = (typeof tables)[number]

/** The rows of all accounts, or those of an account with a shorter retention. */
interface Scope {
  readonly account?: AccountId
  readonly messageDays: number
  readonly contentDays: number
}

/** Stores how far the ids are, once an hour. */
export const markIds = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Query.run(sql`insert into retention_marks (at, email_messages, messages)
    select now(), coalesce((select max(id) from email_messages), 0), coalesce((select max(id) from messages), 0)
    where not exists (select from retention_marks where at between now() - interval '1 hour' and now())`)
})

const shorter = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { contentRetentionDays, messageRetentionDays } = yield* AppConfig
  const accounts = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ account: AccountId, messageDays: Schema.Int, contentDays: Schema.Int }),
    execute: () =>
      sql`select id as account, least(message_retention_days, ${messageRetentionDays}::integer) as "messageDays",
          least(content_retention_days, message_retention_days, ${contentRetentionDays}::integer) as "contentDays"
        from accounts where message_retention_days is not null or content_retention_days is not null`
  })
  return yield* accounts()
})

const fragments = (sql: SqlClient.SqlClient) => {
  const before = (days: number) => sql`(${RetentionClock.now(sql)} - ${days}::integer * interval '1 day')`
  /** The highest id of the rows that are older. */
  const upTo = (table: Table, days: number) =>
    sql`(select coalesce(max(${sql(table)}), 0) from retention_marks where at < ${before(days)})`
  const isOpen = (row: string) => sql`${sql(row)}.status in ('scheduled', 'queued', 'sending')`
  /**
   * All copies of an email are kept while one is open, and all of a batch until a day after its end: it may be sent again.
   * `offset 0` keeps the planner from reading a whole table into a hash.
   */
  const others: Readonly<Record<Table, Statement.Fragment>> = {
    messages: sql``,
    email_messages: sql`
      or exists (select from email_messages p where p.part_of = coalesce(m.part_of, m.id) and ${isOpen("p")} offset 0)
      or exists (select from email_messages r where r.id = m.part_of and ${isOpen("r")} offset 0)
      or exists (select from email_batches b where b.id = m.batch_id
        and coalesce(b.completed_at >= ${before(1)}, true) offset 0)`
  }
  /** Whether a row `m` is kept. A scheduled message ages from the time that it is sent at. */
  const isKept = (table: Table, days: number) =>
    sql`(${isOpen("m")} or (m.send_at is not null and m.send_at >= ${before(days)})${others[table]})`
  const ofAccount = ({ account }: Scope) => account === undefined ? sql`true` : sql`account_id = ${account}`
  return { before, isKept, ofAccount, upTo }
}

/** The channel of a table's rows. */
const channelIn = (sql: SqlClient.SqlClient, table: Table) =>
  sql.literal(table === "email_messages" ? "'email'::text as channel" : "channel")

const erasures: Readonly<Record<Table, (sql: SqlClient.SqlClient) => Statement.Fragment>> = {
  email_messages: (sql) =>
    sql`update email_messages set variables = '{}', subject = null where id in (select id from ended)`,
  messages: (sql) =>
    sql`update messages set content = 'null' where id in (select id from ended)
    ), parts as (
      update sms_parts set body = '' where message_id in (select id from ended)
    ), inbox as (
      update whatsapp_inbox set payload = null where message_id in (select id from ended) and payload is not null`
}

/** Erases the texts of the next ids, and notes those that are kept for longer. What waits to be sent keeps its text. */
const erasesTexts = (sql: SqlClient.SqlClient, table: Table, scope: Scope): ReadonlyArray<Step> => {
  const { before, isKept, ofAccount, upTo } = fragments(sql)
  const name = scope.account === undefined ? table : `${table} ${scope.account}`
  const days = scope.contentDays
  const erased = sql`erased as (${erasures[table](sql)}), searched as (
      -- The recipients can be found as long as the record.
      update message_search s set words = ts_filter(s.words, '{a}') from ended e
      where s.account_id = e.account_id and s.channel = e.channel and s.message_id = e.id
    )`
  const step = (of: string, statement: Statement.Fragment): Step => {
    const Result = Schema.Struct({ count: Schema.Int })
    const portion = Query.findOne({ Request: Schema.Void, Result, execute: () => sql`${statement}` })
    return { table: of, portion: Effect.map(portion(), ({ count }) => count) }
  }
  return [
    step(
      `the texts of ${name}`,
      sql`with span as (
          select coalesce((select id from retention_progress where name = ${name}), 0) as after,
            ${upTo(table, days)} as last
        ), expiring as (
          select id, account_id, batch_id, ${channelIn(sql, table)}, send_at, ${isKept(table, days)} as is_kept from ${
        sql(table)
      } m
          where id > (select after from span) and id <= (select last from span) and ${ofAccount(scope)}
          order by id limit ${portionSize}
        ), ended as (
          select id, account_id, channel from expiring where not is_kept
        ), late as (
          insert into retention_late (name, due, id)
          select ${name}::text, coalesce(greatest(send_at + ${days}::integer * interval '1 day',
            (select completed_at + interval '1 day' from email_batches b where b.id = batch_id)), now()), id
          from expiring where is_kept
          on conflict do nothing
        ), ${erased}, noted as (
          insert into retention_progress (name, id)
          select ${name}::text, case when (select count(*) from expiring) < ${portionSize} then last
            else (select max(id) from expiring) end from span where last > after
          on conflict (name) do update set id = excluded.id
        )
        select count(*) as count from expiring`
    ),
    step(
      `the late texts of ${name}`,
      sql`with ended as (
          select m.id, account_id, ${channelIn(sql, table)}, due from retention_late l join ${
        sql(table)
      } m on m.id = l.id
          where l.name = ${name} and l.due < ${before(0)} and not ${isKept(table, days)} limit ${portionSize}
        ), forgotten as (
          delete from retention_late l using ended e where l.name = ${name} and l.due = e.due and l.id = e.id
        ), ${erased}
        select count(*) as count from ended`
    )
  ]
}

/** Deletes records, and what belongs to them. */
const deletesRecords = (sql: SqlClient.SqlClient, table: Table, scope: Scope): Step => {
  const { isKept, ofAccount, upTo } = fragments(sql)
  const portion = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ count: Schema.Int }),
    execute: () =>
      sql`with gone as (
          delete from ${sql(table)} where ctid = any(array(select ctid from ${sql(table)} m
            where id <= ${upTo(table, scope.messageDays)} and not ${isKept(table, scope.messageDays)}
              and ${ofAccount(scope)}
            order by id limit ${portionSize} for update skip locked))
          returning id, account_id, ${channelIn(sql, table)}
        ), searched as (
          delete from message_search s using gone g
          where s.account_id = g.account_id and s.channel = g.channel and s.message_id = g.id
        )
        select count(*) as count from gone`
  })
  return { table, portion: Effect.map(portion(), ({ count }) => count) }
}

/** Blocks of the search go after their last record, which may be one that is still open. */
const deletesBlocks = (sql: SqlClient.SqlClient, scope: Scope): Step => {
  const { ofAccount, upTo } = fragments(sql)
  return portions(sql).deletes(
    "message_search_blocks",
    sql`last_id <= case channel when 'email' then ${upTo("email_messages", scope.messageDays)}
        else ${upTo("messages", scope.messageDays)} end and ${ofAccount(scope)}
      and not exists (select from message_search s where s.account_id = message_search_blocks.account_id
        and s.channel = message_search_blocks.channel and s.message_id between first_id and last_id)`
  )
}

/** Batches go after their messages. Their texts are needed only until the last recipient. */
const batchSteps = (sql: SqlClient.SqlClient, scope: Scope): ReadonlyArray<Step> => {
  const { before, ofAccount } = fragments(sql)
  const { clears, deletes } = portions(sql)
  const isOld = (days: number) =>
    sql`completed_at is not null and coalesce(send_at, created_at) < ${before(days)} and ${ofAccount(scope)}`
  return [
    clears(
      "email_batches",
      sql`subject = ''`,
      sql`${isOld(scope.contentDays)} and subject <> '' and completed_at < ${before(1)}`
    ),
    deletes(
      "email_batches",
      sql`${isOld(scope.messageDays)} and not exists (select from email_messages m where m.batch_id = email_batches.id)`
    ),
    deletes(
      "message_batches",
      sql`${isOld(scope.messageDays)} and not exists (select from messages m where m.batch_id = message_batches.id)`
    ),
    deletes("failovers", isOld(scope.messageDays))
  ]
}

/** Notes from which day on all messages of an account are kept, before older ones are deleted. */
const noteFirstDays = Effect.fnUntraced(function*(scope: Scope) {
  const sql = yield* SqlClient.SqlClient
  const { before } = fragments(sql)
  yield* Query.run(sql`update accounts set messages_since = first.day
    from (select (max(at) at time zone 'UTC')::date + 1 as day from retention_marks
      where at < ${before(scope.messageDays)}) as first
    where messages_since < first.day and ${scope.account === undefined ? sql`true` : sql`id = ${scope.account}`}`)
})

/** The steps of a round of pruning. */
export const messageSteps = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { contentRetentionDays, messageRetentionDays } = yield* AppConfig
  const all: Scope = { messageDays: messageRetentionDays, contentDays: contentRetentionDays }
  const scopes = [all, ...(yield* shorter)]
  yield* Effect.forEach(scopes, noteFirstDays, { discard: true })
  return [
    portions(sql).clears(
      "email_batches",
      sql`html = '', text = null, body_day = null`,
      sql`completed_at < ${fragments(sql).before(1)} and (html <> '' or text is not null or body_day is not null)`
    ),
    ...scopes.flatMap((scope) => [
      ...tables.map((table) => deletesRecords(sql, table, scope)),
      deletesBlocks(sql, scope),
      ...tables.flatMap((table) => erasesTexts(sql, table, scope)),
      ...batchSteps(sql, scope)
    ]),
    // Of messages whose record is gone.
    portions(sql).deletes("retention_late", sql`due < ${fragments(sql).before(messageRetentionDays)}`),
    portions(sql).deletes("retention_marks", sql`at < ${fragments(sql).before(messageRetentionDays + 2)}`),
    // Until then, a repetition by WhatsApp is recognised.
    portions(sql).deletes(
      "whatsapp_inbox",
      sql`message_id is null and done_at < ${fragments(sql).before(messageRetentionDays)}`
    ),
    portions(sql).deletes("whatsapp_number_checks", sql`checked_at < ${RetentionClock.now(sql)} - interval '30 days'`)
  ]
})
