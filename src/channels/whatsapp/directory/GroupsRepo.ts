import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { windowFields } from "../../../values/Page.ts"
import { SessionStatus } from "../model/SessionState.ts"
import type { GroupFacts } from "../socket/DirectorySocket.ts"
import { Group, GroupId } from "./Group.ts"

const Filter = Schema.Struct({
  accountId: AccountId,
  sessionId: Schema.NullOr(WhatsAppSessionId),
  ...windowFields
})

const One = Schema.Struct({ accountId: AccountId, id: GroupId })

const Named = Schema.Struct({ id: GroupId, jid: Schema.String })

const Which = Schema.Struct({ sessionId: WhatsAppSessionId, jid: Schema.String })

/** The facts that sending to a group needs. */
const Cached = Schema.Struct({
  jid: Schema.String,
  name: Schema.String,
  addressing: Schema.Literals(["lid", "pn"]),
  ephemeral_seconds: Schema.NullOr(Schema.Int),
  members: Schema.Array(Schema.Struct({ jid: Schema.String, role: Schema.String }))
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** The groups with these WhatsApp ids. It adds those that are new; their facts are read from WhatsApp later. */
  const ensure = Effect.fnUntraced(function*(id: WhatsAppSessionId, jids: ReadonlyArray<string>) {
    if (jids.length === 0) return []
    yield* Query.run(
      sql`insert into whatsapp_groups (session_id, jid)
        select ${id}::bigint, jid from unnest(${column.text(jids)}) as g (jid) on conflict (session_id, jid) do nothing`
    )
    return yield* withJids({ id, jids })
  })

  const withJids = Query.findAll({
    Request: Schema.Struct({ id: WhatsAppSessionId, jids: Schema.Array(Schema.String) }),
    Result: Named,
    execute: ({ id, jids }) =>
      sql`select id, jid from whatsapp_groups where session_id = ${id} and jid = any(${column.text(jids)})`
  })

  /** When WhatsApp was asked (Unix milliseconds). Several nodes store answers, so this becomes the database's time. */
  const timeOf = (askedAt: number) =>
    Effect.map(
      Clock.currentTimeMillis,
      (now) => sql`clock_timestamp() - ${Math.max(now - askedAt, 0)}::float8 * interval '1 millisecond'`
    )

  /** Stores the facts of a group, unless a newer answer is stored. */
  const store = Effect.fnUntraced(function*(id: WhatsAppSessionId, group: GroupFacts, askedAt: number) {
    const { members } = group
    const time = yield* timeOf(askedAt)
    yield* sql`with g as (
        insert into whatsapp_groups (session_id, jid, name, description, addressing, ephemeral_seconds, known_at)
        values (${id}, ${group.jid}, ${group.name}, ${group.description}, ${group.addressing},
          ${group.ephemeralSeconds}, ${time})
        on conflict (session_id, jid) do update set name = excluded.name, description = excluded.description,
          addressing = excluded.addressing, ephemeral_seconds = excluded.ephemeral_seconds, known_at = excluded.known_at,
          is_member = true
        where whatsapp_groups.known_at is null or whatsapp_groups.known_at <= excluded.known_at
        returning id
      ), gone as (
        delete from whatsapp_group_participants p using g
        where p.group_id = g.id and p.jid <> all(${column.text(members.map(({ jid }) => jid))})
      )
      insert into whatsapp_group_participants as p (group_id, jid, phone, role)
      select g.id, m.* from g, unnest(${column.text(members.map(({ jid }) => jid))}, ${
      column.text(members.map(({ phone }) => phone))
    }, ${column.text(members.map(({ role }) => role))}) as m (jid, phone, role)
      on conflict (group_id, jid) do update set phone = coalesce(excluded.phone, p.phone), role = excluded.role`
  }, Query.run)

  const jids = Query.findAll({
    Request: WhatsAppSessionId,
    Result: Named,
    execute: (id) => sql`select id, jid from whatsapp_groups where session_id = ${id} and is_member`
  })

  /** Marks groups that the session has left, unless a newer answer is stored. An older one does not bring them back. */
  const leave = Effect.fnUntraced(function*(ids: ReadonlyArray<number>, askedAt: number) {
    yield* sql`with answer as (select ${yield* timeOf(askedAt)} as time)
      update whatsapp_groups set is_member = false, known_at = answer.time, invite_code = null from answer
      where id = any(${column.int8(ids)}) and (known_at is null or known_at <= answer.time)`
  }, Query.run)

  /** Marks the facts of a group as stale: they must be read again before use. */
  const invalidate = Query.void({
    Request: Schema.Struct({ ...Which.fields, isInviteReset: Schema.Boolean }),
    execute: ({ isInviteReset, jid, sessionId }) =>
      sql`update whatsapp_groups set known_at = null, invite_code = case when not ${isInviteReset} then invite_code end
        where session_id = ${sessionId} and jid = ${jid}`
  })

  const storeInviteCode = Query.void({
    Request: Schema.Struct({ id: GroupId, code: Schema.NullOr(Schema.String) }),
    execute: ({ code, id }) => sql`update whatsapp_groups set invite_code = ${code} where id = ${id}`
  })

  const cached = Query.findOneOption({
    Request: Which,
    Result: Cached,
    execute: ({ jid, sessionId }) =>
      sql`select g.jid, g.name, g.addressing, g.ephemeral_seconds,
          (select jsonb_agg(jsonb_build_object('jid', p.jid, 'role', p.role))
            from whatsapp_group_participants p where p.group_id = g.id) as members
        from whatsapp_groups g where g.session_id = ${sessionId} and g.jid = ${jid} and g.is_member
          and g.known_at > now() - interval '1 day'
          and exists (select from whatsapp_group_participants p where p.group_id = g.id)`
  })

  const columns = sql.literal(`g.id, g.session_id, g.name, g.description, g.created_at,
    'https://chat.whatsapp.com/' || g.invite_code as invite_link,
    (select count(*) from whatsapp_group_participants p where p.group_id = g.id) as participant_count,
    coalesce((select jsonb_agg(jsonb_build_object('phone', '+' || coalesce(p.phone, c.phone), 'role', p.role) order by p.jid)
      from whatsapp_group_participants p
        left join whatsapp_contacts c on c.session_id = g.session_id and c.lid = p.jid
      where p.group_id = g.id), '[]') as participants`)

  const shown = (accountId: number) =>
    sql`g.is_member and g.session_id in (select id from whatsapp_sessions
      where account_id = ${accountId} and is_confirmed and desired <> 'removed')`

  const matching = ({ accountId, sessionId }: typeof Filter.Encoded) =>
    sql.and([shown(accountId), ...(sessionId === null ? [] : [sql`g.session_id = ${sessionId}`])])

  const list = Query.findAll({
    Request: Filter,
    Result: Group,
    execute: (filter) =>
      sql`select ${columns} from whatsapp_groups g where ${matching(filter)} and ${Query.afterId(sql, "g.id", filter)}
        order by g.id desc limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from whatsapp_groups g where ${matching(filter)}`
  })

  const find = Query.findOneOption({
    Request: One,
    Result: Group,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from whatsapp_groups g where g.id = ${id} and ${shown(accountId)}`
  })

  /** The WhatsApp id of a group, and the state of its session. */
  const locate = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({
      jid: Schema.String,
      session_id: WhatsAppSessionId,
      status: SessionStatus,
      phone_number: Schema.NullOr(Schema.String)
    }),
    execute: ({ accountId, id }) =>
      sql`select g.jid, g.session_id, s.status, s.phone_number
        from whatsapp_groups g join whatsapp_sessions s on s.id = g.session_id where g.id = ${id} and ${
        shown(accountId)
      }`
  })

  const jidOf = Query.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, id: Schema.Int }),
    Result: Schema.Struct({ jid: Schema.String }),
    execute: ({ id, sessionId }) =>
      sql`select jid from whatsapp_groups where id = ${id} and session_id = ${sessionId} and is_member`
  })

  return { ensure, store, jids, leave, invalidate, storeInviteCode, cached, list, count, find, locate, jidOf }
})

/** Stores groups and their participants. */
export class GroupsRepo
  extends Context.Service<GroupsRepo>()("messaging-service/channels/whatsapp/directory/GroupsRepo", { make })
{
  static readonly layer = Layer.effect(GroupsRepo, make)
}
