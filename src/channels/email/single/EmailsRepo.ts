import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { acceptedBy, firstStatus, type Sending } from "../../../messages/sendFields.ts"
import type { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { taggedRows } from "../../../platform/database/taggedRows.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId, type TemplateId } from "../../../values/Ids.ts"
import { direction, Sort, windowFields } from "../../../values/Page.ts"
import { modeColumn, storedLane } from "../../../values/TestMode.ts"
import { subjectValues } from "../recipients/MessageProgress.ts"
import { rareStatuses, RecipientStatus, weights } from "../recipients/MessageState.ts"
import { interrupted, unconfirmed } from "../recipients/RecipientState.ts"
import type { Mailbox } from "../request/Mailbox.ts"
import { storeBodies, type StoredBody } from "../request/storeBodies.ts"
import { Email, EmailRecipient } from "./Email.ts"
import { lanes } from "./EmailSenderRepo.ts"

/** A recipient and the field that named them. */
export interface Addressed {
  readonly address: EmailAddress
  readonly kind: "to" | "cc" | "bcc"
}

/** A text or an attachment of an email. */
export interface Part {
  readonly kind: "html" | "text" | "attachment"
  readonly filename?: string
  readonly content_type?: string | undefined
  readonly content: Uint8Array
}

/** An email to insert. */
export interface StoredEmail {
  readonly accountId: AccountId
  /** The first recipient's row becomes the record. */
  readonly recipients: ReadonlyArray<Addressed>
  readonly from: Mailbox
  readonly replyTo: Mailbox | undefined
  readonly subject: string
  readonly templateId: TemplateId | null
  /** Part of the Message-ID, chosen before the first attempt. */
  readonly messageId: string
  readonly trackOpens: boolean
  /** The targets of the tracked links, or null if clicks are not tracked. */
  readonly links: ReadonlyArray<string> | null
  readonly parts: ReadonlyArray<Part>
  /** Further header fields. */
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly sending: Sending
  /** The seed of the one-time code, if the texts have a mask for one. */
  readonly codeSeed: CodeSeed | undefined
}

type Fragment = Statement.Fragment

const Filter = Schema.Struct({
  accountId: AccountId,
  status: Schema.NullOr(RecipientStatus),
  to: Schema.NullOr(Schema.String),
  from_date: Schema.NullOr(Schema.String),
  to_date: Schema.NullOr(Schema.String),
  batch_id: Schema.NullOr(EmailBatchId),
  tags: Schema.NullOr(Schema.Array(Schema.String)),
  sort: Sort,
  ...windowFields
})

const One = Schema.Struct({ accountId: AccountId, id: EmailMessageId })
type One = typeof One.Encoded

/** The subject of a batch's recipient is the batch's template and the recipient's values. */
const StoredRecord = Schema.Struct({
  ...Email.fields,
  subject: Schema.NullOr(Schema.String),
  /** Of a single email, the part of its Message-ID that is its own. */
  message_id: Schema.NullOr(Schema.String),
  batch_subject: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  /** The number of recipients; null for one. */
  copies: Schema.NullOr(Schema.Int)
})
export type StoredRecord = typeof StoredRecord.Type

/** A text, or an attachment without its bytes. */
const StoredPart = Schema.Struct({
  kind: Schema.Literals(["html", "text", "attachment"]),
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  size: Schema.Int
})

/** What an email says. That of a batch's recipient is the batch's template and the recipient's values. */
const StoredContent = Schema.Struct({
  from_address: Schema.toType(EmailAddress),
  from_name: Schema.NullOr(Schema.String),
  reply_to_address: Schema.NullOr(Schema.toType(EmailAddress)),
  reply_to_name: Schema.NullOr(Schema.String),
  subject: Schema.String,
  is_template: Schema.Boolean,
  html: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  variables: Schema.Record(Schema.String, Schema.Unknown),
  parts: Schema.Array(StoredPart)
})
export type StoredContent = typeof StoredContent.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Inserts the record, the other recipients and the content. Suppressed addresses are inserted as suppressed. */
  const insert = Effect.fnUntraced(function*(email: StoredEmail) {
    // Shared bodies are kept for a day or two, which is not enough for a scheduled mail.
    const bodies = email.sending.sendAt !== null
      ? email.parts.map(() => undefined)
      : yield* storeBodies(sql, email.accountId, email.parts.map(({ content }) => content))
    return yield* Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ id: EmailMessageId, queued: Schema.Int }),
      execute: () => insertion(email, bodies)
    })()
  })

  const insertion = (
    { accountId, from, parts, recipients, replyTo, sending, ...email }: StoredEmail,
    bodies: ReadonlyArray<StoredBody | undefined>
  ) => {
    const lane = storedLane(accountId, email.codeSeed === undefined ? lanes.other : lanes.code)
    const headers = email.headers === undefined ? null : JSON.stringify(email.headers)
    const status = firstStatus(sending)
    const given = sql`${sending.sendAt}::timestamptz, ${column.text(sending.tags)}::text[], ${
      JSON.stringify(sending.metadata)
    }::jsonb`
    return sql`with asked as (
        select t.position - 1 as position, t.recipient, t.kind,
          case when s.email is null then ${status} else 'suppressed' end as status,
          case when s.email is null and ${
      sending.sendAt === null
    } then now() end as due_at, case when s.email is not null then now() end as completed_at
        from unnest(${column.text(recipients.map(({ address }) => address))},
          ${column.text(recipients.map(({ kind }) => kind))}) with ordinality as t (recipient, kind, position)
        left join suppressions s on s.account_id = ${accountId} and s.email = lower(t.recipient)
      ), record as (
        insert into email_messages (account_id, position, recipient, kind, status, due_at, completed_at, copies,
          lane, from_address, subject, template_id, message_id, links, send_at, tags, metadata, accepted_by)
        select ${accountId}::bigint, position, recipient, kind, status, due_at, completed_at,
          ${recipients.length > 1 ? recipients.length : null}::smallint, ${lane}::smallint, ${from.address}::text,
          ${email.subject}::text,
          ${email.templateId}::text, ${email.messageId}::text, ${
      email.links === null ? null : column.text(email.links)
    }::text[], ${given},
          ${acceptedBy(sending)}::jsonb
        from asked where position = 0
        returning id, status
      ), others as (
        insert into email_messages (account_id, position, recipient, kind, status, due_at, completed_at, lane,
          part_of, send_at, tags, metadata)
        select ${accountId}::bigint, a.position, a.recipient, a.kind, a.status, a.due_at, a.completed_at,
          ${lane}::smallint, r.id, ${given}
        from asked a, record r where a.position > 0 order by a.position
        returning status
      ), content as (
        insert into email_contents (id, account_id, message_id, from_name, reply_to_name, reply_to_address, track_opens,
          code_seed, headers, created_at)
        select id, ${accountId}::bigint, ${email.messageId}::text, ${from.name ?? null}::text,
          ${replyTo?.name ?? null}::text, ${replyTo?.address ?? null}::text, ${email.trackOpens}::boolean,
          ${email.codeSeed ?? null}::text, ${headers}::jsonb,
          coalesce(${sending.sendAt}::timestamptz, now())
        from record
      ), part as (
        insert into email_parts (email_id, position, kind, filename, content_type, content, body_day, body_hash)
        select r.id, t.position, t.kind, t.filename, t.content_type, t.content, t.body_day, t.body_hash
        from record r, unnest(${column.text(parts.map(({ kind }) => kind))},
          ${column.text(parts.map(({ filename }) => filename ?? null))},
          ${column.text(parts.map(({ content_type }) => content_type ?? null))},
          ${column.bytea(parts.map(({ content }, index) => bodies[index] === undefined ? content : null))},
          ${column.text(bodies.map((body) => body?.day ?? null))}::date[],
          ${column.bytea(bodies.map((body) => body?.hash ?? null))})
          with ordinality as t (kind, filename, content_type, content, body_day, body_hash, position)
      )
      select id, (status <> 'suppressed')::integer + (select count(*)::integer from others where status <> 'suppressed')
        as queued
      from record`
  }

  /** A failed email may have arrived if the relay once did not confirm it. Not every stored error says so. */
  const told = (row: "" | "m." | "p.") =>
    `case when ${row}status = 'failed' and ${row}doubts > 0 and ${row}error <> '${interrupted}'
        and not starts_with(${row}error, '${unconfirmed}')
      then '${unconfirmed}' || ${row}error else ${row}error end`

  /** Sums up the recipients of a record that has several. */
  const summed = sql.literal(`select (${weights})[max(array_position(${weights}, p.status))] as status,
      case when count(*) filter (where p.kind = 'to') = 1 then to_jsonb(min(p.recipient) filter (where p.kind = 'to'))
        else jsonb_agg(p.recipient order by p.position) filter (where p.kind = 'to') end as "to",
      (array_agg(p.bounce_type order by p.position) filter (where p.bounce_type is not null))[1] as bounce_type,
      (array_agg(${told("p.")} order by p.position) filter (where p.error is not null))[1] as error,
      sum(p.opens)::integer as opens, sum(p.clicks)::integer as clicks, min(p.sent_at) as sent_at,
      min(p.delivered_at) as delivered_at, min(p.opened_at) as opened_at, min(p.clicked_at) as clicked_at
    from email_messages p where p.id = m.id or p.part_of = m.id`)

  const shown = (status: string) => sql.literal(`case when ${status} = 'sending' then 'queued' else ${status} end`)

  const records = (matching: Fragment, sort: Sort = "-created_at") =>
    sql`select m.id, m.batch_id, m.created_at, m.tags, m.metadata, m.send_at, m.failover_id,
        ${sql.literal(modeColumn("m."))},
        coalesce(b.template_id, m.template_id) as template_id,
        coalesce(b.from_address, m.from_address) as "from", m.message_id, m.subject, b.subject as batch_subject,
        ${sql.literal(subjectValues)}, m.copies,
        coalesce(s."to", to_jsonb(m.recipient)) as "to", ${shown("coalesce(s.status, m.status)")} as status,
        coalesce(s.opens, m.opens) as opens, coalesce(s.clicks, m.clicks) as clicks,
        coalesce(s.bounce_type, m.bounce_type) as bounce_type, coalesce(s.error, ${sql.literal(told("m."))}) as error,
        coalesce(s.sent_at, m.sent_at) as sent_at, coalesce(s.delivered_at, m.delivered_at) as delivered_at,
        coalesce(s.opened_at, m.opened_at) as opened_at, coalesce(s.clicked_at, m.clicked_at) as clicked_at
      from (select * from email_messages m where ${matching}) m
      left join email_batches b on b.id = m.batch_id
      left join lateral (${summed}) s on m.copies is not null
      order by m.id ${sql.literal(direction(sort))}`

  const matching = ({ accountId, batch_id, from_date, status, tags, to, to_date }: typeof Filter.Encoded) => {
    const statuses = status === "queued" ? sql`('queued', 'sending')` : sql`(${status})`
    // Every status of a record is that of one of its recipients. Only rare ones have an index.
    const named = (recipient: Fragment) =>
      sql`m.id in (select coalesce(o.part_of, o.id) from email_messages o
        where o.account_id = ${accountId} and ${recipient})`
    return sql.and([
      sql`m.account_id = ${accountId} and m.part_of is null`,
      ...(batch_id === null ? [] : [sql`m.batch_id = ${batch_id}`]),
      ...(tags === null ? [] : [taggedRows(sql, { accountId, tags }, "m.")]),
      ...(from_date === null ? [] : [sql`m.created_at >= ${from_date}::timestamptz`]),
      ...(to_date === null ? [] : [sql`m.created_at < ${to_date}::timestamptz`]),
      ...(to === null ? [] : [named(sql`lower(o.recipient) = lower(${to}::text)`)]),
      ...(status === null || !rareStatuses.has(status) ? [] : [named(sql`o.status = ${sql.literal(`'${status}'`)}`)]),
      ...(status === null ? [] : [
        sql`case when m.copies is null then m.status in ${statuses} else (select s.status from (${summed}) s) in ${statuses} end`
      ])
    ])
  }

  /** Limits the page before joining and summing. Ids follow the order of creation and are indexed. */
  const list = Query.findAll({
    Request: Filter,
    Result: StoredRecord,
    execute: (filter) => {
      const { limit, offset, sort } = filter
      const by = sql.literal(direction(sort))
      const listed = sql`${matching(filter)} and ${Query.afterId(sql, "m.id", filter)}`
      return records(sql`${listed} order by m.id ${by} limit ${limit} offset ${offset}`, sort)
    }
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from email_messages m where ${matching(filter)}`)
  })

  const recordOf = ({ accountId, id }: One) =>
    records(sql`m.id = ${id} and m.account_id = ${accountId} and m.part_of is null`)

  const find = Query.findOneOption({ Request: One, Result: StoredRecord, execute: recordOf })

  const recipients = Query.findAll({
    Request: EmailMessageId,
    Result: EmailRecipient,
    execute: (id) =>
      sql`select recipient as "to", coalesce(kind, 'to') as kind, opens, clicks, ${
        shown("status")
      } as status, bounce_type,
          ${sql.literal(told(""))} as error, sent_at, delivered_at, opened_at, clicked_at
        from email_messages where id = ${id} or part_of = ${id} order by part_of nulls first, position`
  })

  const contentOf = ({ accountId, id }: One) =>
    sql`select coalesce(b.from_address, m.from_address) as from_address, coalesce(b.from_name, c.from_name) as from_name,
        c.reply_to_address, c.reply_to_name, coalesce(b.subject, m.subject) as subject,
        b.id is not null as is_template, coalesce(convert_from(h.content, 'UTF8'), nullif(b.html, '')) as html,
        coalesce(convert_from(t.content, 'UTF8'), b.text) as text, m.variables,
        coalesce((
          select json_agg(json_build_object('kind', p.kind, 'filename', p.filename, 'content_type', p.content_type,
            'size', octet_length(w.content),
            'text', case when p.kind <> 'attachment' then convert_from(w.content, 'UTF8') end) order by p.position)
          from email_parts p
          left join email_bodies e on e.account_id = m.account_id and e.hash = p.body_hash and e.day = p.body_day
          cross join lateral (select coalesce(p.content, e.content) as content) w
          where p.email_id = c.id and w.content is not null
        ), '[]') as parts
      from email_messages m
      left join email_contents c on c.id = m.id
      left join email_batches b on b.id = m.batch_id
      left join email_bodies h on h.account_id = b.account_id and h.hash = b.html_hash and h.day = b.body_day
      left join email_bodies t on t.account_id = b.account_id and t.hash = b.text_hash and t.day = b.body_day
      where m.id = ${id} and m.account_id = ${accountId} and m.part_of is null`

  const content = Query.findOneOption({ Request: One, Result: StoredContent, execute: contentOf })

  const whole = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ ...StoredRecord.fields, content: StoredContent }),
    execute: (one) =>
      sql`select r.*, (select row_to_json(c) from (${contentOf(one)}) c) as content from (${recordOf(one)}) r`
  })

  return { insert, list, count, find, recipients, content, whole }
})

/** SQL that accepts single emails, and reads the records of all emails. */
export class EmailsRepo
  extends Context.Service<EmailsRepo>()("messaging-service/channels/email/single/EmailsRepo", { make })
{
  static readonly layer = Layer.effect(EmailsRepo, make)
}
