import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import type { AccountId } from "../values/Ids.ts"
import type { EventData } from "./EventData.ts"
import type { CountedOutcome, EventName } from "./EventNames.ts"

/** Messages of one account with the same outcome. */
export interface CountedMessages {
  readonly accountId: AccountId
  readonly channel: "email" | "sms" | "whatsapp"
  readonly outcome: CountedOutcome
  /** Why they failed. */
  readonly reason?: string
  readonly count: number
}

/** The longest reason that is stored: providers give their own codes. */
const longestReason = 60

const named: Readonly<Record<string, CountedOutcome>> = {
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.bounced": "failed",
  "email.failed": "failed",
  "email.complained": "complained",
  "email.canceled": "canceled",
  "message.sent": "sent",
  "message.delivered": "delivered",
  "message.read": "read",
  "message.failed": "failed",
  "message.canceled": "canceled",
  "message.received": "received"
}

/** An event as its publisher gives it. */
interface Published {
  readonly accountId: AccountId
  readonly event: EventName
  readonly channel?: CountedMessages["channel"]
  readonly data: EventData
  readonly reason?: string
}

const reasonOf = ({ data, reason = "" }: Published) => {
  if ("bounce_type" in data) return `bounced_${data.bounce_type}`
  if ("error_code" in data) return data.error_code.slice(0, longestReason)
  return reason
}

/** The counts of events about messages. Suppressed messages are counted by those who suppress them. */
export const countsOf = (events: ReadonlyArray<Published>): ReadonlyArray<CountedMessages> => {
  const counts = new Map<string, CountedMessages>()
  for (const event of events) {
    const outcome = named[event.event]
    const channel = event.event.startsWith("email.") ? "email" : event.channel
    if (outcome === undefined || channel === undefined) continue
    const { accountId } = event
    const reason = reasonOf(event)
    const key = `${accountId} ${channel} ${outcome} ${reason}`
    counts.set(key, { accountId, channel, outcome, reason, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** Adds counts in the caller's transaction. It only adds rows, so it waits for no other transaction. */
export const addCounts = (sql: PgClient.PgClient, counts: ReadonlyArray<CountedMessages>): Effect.Effect<void> =>
  counts.length === 0 ? Effect.void : Query.run(sql`insert into message_stat_entries
    (account_id, hour, channel, outcome, reason, count)
    select t.account_id, date_trunc('hour', now()), t.channel, t.outcome, t.reason, t.count
    from unnest(${column.int8(counts.map(({ accountId }) => accountId))}, ${
    column.text(counts.map(({ channel }) => channel))
  }, ${column.text(counts.map(({ outcome }) => outcome))}, ${column.text(counts.map(({ reason }) => reason ?? ""))},
      ${column.int8(counts.map(({ count }) => count))}) as t (account_id, channel, outcome, reason, count)`)
