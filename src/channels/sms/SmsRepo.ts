import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { Events } from "../../events/Events.ts"
import { acceptedBy, firstStatus, type Sending } from "../../messages/sendFields.ts"
import { type CodeSeed, seedAfter } from "../../platform/crypto/oneTimeCode.ts"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { type AccountId, type MessageBatchId, MessageId } from "../../values/Ids.ts"
import { arrayOf } from "../../values/Labels.ts"
import { firstLane } from "../../values/TestMode.ts"
import type { Encoding } from "./text/segments.ts"

/** A new message with the bodies of its parts. */
export interface StoredSms {
  readonly to: string
  readonly content: string
  readonly segments: number
  readonly cost_micros: number
  readonly encoding: Encoding
  readonly parts: ReadonlyArray<string>
  /** The seed of the code that replaces the mask in the text. */
  readonly codeSeed: CodeSeed | undefined
}

/** Each part with the seed for its piece of the mask. */
const seeded = ({ codeSeed, parts }: StoredSms) => {
  let seed = codeSeed
  return parts.map((body) => {
    const part = { body, seed: seed ?? null }
    seed = seed === undefined ? undefined : seedAfter(seed, body)
    return part
  })
}

/** One request: a single message, or the messages of a batch. */
export interface SmsRequest {
  readonly accountId: AccountId
  readonly sender: string | null
  readonly batchId: MessageBatchId | null
  readonly messages: ReadonlyArray<StoredSms>
  readonly sending: Sending
}

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const { isWanted } = yield* Events

  const insertBatch = (id: MessageBatchId, { accountId, messages, sending }: SmsRequest) =>
    Query.run(sql`insert into message_batches (id, account_id, channel, total, status, send_at, tags, metadata,
        accepted_by)
      values (${id}, ${accountId}, 'sms', ${messages.length}, ${firstStatus(sending)}, ${sending.sendAt},
        ${column.text(sending.tags)}, ${JSON.stringify(sending.metadata)}::jsonb,
        ${acceptedBy(sending)}::jsonb)`)

  /**
   * Stores the messages of all requests and their parts; returns the ids in the order of the messages, and whether the account
   * subscribes to their event.
   */
  const insert = (requests: ReadonlyArray<SmsRequest>) => {
    const messages = requests.flatMap(({ messages: own, ...common }) =>
      own.map((message) => ({ ...message, ...common }))
    )
    const parts = messages.flatMap((message, index) =>
      seeded(message).map((part, no) => ({ ...part, position: index + 1, no: no + 1 }))
    )
    const of = <A>(read: (message: typeof messages[number]) => A) => messages.map(read)
    return Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: MessageId, is_wanted: Schema.Boolean }),
      execute: () =>
        sql`with asked as (
            select t.*, nextval('messages_id_seq') as id from unnest(${column.text(of((m) => m.to))},
              ${column.text(of((m) => m.content))}, ${column.int4(of((m) => m.segments))},
              ${column.int8(of((m) => m.cost_micros))}, ${column.text(of((m) => m.encoding))},
              ${column.int4(of((m) => m.parts.length))}, ${column.int8(of((m) => m.accountId))},
              ${column.text(of((m) => m.sender))}, ${column.text(of((m) => m.batchId))},
              ${column.text(of((m) => arrayOf(m.sending.tags)))},
              ${column.text(of((m) => JSON.stringify(m.sending.metadata)))},
              ${column.text(of((m) => m.sending.sendAt))}::timestamptz[],
              ${column.text(of((m) => m.batchId === null ? acceptedBy(m.sending) : null))})
              with ordinality as t (recipient, content, segments, cost_micros, encoding, parts, account_id, sender,
                batch_id, tags, metadata, send_at, accepted_by, position)
          ), added as (
            insert into messages (id, account_id, channel, direction, sender, recipient, content, segments, cost_micros, batch_id,
              tags, metadata, send_at, accepted_by, status)
            overriding system value
            select id, account_id, 'sms', 'out', sender, recipient, jsonb_build_object('body', content), segments,
              cost_micros, batch_id, tags::text[], metadata::jsonb, send_at, accepted_by::jsonb,
              case when send_at is null then 'queued' else 'scheduled' end
            from asked order by position
          ), cut as (
            insert into sms_parts (message_id, part_no, parts, encoding, body, code_seed, lane, account_id,
              due_at)
            select a.id, t.no, a.parts, a.encoding, t.body, t.seed, (a.batch_id is not null)::integer
                + case when a.account_id < 0 then ${firstLane.test} else ${firstLane.live} end, a.account_id,
              case when a.send_at is null then now() end
            from unnest(${column.int4(parts.map(({ position }) => position))},
              ${column.int4(parts.map(({ no }) => no))}, ${column.text(parts.map(({ body }) => body))},
              ${column.text(parts.map(({ seed }) => seed))}) as t (position, no, body, seed)
            join asked a using (position)
          )
          select id, send_at is null and account_id in (
            select own.account_id from (select distinct account_id from asked) own
            where ${isWanted(sql`own.account_id`, { event: "message.queued", channel: "sms" })}) as is_wanted
          from asked order by position`
    })()
  }

  return { insertBatch, insert }
})

/** SQL that stores accepted SMS. */
export class SmsRepo extends Context.Service<SmsRepo>()("messaging-service/channels/sms/SmsRepo", { make }) {
  static readonly layer = Layer.effect(SmsRepo, make)
}
