import { Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { MessageChannel } from "../events/EventNames.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"

/** Why a message is not sent although its time has come. `error_code` of its record and its event. */
export const obstacles = {
  account_deleted: "The account was deleted before the message was due.",
  address_unconfirmed: "The account had not confirmed its email address when the message was due.",
  subscription_expired: "The trial of the account had ended when the message was due.",
  subscription_required: "The trial of the account did not send by this channel when the message was due.",
  sender_not_verified: "The domain of the sender was not verified for the account when the message was due."
} as const

/** The code of an obstacle. */
export const Obstacle = Schema.Literals(Struct.keys(obstacles))
export type Obstacle = typeof Obstacle.Type

/** Rows that one statement releases. */
export const portion = 1_000

/** Rows of an account that one statement releases while accounts take turns. */
const ofAccount = 200

interface Scheduled {
  readonly table: "email_messages" | "messages"
  /** The further condition of the index. The rows have the alias `m`. */
  readonly condition: string
}

/** SQL of the messages whose time has come, and of what the service checks then. */
export const scheduledRows = (sql: SqlClient.SqlClient, { condition, table }: Scheduled) => {
  const rows = sql.literal(`${table} m where m.status = 'scheduled' and ${condition}`)
  return {
    /** The ids of the oldest ones, past those that another node releases. */
    oldest: sql`select m.id from ${rows} and m.send_at <= now()
      order by m.send_at, m.id limit ${portion} for update skip locked`,
    /** The same for each account: the backlog of one must not delay the others. */
    byTurns: sql`with recursive accounts as (
        (select m.account_id from ${rows} order by m.account_id limit 1)
        union all
        select n.account_id from accounts a cross join lateral (
          select m.account_id from ${rows} and m.account_id > a.account_id order by m.account_id limit 1) n
      )
      select d.id from accounts a cross join lateral (
        select m.id from ${rows} and m.account_id = a.account_id and m.send_at <= now()
        order by m.send_at, m.id limit ${ofAccount} for update skip locked) d`
  }
}

/** What hinders the account `a`, as a request would find it. `a` may be missing. */
export const obstacleOf = (
  sql: SqlClient.SqlClient,
  channel: MessageChannel | "email",
  trialChannels: ReadonlySet<string>
) =>
  sql`case when a.id is null or a.deleted_at is not null then 'account_deleted'
    when a.awaits_confirmation then 'address_unconfirmed'
    when a.trial_ends_at <= now() then 'subscription_expired'
    when a.trial_ends_at is not null and ${!trialChannels.has(channel)} then 'subscription_required' end`

/** What hinders an account from sending by a channel, or null. */
export const accountObstacle = (sql: SqlClient.SqlClient, trialChannels: ReadonlySet<string>) =>
  Query.findOne({
    Request: Schema.Struct({ accountId: AccountId, channel: Schema.Literals([...MessageChannel.literals, "email"]) }),
    Result: Schema.Struct({ reason: Schema.NullOr(Obstacle) }),
    execute: ({ accountId, channel }) =>
      sql`select ${obstacleOf(sql, channel, trialChannels)} as reason
        from (values (${accountId}::bigint)) as t (id) left join accounts a using (id)`
  })

/** The text of the obstacle in a column. */
export const obstacleText = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(
    `case ${column} ${Object.entries(obstacles).map(([code, text]) => `when '${code}' then '${text}'`).join(" ")} end`
  )
