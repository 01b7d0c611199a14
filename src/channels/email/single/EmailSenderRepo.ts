import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { keptClaims } from "../../../platform/work/Claims.ts"
import { dueRows } from "../../../platform/work/dueRows.ts"
import type { AllottedTurn } from "../../../platform/work/FairClaims.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { messageLabels } from "../../../values/Labels.ts"
import { firstLane, type Mode } from "../../../values/TestMode.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { interrupted } from "../recipients/RecipientState.ts"

/** The lanes of single emails, by urgency. */
export const lanes = { code: 0, other: 1 } as const

/** A claimed recipient of a single email. Its addresses were validated when it was accepted. */
export const ClaimedRecipient = Schema.Struct({
  id: EmailMessageId,
  /** The record of its email. */
  email_id: EmailMessageId,
  account_id: AccountId,
  lane: Schema.Literals([lanes.code, lanes.other]),
  recipient: Schema.toType(EmailAddress),
  attempt_count: Schema.Int,
  /** Which claim of the recipient this is. */
  claim_number: Schema.Int,
  /** Attempts that the relay left without an answer after the whole message. */
  unconfirmed_attempts: Schema.Int,
  /** The account has suppressed the address since it accepted the email. */
  is_suppressed: Schema.Boolean
})
export type ClaimedRecipient = typeof ClaimedRecipient.Type

/** The content that all copies of an email share, without its parts. */
export const EmailContent = Schema.Struct({
  account_id: AccountId,
  from_address: Schema.toType(EmailAddress),
  from_name: Schema.NullOr(Schema.String),
  reply_to_name: Schema.NullOr(Schema.String),
  reply_to_address: Schema.NullOr(Schema.toType(EmailAddress)),
  subject: Schema.String,
  message_id: Schema.String,
  is_alone: Schema.Boolean,
  track_opens: Schema.Boolean,
  /** The targets of its tracked links. */
  links: Schema.Array(Schema.String),
  to: Schema.Array(Schema.toType(EmailAddress)),
  cc: Schema.Array(Schema.toType(EmailAddress)),
  created_at: Timestamp,
  send_at: Schema.NullOr(Timestamp),
  ...messageLabels,
  headers: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  /** The seed of the one-time code that replaces the mask in its texts. */
  code_seed: Schema.NullOr(CodeSeed)
})
export type EmailContent = typeof EmailContent.Type

const EmailPart = Schema.Struct({
  kind: Schema.Literals(["html", "text", "attachment"]),
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.NullOr(Schema.String),
  content: Schema.Uint8Array
})
export type EmailPart = typeof EmailPart.Type

/** Identifies claims: each claim of a recipient has the next number. */
const claimsOf = (claimed: ReadonlyArray<ClaimedRecipient>) => ({
  ids: column.int8(claimed.map(({ id }) => id)),
  claims: column.int4(claimed.map(({ claim_number }) => claim_number))
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Claims recipients: `due_at` is the time of the claim from then on. */
  const claim = (mode: Mode, keys: Statement.Fragment) =>
    Query.findAll({
      Request: Schema.Void,
      Result: ClaimedRecipient,
      execute: () =>
        sql`with chosen as (${keys})
          update email_messages m set status = 'sending', due_at = now(), claims = m.claims + 1 from chosen where m.id = chosen.id
          returning m.id, coalesce(m.part_of, m.id) as email_id, m.account_id,
            m.lane - ${firstLane[mode]}::smallint as lane, m.recipient, m.attempt_count, m.claims as claim_number,
            m.doubts as unconfirmed_attempts, exists (select from suppressions s where s.account_id = m.account_id
              and s.email = lower(m.recipient)) as is_suppressed`
    })()

  /** The claims of one mode's worker, which knows the lanes from 0 on. */
  const claimsOfMode = (mode: Mode) => {
    const first = firstLane[mode]
    const queued = sql`m.batch_id is null and m.status = 'queued'
      and m.lane between ${sql.literal(`${first} and ${first + lanes.other}`)}`
    const due = dueRows(sql, {
      name: "email_messages",
      key: ["id"],
      lane: "m.lane",
      lanes: [`m.lane = ${first}`, `m.lane = ${first + lanes.other}`]
    })
    return {
      claimOldest: (limits: ReadonlyArray<number>) => claim(mode, due.oldest(queued, limits)),
      waiting: Effect.map(due.waiting(queued), (turns) => turns.map((turn) => ({ ...turn, lane: turn.lane - first }))),
      claimTurns: (turns: ReadonlyArray<AllottedTurn>) =>
        claim(mode, due.ofTurns(queued, turns.map((turn) => ({ ...turn, lane: turn.lane + first }))))
    }
  }

  /**
   * Renews leases and answers with the renewed claims. Skips rows that another node has reclaimed, and locked rows: their
   * outcome is being written, and waiting could deadlock.
   */
  const renew = (claimed: ReadonlyArray<ClaimedRecipient>) => {
    const { claims, ids } = claimsOf(claimed)
    const renewed = Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: EmailMessageId, claim_number: Schema.Int }),
      execute: () =>
        sql`with mine as (
            select m.id from email_messages m, unnest(${ids}, ${claims}) as t (id, claims)
            where m.id = t.id and m.status = 'sending' and m.claims = t.claims
            for update of m skip locked
          )
          update email_messages m set due_at = now() from mine where m.id = mine.id
          returning m.id, m.claims as claim_number`
    })()
    return Effect.map(renewed, (rows) => keptClaims(claimed, rows, (row) => `${row.id}.${row.claim_number}`))
  }

  /** Returns claims to the queue that have not begun, unless another node has reclaimed them. */
  const release = (claimed: ReadonlyArray<ClaimedRecipient>) => {
    const { claims, ids } = claimsOf(claimed)
    return Query.run(sql`update email_messages m set status = 'queued', due_at = now()
      from unnest(${ids}, ${claims}) as t (id, claims)
      where m.id = t.id and m.status = 'sending' and m.claims = t.claims`)
  }

  /**
   * Returns recipients to the queue whose lease has not been renewed for `leaseTimeout`. The relay may have accepted them,
   * so this counts an attempt. After `maxAttempts` they fail, so that this program cannot email anyone forever.
   */
  const reclaimExpired = Query.findAll({
    Request: Schema.Struct({ leaseTimeout: Schema.Duration, maxAttempts: Schema.Int }),
    Result: Schema.Struct({ id: EmailMessageId, has_failed: Schema.Boolean }),
    execute: ({ leaseTimeout, maxAttempts }) =>
      sql`with orphaned as (
          select id from email_messages where batch_id is null and status = 'sending'
            and due_at <= now() - ${Duration.toMillis(leaseTimeout)}::float8 * interval '1 millisecond'
          order by id for update skip locked
        )
        update email_messages m set attempt_count = attempt_count + 1,
          status = case when attempt_count + 1 < ${maxAttempts} then 'queued' else 'failed' end,
          error = ${interrupted},
          due_at = case when attempt_count + 1 < ${maxAttempts} then now() end,
          completed_at = case when attempt_count + 1 < ${maxAttempts} then null else now() end
        from orphaned where m.id = orphaned.id returning m.id, m.status = 'failed' as has_failed`
  })

  const content = Query.findOneOption({
    Request: EmailMessageId,
    Result: EmailContent,
    execute: (id) =>
      sql`select m.account_id, m.from_address, c.from_name, c.reply_to_name, c.reply_to_address, m.subject, c.message_id,
          m.copies is null as is_alone, c.track_opens, coalesce(m.links, '{}') as links, c.created_at, c.code_seed,
          c.headers, m.send_at, m.tags, m.metadata, m.failover_id,
          r."to", r.cc
        from email_contents c join email_messages m on m.id = c.id, lateral (
          select coalesce(array_agg(p.recipient order by p.position) filter (where p.kind = 'to'), '{}') as "to",
            coalesce(array_agg(p.recipient order by p.position) filter (where p.kind = 'cc'), '{}') as cc
          from email_messages p where p.id = c.id or p.part_of = c.id
        ) r where c.id = ${id}`
  })

  const smallParts = Query.findAll({
    Request: EmailMessageId,
    Result: Schema.Struct({ ...EmailPart.fields, content: Schema.NullOr(Schema.Uint8Array) }),
    execute: (id) =>
      sql`select kind, filename, content_type, content from email_parts where email_id = ${id} order by position`
  })

  const allParts = Query.findAll({
    Request: EmailMessageId,
    Result: EmailPart,
    execute: (id) =>
      sql`select p.kind, p.filename, p.content_type, coalesce(p.content, b.content) as content
        from email_parts p join email_contents c on c.id = p.email_id
        left join email_bodies b on b.account_id = c.account_id and b.hash = p.body_hash and b.day = p.body_day
        where p.email_id = ${id} order by p.position`
  })

  /** Most mails have small parts only. */
  const parts = Effect.fnUntraced(function*(id: EmailMessageId) {
    const found = yield* smallParts(id)
    const whole = found.flatMap(({ content, ...part }) => content === null ? [] : [{ ...part, content }])
    return whole.length === found.length ? whole : yield* allParts(id)
  })

  return { claimsOfMode, renew, release, reclaimExpired, content, parts }
})

/** SQL of the recipients of single emails, from claim to attempt. `RecipientOutcomes` writes their outcomes. */
export class EmailSenderRepo
  extends Context.Service<EmailSenderRepo>()("messaging-service/channels/email/single/EmailSenderRepo", { make })
{
  static readonly layer = Layer.effect(EmailSenderRepo, make)
}
