import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { domainEvent, Events } from "../../../events/Events.ts"
import type { MessageContent } from "../../../messages/Message.ts"
import { acceptedBy, firstStatus, type Sending } from "../../../messages/sendFields.ts"
import type { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { Usage } from "../../../usage/Usage.ts"
import { AccountId, MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { arrayOf } from "../../../values/Labels.ts"
import { isTest } from "../../../values/TestMode.ts"
import { isMediaType, type MessageType } from "../content/MessageContent.ts"
import { SessionStatus } from "../model/SessionState.ts"
import { SessionEntity } from "../sessions/SessionEntity.ts"
import { OutboxSenders } from "./OutboxSenders.ts"

/** An accepted message. */
export interface NewRow {
  readonly accountId: AccountId
  readonly sessionId: WhatsAppSessionId
  /** The session's pairing at acceptance. The next phone of the session must not send the message. */
  readonly pairing: number
  /** The session's own number. */
  readonly sender: string | null
  readonly to: string
  readonly type: MessageType
  readonly content: MessageContent
  /** Its id at WhatsApp. */
  readonly whatsappId: string
  readonly fileId: number | null
  readonly batchId: MessageBatchId | null
  readonly delayMs: number
  /** The seed of the one-time code that the content masks. */
  readonly codeSeed: CodeSeed | null
  readonly sending: Sending
}

const SessionOf = Schema.Struct({ accountId: AccountId, id: WhatsAppSessionId })

interface BatchOf {
  readonly id: MessageBatchId
  readonly accountId: AccountId
}

/** A session, together with the account that must own it. */
export type SessionOf = typeof SessionOf.Type

const makeRepo = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const { isWanted } = yield* Events

  /** The sessions that exist, each with its position in the request. */
  const sessions = Query.findAll({
    Request: Schema.Array(SessionOf),
    Result: Schema.Struct({
      position: Schema.Int,
      status: SessionStatus,
      pairing: Schema.Int,
      phone_number: Schema.NullOr(Schema.String)
    }),
    execute: (asked) =>
      sql`select t.position - 1 as position, s.status, s.pairing, s.phone_number
        from unnest(${column.int8(asked.map(({ accountId }) => accountId))}, ${column.int8(asked.map(({ id }) => id))})
          with ordinality as t (account_id, id, position)
        join whatsapp_sessions s using (account_id, id) where s.is_confirmed and s.desired <> 'removed'`
  })

  /** The oldest connected session of an account. */
  const firstConnected = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: (accountId) =>
      sql`select id from whatsapp_sessions
        where account_id = ${accountId} and status = 'connected' and is_confirmed and desired <> 'removed'
        order by id limit 1`
  })

  /** The shortest pause before each message of a batch. */
  const delayOf = Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, id: MessageBatchId }),
    Result: Schema.Struct({ delayMs: Schema.Int }),
    execute: ({ accountId, id }) =>
      sql`select coalesce(max(o.delay_ms), 0) as "delayMs" from messages m join whatsapp_outbox o on o.message_id = m.id
        where m.batch_id = ${id} and m.account_id = ${accountId}`
  })

  const insertFile = Query.findOne({
    Request: Schema.Struct({ account_id: AccountId, content: Schema.Uint8Array }),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (row) => sql`insert into whatsapp_files ${sql.insert(row)} returning id`
  })

  const insertBatch = (
    { accountId, id }: BatchOf,
    total: number,
    sending: Sending
  ) =>
    Query.run(sql`insert into message_batches (id, account_id, channel, total, status, send_at, tags, metadata,
        accepted_by)
      values (${id}, ${accountId}, 'whatsapp', ${total}, ${firstStatus(sending)}, ${sending.sendAt},
        ${column.text(sending.tags)}, ${JSON.stringify(sending.metadata)}::jsonb,
        ${acceptedBy(sending)}::jsonb)`)

  /** Inserts messages with their outbox rows in one statement. The ids are in the order of the rows. */
  const insert = (rows: ReadonlyArray<NewRow>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: MessageId, is_wanted: Schema.Boolean }),
      execute: () =>
        sql`with asked as (
            select t.*, nextval('messages_id_seq') as id from unnest(
              ${column.int8(rows.map((row) => row.accountId))}, ${column.int8(rows.map((row) => row.sessionId))},
              ${column.text(rows.map((row) => row.sender))}, ${column.text(rows.map((row) => row.to))},
              ${column.text(rows.map((row) => row.type))}, ${
          column.text(rows.map((row) => JSON.stringify(row.content)))
        },
              ${column.text(rows.map((row) => row.batchId))}, ${column.text(rows.map((row) => row.whatsappId))},
              ${column.int4(rows.map((row) => row.delayMs))}, ${column.int8(rows.map((row) => row.fileId))},
              ${column.text(rows.map((row) => row.codeSeed))}, ${column.int4(rows.map((row) => row.pairing))},
              ${column.text(rows.map(({ sending }) => arrayOf(sending.tags)))},
              ${column.text(rows.map(({ sending }) => JSON.stringify(sending.metadata)))},
              ${column.text(rows.map(({ sending }) => sending.sendAt))}::timestamptz[],
              ${column.text(rows.map(({ batchId, sending }) => batchId === null ? acceptedBy(sending) : null))},
              ${column.bool(rows.map(({ type }) => isMediaType(type)))})
              with ordinality as t (account_id, session_id, sender, recipient, type, content, batch_id, whatsapp_id,
                delay_ms, file_id, code_seed, pairing, tags, metadata, send_at, accepted_by, needs_file, position)
          ), added as (
            insert into messages (id, account_id, channel, session_id, direction, sender, recipient, type, content, batch_id,
              tags, metadata, send_at, accepted_by, status)
            overriding system value
            select id, account_id, 'whatsapp', session_id, 'out', sender, recipient, type, content::jsonb, batch_id,
              tags::text[], metadata::jsonb, send_at, accepted_by::jsonb, case when send_at is null then 'queued' else 'scheduled' end
            from asked order by position
          ), queued as (
            insert into whatsapp_outbox
              (message_id, session_id, whatsapp_id, lane, delay_ms, file_id, code_seed, pairing, needs_file,
                status, due_at)
            select id, session_id, whatsapp_id, case when batch_id is null then 0 else 1 end, delay_ms, file_id, code_seed,
              pairing, needs_file, case when send_at is null then 'queued' else 'scheduled' end, coalesce(send_at, now())
            from asked order by position
          )
          select id, send_at is null and account_id in (
            select own.account_id from (select distinct account_id from asked) own
            where ${isWanted(sql`own.account_id`, { event: "message.queued", channel: "whatsapp" })}) as is_wanted
          from asked order by position`
    })()

  return { sessions, firstConnected, delayOf, insertFile, insertBatch, insert }
})

/** Stores accepted messages in `messages` and `whatsapp_outbox`. */
export class AcceptedRepo
  extends Context.Service<AcceptedRepo>()("messaging-service/channels/whatsapp/outbox/MessageAcceptance/AcceptedRepo", {
    make: makeRepo
  })
{
  static readonly layer = Layer.effect(AcceptedRepo, makeRepo)
}

const queuedEvent = (message_id: MessageId, { accountId, sending, sessionId: session_id, to, type }: NewRow) => {
  const { failover_id, metadata, tags } = sending
  const labels = { tags, metadata, failover_id }
  const data = { channel: "whatsapp", message_id, session_id, ...labels, to, type, status: "queued" } as const
  return domainEvent({ accountId, event: "message.queued", channel: "whatsapp", data })
}

/** At most so many requests share one statement. */
const grouping = { maxSize: 200, concurrency: 2 }

/** Wakes the sender of a session. A lost wake-up costs a second: the sender's node polls every second. */
export const makeWake = Effect.gen(function*() {
  const senders = yield* OutboxSenders
  const actor = yield* SessionEntity.client
  return (id: WhatsAppSessionId, hasFiles: boolean) =>
    Effect.suspend(() =>
      senders.wake(id, hasFiles)
        ? Effect.void
        : actor(String(id)).Wake(undefined, { discard: true }).pipe(
          Effect.timeoutOption("5 seconds"),
          Effect.ignoreCause
        )
    )
})

/** Stores accepted messages. Concurrent requests share one statement and one commit, unless they are in a transaction. */
export const make = Effect.gen(function*() {
  const { afterCommit, inTransaction, transaction } = yield* Database
  const repo = yield* AcceptedRepo
  const usage = yield* Usage
  const events = yield* Events
  const wake = yield* makeWake

  const findSessions = (asked: ReadonlyArray<SessionOf>) =>
    Effect.map(repo.sessions(asked), (rows) => {
      const found = new Map(rows.map(({ position, ...row }) => [position, row]))
      return asked.map((_, position) => found.get(position))
    })
  const findTogether = yield* GroupCommit.make({ ...grouping, run: findSessions })

  /** Runs in the current transaction. Answers with the ids in the order of the rows. */
  const insert = Effect.fnUntraced(function*(rows: ReadonlyArray<NewRow>) {
    const ids = yield* repo.insert(rows)
    yield* events.publish(rows.flatMap((row, index) => {
      const inserted = ids[index]
      return inserted?.is_wanted === true ? [queuedEvent(inserted.id, row)] : []
    }))
    for (const [id, own] of Map.groupBy(rows, ({ sessionId }) => sessionId)) {
      yield* afterCommit(wake(id, own.some(({ type }) => isMediaType(type))))
    }
    yield* afterCommit(
      Effect.sync(() => MessageMetrics.accepted("whatsapp", rows.filter(({ accountId }) => !isTest(accountId)).length))
    )
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    yield* usage.count([...byAccount].map(([accountId, { length }]) => ({
      accountId,
      metric: "whatsapp",
      count: length
    })))
    return ids.map(({ id }) => id)
  })
  const insertTogether = yield* GroupCommit.make({
    ...grouping,
    run: (rows: ReadonlyArray<NewRow>) => transaction(insert(rows))
  })

  const insertFile = Effect.fnUntraced(function*(account_id: AccountId, base64: string | undefined) {
    if (base64 === undefined) return null
    return (yield* repo.insertFile({ account_id, content: Buffer.from(base64, "base64") })).id
  })

  return {
    /** Undefined if the account has no such session. */
    session: Effect.fnUntraced(function*(asked: SessionOf) {
      return (yield* inTransaction) ? (yield* findSessions([asked]))[0] : yield* findTogether(asked)
    }),
    one: Effect.fnUntraced(function*(row: NewRow, file: string | undefined) {
      if (file === undefined && !(yield* inTransaction)) return yield* insertTogether(row)
      const ids = yield* transaction(
        Effect.flatMap(insertFile(row.accountId, file), (fileId) => insert([{ ...row, fileId }]))
      )
      return ids[0] ?? (yield* Effect.die("inserting one message returned no id"))
    }),
    batch: (
      of: BatchOf & { readonly sending: Sending },
      rows: ReadonlyArray<NewRow>,
      file: string | undefined
    ) =>
      transaction(Effect.gen(function*() {
        const fileId = yield* insertFile(of.accountId, file)
        yield* repo.insertBatch(of, rows.length, of.sending)
        yield* insert(rows.map((row) => ({ ...row, fileId })))
      }))
  }
})
