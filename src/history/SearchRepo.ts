import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SummaryChannel } from "../messages/MessageSummary.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import * as Template from "../templates/Template.ts"
import { AccountId } from "../values/Ids.ts"
import { htmlWords, type Searchable, tsvectorOf } from "./searchWords.ts"

/** The tables that the search covers, each with its own progress. */
export const searchedTables = ["email_messages", "messages"] as const
export type SearchedTable = (typeof searchedTables)[number]

/** A record that is to be found. */
export interface Document extends Searchable {
  readonly id: number
  readonly accountId: AccountId
  readonly channel: string
  /** Rows with lower ids may not be committed yet. */
  readonly isRecent: boolean
  /** A further recipient of an email, whose record has all of them. */
  readonly isCopy: boolean
}

/** Records of one account and channel that follow each other. A search looks up its words in one block after the other. */
interface Block {
  readonly accountId: AccountId
  readonly channel: string
  readonly firstId: number
  readonly records: number
}

/**
 * Few enough that reading all records of a block that have a frequent word is quick, and many enough that looking up a rare
 * word in all blocks of a million records is quick, too.
 */
export const blockSize = 8000

/** The records to read: those of all accounts in the order of their ids, or the newest of one account. */
interface Range {
  readonly after: number
  readonly limit: number
  readonly accountId: AccountId | null
  readonly channel?: SummaryChannel
}

const Row = Schema.Struct({
  id: Schema.Int,
  account_id: AccountId,
  channel: Schema.String,
  is_recent: Schema.Boolean,
  is_copy: Schema.Boolean,
  recipients: Schema.Array(Schema.String),
  subject: Schema.NullOr(Schema.String),
  batch_id: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  text: Schema.NullOr(Schema.Uint8Array),
  domain: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.Int)
})

const Batch = Schema.Struct({
  id: Schema.String,
  subject: Schema.String,
  text: Schema.NullOr(Schema.Uint8Array),
  html: Schema.NullOr(Schema.Uint8Array)
})

const BlockRow = Schema.Struct({
  account_id: AccountId,
  channel: Schema.String,
  first_id: Schema.Int,
  records: Schema.Int
})

/** The block of each record, which may be a new one, and the blocks as they are then. */
const placed = (open: ReadonlyArray<Block>, added: ReadonlyArray<Document>) => {
  const keyOf = ({ accountId, channel }: Pick<Block, "accountId" | "channel">) => `${accountId} ${channel}`
  const current = new Map(open.map((block) => [keyOf(block), block]))
  const blocks = new Map<number, Block & { readonly lastId: number }>()
  const firstIds = added.map((document) => {
    const { accountId, channel, id } = document
    const last = current.get(keyOf(document))
    const block = last === undefined || last.records >= blockSize
      ? { accountId, channel, firstId: id, records: 1 }
      : { ...last, records: last.records + 1 }
    current.set(keyOf(document), block)
    blocks.set(block.firstId, { ...block, lastId: id })
    return block.firstId
  })
  return { firstIds, blocks: [...blocks.values()] }
}

/** How long a transaction may take that creates records. */
export const slowestInsert = "10 seconds"

/** A cut text may end within a character, which the decoder replaces. */
const decode = (bytes: Uint8Array | null) => bytes === null ? "" : Buffer.from(bytes).toString("utf8")

/** The start of a template's source, without a placeholder that the cut would break. */
const startOf = (source: string) => source.replace(/\{\{(?![^]*\}\})[^]*$/, "")

/** Renders the subject and the start of the text for each recipient of a batch. A missing text is made from the HTML. */
const rendererOf = ({ html, subject, text }: typeof Batch.Type) => {
  const template = Template.compile({
    subject,
    text: startOf((text === null ? htmlWords(decode(html)) : decode(text)).slice(0, 600))
  })
  return (variables: Readonly<Record<string, unknown>>) =>
    Result.isFailure(template) ? { subject, text: "" } : Template.render(template.success, variables)
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const recent = sql.literal(`m.created_at > now() - interval '${slowestInsert}' as is_recent`)

  const within = ({ accountId, after, limit }: Range) =>
    accountId === null
      ? sql`m.id > ${after} order by m.id limit ${limit}`
      : sql`m.account_id = ${accountId} and m.id > ${after} order by m.id desc limit ${limit}`

  /** The key whose request made the message, its batch `b` or its failover `f`. */
  const keyId = sql.literal("(coalesce(m.accepted_by, b.accepted_by, f.accepted_by) ->> 'key_id')::bigint as key_id")

  const origins = (batches: string) =>
    sql`left join ${sql(batches)} b on b.id = m.batch_id and b.account_id = m.account_id
      left join failovers f on f.id = m.failover_id and f.account_id = m.account_id`

  /** A batch's recipients share its text; a single email has its own. */
  const emails = (range: Range) =>
    sql`select m.id, m.account_id, 'email' as channel, ${recent}, m.part_of is not null as is_copy, m.subject, m.batch_id, m.variables, p.text,
        ${keyId}, split_part(coalesce(m.from_address, b.from_address), '@', -1) as domain,
        case when m.copies is null then array[m.recipient] else array(select o.recipient from email_messages o
          where o.id = m.id or o.part_of = m.id order by o.position) end as recipients
      from (select * from email_messages m where ${range.accountId === null ? sql`true` : sql`m.part_of is null`} and ${
      within(range)
    }) m ${origins("email_batches")}
      left join lateral (
        select substr(coalesce(p.content, h.content), 1, 2000) as text from email_parts p
        left join email_bodies h on h.account_id = m.account_id and h.hash = p.body_hash and h.day = p.body_day
        where m.batch_id is null and p.email_id = m.id and p.kind = 'text' limit 1
      ) p on true
      order by m.id`

  const messages = (range: Range) =>
    sql`select m.id, m.account_id, m.channel, ${recent}, false as is_copy, null::text as subject, null::text as batch_id,
        '{}'::jsonb as variables, convert_to(left(m.content ->> 'body', 200), 'UTF8') as text,
        ${keyId}, null::text as domain,
        array_remove(array[m.recipient, case m.direction when 'in' then m.sender end], null) as recipients
      from (select * from messages m where ${
      range.channel === undefined ? sql`true` : sql`m.channel = ${range.channel}`
    } and ${within(range)}) m ${origins("message_batches")} order by m.id`

  const rows = { email_messages: emails, messages }

  const batches = Query.findAll({
    Request: Schema.Array(Schema.String),
    Result: Batch,
    execute: (ids) =>
      sql`select b.id, b.subject, substr(coalesce(t.content, convert_to(b.text, 'UTF8')), 1, 2000) as text,
          substr(coalesce(h.content, convert_to(b.html, 'UTF8')), 1, 8000) as html
        from email_batches b
        left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
        left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
        where b.id = any(${column.text(ids)})`
  })

  const documents = Effect.fnUntraced(function*(table: SearchedTable, range: Range) {
    const read = Query.findAll({ Request: Schema.Void, Result: Row, execute: () => rows[table](range) })
    const found = yield* read()
    const ids = new Set(found.flatMap(({ batch_id }) => batch_id === null ? [] : [batch_id]))
    const renderers = new Map(
      ids.size === 0 ? [] : (yield* batches([...ids])).map((batch) => [batch.id, rendererOf(batch)] as const)
    )
    return found.map((row): Document => {
      const { account_id: accountId, batch_id, channel, domain, id, key_id: keyId, recipients, variables } = row
      const rendered = batch_id === null ? undefined : renderers.get(batch_id)?.(variables)
      const { subject = row.subject ?? "" } = rendered ?? {}
      const known = { id, accountId, channel, isRecent: row.is_recent, isCopy: row.is_copy, recipients, domain, keyId }
      return { ...known, subject, text: rendered?.text ?? decode(row.text) }
    })
  })

  const progress = Query.findOneOption({
    Request: Schema.Literals(searchedTables),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (name) => sql`select id from message_search_progress where name = ${name}`
  })

  /** The last id of a table that is in the index, and whether an account has records behind it. */
  const indexed = Query.findOne({
    Request: Schema.Struct({ table: Schema.Literals(searchedTables), accountId: AccountId }),
    Result: Schema.Struct({ up_to: Schema.Int, has_more: Schema.Boolean }),
    execute: ({ accountId, table }) =>
      sql`select up_to, (select id from ${sql(table)} where account_id = ${accountId} and id > up_to
          order by id desc limit 1) is not null as has_more
        from (select coalesce((select id from message_search_progress where name = ${table}), 0) as up_to) as i`
  })

  /** The latest block of each account and channel. */
  const openBlocks = Query.findAll({
    Request: Schema.Array(Schema.Struct({ accountId: Schema.Int, channel: Schema.String })),
    Result: BlockRow,
    execute: (of) =>
      sql`select b.* from (select distinct * from unnest(${column.int8(of.map(({ accountId }) => accountId))},
          ${column.text(of.map(({ channel }) => channel))}) as o (account_id, channel)) o
        cross join lateral (select b.account_id, b.channel, b.first_id, b.records from message_search_blocks b
          where b.account_id = o.account_id and b.channel = o.channel order by b.first_id desc limit 1) b`
  })

  /** Adds the records from `after` to `last`, and notes how far the task has come, if no other node did meanwhile. */
  const store = Effect.fnUntraced(
    function*(
      table: SearchedTable,
      added: ReadonlyArray<Document>,
      range: { readonly after: number; readonly last: number }
    ) {
      const open = (yield* openBlocks(added)).map((row): Block => ({
        accountId: row.account_id,
        channel: row.channel,
        firstId: row.first_id,
        records: row.records
      }))
      const { blocks, firstIds } = placed(open, added)
      yield* Query.run(sql`with moved as (
          update message_search_progress set id = ${range.last} where name = ${table} and id = ${range.after} returning id
        ), kept as (
          insert into message_search_blocks (account_id, channel, first_id, last_id, records)
          select b.* from moved, unnest(${column.int8(blocks.map(({ accountId }) => accountId))},
            ${column.text(blocks.map(({ channel }) => channel))}, ${column.int8(blocks.map(({ firstId }) => firstId))},
            ${column.int8(blocks.map(({ lastId }) => lastId))}, ${
        column.int4(blocks.map(({ records }) => records))
      }) as b
          on conflict (account_id, channel, first_id) do update set last_id = excluded.last_id, records = excluded.records
        )
        insert into message_search (account_id, channel, message_id, block, words)
        select t.account_id, t.channel, t.message_id, t.block, t.words::tsvector from moved, unnest(
          ${column.int8(added.map(({ accountId }) => accountId))}, ${column.text(added.map(({ channel }) => channel))},
          ${column.int8(added.map(({ id }) => id))}, ${column.int8(firstIds)}, ${column.text(added.map(tsvectorOf))})
          as t (account_id, channel, message_id, block, words)`)
      // The index gets the words of all these records at once, each word once.
      yield* Query.run(sql`select gin_clean_pending_list('message_search_terms')`)
    }
  )

  return {
    documents,
    indexed,
    store,
    /** The last id of a table that is in the index. */
    progress: (table: SearchedTable) =>
      Effect.map(progress(table), Option.match({ onNone: () => 0, onSome: ({ id }) => id }))
  }
})

/** SQL of the search for messages. It reads the records of every channel. */
export class SearchRepo extends Context.Service<SearchRepo>()("messaging-service/history/SearchRepo", { make }) {
  static readonly layer = Layer.effect(SearchRepo, make)
}
