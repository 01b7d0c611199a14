import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { windowFields } from "../../../values/Page.ts"
import { SessionStatus } from "../model/SessionState.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import { Contact } from "./Contact.ts"
import { mergePeople } from "./mergePeople.ts"

const Filter = Schema.Struct({
  accountId: AccountId,
  sessionId: Schema.NullOr(WhatsAppSessionId),
  q: Schema.NullOr(Schema.String),
  ...windowFields
})

const escaped = (text: string) => text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const peopleTable = (people: ReadonlyArray<Person>) =>
    sql`unnest(${column.text(people.map(({ lid }) => lid ?? null))}, ${
      column.text(people.map(({ phone }) => phone ?? null))
    }, ${column.text(people.map(({ name }) => name ?? null))}, ${column.bool(people.map(({ isNamed }) => isNamed))})
      as g (lid, phone, name, is_named)`

  const isNewer = sql.literal(`excluded.name is not null and (excluded.is_named or not c.is_named)`)

  const change = sql`phone = coalesce(excluded.phone, c.phone),
    name = case when ${isNewer} then excluded.name else c.name end, is_named = c.is_named or excluded.is_named,
    updated_at = now()
    where (excluded.phone is not null and c.phone is distinct from excluded.phone)
      or (${isNewer} and (c.name is distinct from excluded.name or (excluded.is_named and not c.is_named)))`

  /** Joins the rows of one person. A phone number has one hidden number at a time. */
  const join = Effect.fnUntraced(function*(id: WhatsAppSessionId, people: ReadonlyArray<Person>) {
    const both = people.filter(({ lid, phone }) => lid !== undefined && phone !== undefined)
    if (both.length === 0) return
    yield* sql`delete from whatsapp_contacts c using ${peopleTable(both)}
      where c.session_id = ${id} and c.phone = g.phone and c.lid is null
        and exists (select from whatsapp_contacts o where o.session_id = ${id} and o.lid = g.lid)`
    yield* sql`update whatsapp_contacts c set phone = null from ${peopleTable(both)}
      where c.session_id = ${id} and c.phone = g.phone and c.lid <> g.lid`
    yield* sql`update whatsapp_contacts c set lid = g.lid from ${peopleTable(both)}
      where c.session_id = ${id} and c.phone = g.phone and c.lid is null`
  })

  /** Stores people, by hidden number if it is known, or else by phone number. */
  const learn = Effect.fnUntraced(function*(id: WhatsAppSessionId, learned: ReadonlyArray<Person>) {
    const people = mergePeople(learned)
    if (people.length === 0) return
    yield* join(id, people)
    yield* sql`insert into whatsapp_contacts as c (session_id, lid, phone, name, is_named)
      select ${id}::bigint, * from ${peopleTable(people)} where lid is not null
      on conflict (session_id, lid) where lid is not null do update set ${change}`
    yield* sql`insert into whatsapp_contacts as c (session_id, lid, phone, name, is_named)
      select ${id}::bigint, * from ${peopleTable(people)} where lid is null
      on conflict (session_id, phone) where phone is not null do update set ${change}`
  }, Query.run)

  const phones = Query.findAll({
    Request: Schema.Struct({ id: WhatsAppSessionId, lids: Schema.Array(Schema.String) }),
    Result: Schema.Struct({ lid: Schema.String, phone: Schema.String }),
    execute: ({ id, lids }) =>
      sql`select lid, phone from whatsapp_contacts
        where session_id = ${id} and lid = any(${column.text(lids)}) and phone is not null`
  })

  const shown = ({ accountId, sessionId }: typeof Filter.Encoded) =>
    sql`s.account_id = ${accountId} and s.is_confirmed and s.desired <> 'removed'
      and ${sessionId === null ? sql`true` : sql`s.id = ${sessionId}`}`

  const matching = ({ q }: typeof Filter.Encoded) =>
    q === null
      ? sql`c.session_id = s.id`
      : sql`c.session_id = s.id and (c.name ilike ${`%${escaped(q)}%`}
        or c.phone like ${`%${escaped(q.replace(/^\s*\+/, "").trim())}%`})`

  /** Reads the newest contacts of each session by the index, and merges them. */
  const list = Query.findAll({
    Request: Filter,
    Result: Contact,
    execute: (filter) =>
      sql`select c.id, c.session_id, '+' || c.phone as phone, c.name, true as is_whatsapp_user, c.created_at, c.updated_at
        from whatsapp_sessions s cross join lateral (
          select c.* from whatsapp_contacts c where ${matching(filter)} and ${Query.afterId(sql, "c.id", filter)}
          order by c.id desc limit ${filter.offset + filter.limit}
        ) c
        where ${shown(filter)}
        order by c.id desc limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) =>
      Query.totalOf(
        sql,
        sql`from whatsapp_sessions s, whatsapp_contacts c where ${shown(filter)} and ${matching(filter)}`
      )
  })

  /** A check that is not stale: less than a day old, or an hour if the number had no WhatsApp. */
  const check = Query.findOneOption({
    Request: Schema.Struct({ id: WhatsAppSessionId, phone: Schema.String }),
    Result: Schema.Struct({ whatsapp_id: Schema.NullOr(Schema.String) }),
    execute: ({ id, phone }) =>
      sql`select whatsapp_id from whatsapp_number_checks where session_id = ${id} and phone = ${phone}
        and checked_at > now() - case when whatsapp_id is null then interval '1 hour' else interval '1 day' end`
  })

  const storeCheck = Query.void({
    Request: Schema.Struct({ id: WhatsAppSessionId, phone: Schema.String, whatsapp_id: Schema.NullOr(Schema.String) }),
    execute: ({ id, phone, whatsapp_id }) =>
      sql`insert into whatsapp_number_checks (session_id, phone, whatsapp_id)
        select id, ${phone}, ${whatsapp_id} from whatsapp_sessions where id = ${id}
        on conflict (session_id, phone) do update set whatsapp_id = excluded.whatsapp_id, checked_at = now()`
  })

  /** The given session. Without one, the oldest connected session, or else the oldest of all. */
  const findSession = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, sessionId: Schema.NullOr(WhatsAppSessionId) }),
    Result: Schema.Struct({ id: WhatsAppSessionId, status: SessionStatus }),
    execute: ({ accountId, sessionId }) =>
      sql`select id, status from whatsapp_sessions
        where account_id = ${accountId} and is_confirmed and desired <> 'removed'
          and ${sessionId === null ? sql`true` : sql`id = ${sessionId}`}
        order by status = 'connected' desc, id limit 1`
  })

  return { learn, phones, list, count, check, storeCheck, findSession }
})

/** Stores contacts and number checks. The people of a session have one writer at a time. */
export class ContactsRepo
  extends Context.Service<ContactsRepo>()("messaging-service/channels/whatsapp/directory/ContactsRepo", { make })
{
  static readonly layer = Layer.effect(ContactsRepo, make)
}
