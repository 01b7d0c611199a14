import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import * as Query from "../platform/database/Query.ts"
import { DomainName } from "../values/DomainName.ts"
import { AccountId, EmailDomainId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { DomainCheck, DomainStatus } from "./EmailDomain.ts"
import type { Transition } from "./EmailDomainState.ts"

const One = Schema.Struct({ accountId: AccountId, id: EmailDomainId })
const Named = Schema.Struct({ accountId: AccountId, domain: Schema.String })

const owned = {
  id: EmailDomainId,
  account_id: AccountId,
  domain: DomainName,
  status: DomainStatus,
  public_key: Schema.String
}

/** A domain as its account reads it. */
const Row = Schema.Struct({
  ...owned,
  track_opens: Schema.Boolean,
  track_clicks: Schema.Boolean,
  last_check: Schema.NullOr(DomainCheck),
  checked_at: Schema.NullOr(Timestamp),
  /** Whether the last check is recent enough to answer a request. */
  is_fresh: Schema.Boolean,
  created_at: Timestamp
})
export type DomainRow = typeof Row.Type

/** A domain whose check has started. `check_until` is its lease: an outcome that arrives later is dropped. */
const Claimed = Schema.Struct({ ...owned, check_until: Timestamp })
export type ClaimedDomain = typeof Claimed.Type

/** The state of a domain when its check ends. Another account may have taken the verification meanwhile. */
const Held = Schema.Struct({
  status: DomainStatus,
  failures: Schema.Int,
  failing_millis: Schema.Finite,
  pending_millis: Schema.Finite
})

const Displaced = Schema.Struct({ id: EmailDomainId, account_id: AccountId, domain: Schema.String })

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  // A manually inserted row may have no key. Its record then contains none.
  const identity = sql.literal("id, account_id, domain, status, coalesce(dkim_public_key, '') as public_key")
  const isFresh = sql.literal("(checked_at is not null and checked_at > clock_timestamp() - interval '10 seconds')")
  const columns =
    sql`${identity}, track_opens, track_clicks, last_check, checked_at, created_at, ${isFresh} as is_fresh`

  const list = Query.findAll({
    Request: AccountId,
    Result: Row,
    execute: (accountId) => sql`select ${columns} from email_domains where account_id = ${accountId} order by id desc`
  })

  const counted = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (accountId) => sql`select count(*) as total from email_domains where account_id = ${accountId}`
  })
  const count = (accountId: AccountId) => Effect.map(counted(accountId), ({ total }) => total)

  const find = Query.findOneOption({
    Request: One,
    Result: Row,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from email_domains where id = ${id} and account_id = ${accountId}`
  })

  const named = Query.findOneOption({
    Request: Named,
    Result: Row,
    execute: ({ accountId, domain }) =>
      sql`select ${columns} from email_domains where account_id = ${accountId} and domain = ${domain}`
  })

  /** The last check of the live account that the domain is verified for. */
  const verified = Query.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ last_check: Row.fields.last_check }),
    execute: (domain) =>
      sql`select last_check from email_domains
        where domain = ${domain} and status = 'verified' and account_id > 0`
  })

  /** Nothing if the account already has the domain. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({
      ...Named.fields,
      privateKey: Schema.Uint8Array,
      publicKey: Schema.String,
      firstCheckSeconds: Schema.Int
    }),
    Result: Row,
    execute: ({ accountId, domain, firstCheckSeconds, privateKey, publicKey }) =>
      sql`insert into email_domains (account_id, domain, dkim_private_key, dkim_public_key, next_check_at)
        values (${accountId}, ${domain}, ${privateKey}, ${publicKey},
          now() + ${firstCheckSeconds}::int * interval '1 second')
        on conflict (account_id, domain) do nothing
        returning ${columns}`
  })

  /** Null values keep the stored ones. */
  const change = Query.findOneOption({
    Request: Schema.Struct({
      ...One.fields,
      opens: Schema.NullOr(Schema.Boolean),
      clicks: Schema.NullOr(Schema.Boolean)
    }),
    Result: Row,
    execute: ({ accountId, clicks, id, opens }) =>
      sql`update email_domains set track_opens = coalesce(${opens}::boolean, track_opens),
          track_clicks = coalesce(${clicks}::boolean, track_clicks)
        where id = ${id} and account_id = ${accountId} returning ${columns}`
  })

  const remove = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: EmailDomainId }),
    execute: ({ accountId, id }) =>
      sql`delete from email_domains where id = ${id} and account_id = ${accountId} returning id`
  })

  // Longer than the lookups of a check, so that a domain never has two checks at once.
  const lease = sql.literal("interval '15 seconds'")
  const claim = sql`update email_domains set check_until = clock_timestamp() + ${lease}`
  const isFree = sql.literal("(check_until is null or check_until < clock_timestamp())")
  const claimed = sql`${identity}, check_until`

  /** Starts a check of one domain, unless one runs or has just ended. */
  const begin = Query.findOneOption({
    Request: One,
    Result: Claimed,
    execute: ({ accountId, id }) =>
      sql`${claim} where id = (
          select id from email_domains
          where id = ${id} and account_id = ${accountId} and ${isFree} and not ${isFresh}
          for update skip locked
        ) returning ${claimed}`
  })

  const isDue = sql`next_check_at <= now() and ${isFree}`

  const anyDue = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ is: Schema.Boolean }),
    execute: () => sql`select exists (select 1 from email_domains where ${isDue}) as is`
  })

  /** Starts the check that has been due longest. */
  const beginDue = Query.findOneOption({
    Request: Schema.Void,
    Result: Claimed,
    execute: () =>
      sql`${claim} where id = (
          select id from email_domains where ${isDue}
          order by next_check_at limit 1 for update skip locked
        ) returning ${claimed}`
  })

  /** The domain, if its check still holds the lease. Locks the row until the transaction ends. */
  const hold = Query.findOneOption({
    Request: Schema.Struct({ id: EmailDomainId, check_until: Timestamp }),
    Result: Held,
    execute: ({ check_until, id }) =>
      sql`select status, failures,
          coalesce(extract(epoch from clock_timestamp() - failing_since), 0)::float8 * 1000 as failing_millis,
          extract(epoch from clock_timestamp() - pending_since)::float8 * 1000 as pending_millis
        from email_domains where id = ${id} and check_until = ${check_until}::timestamptz for update`
  })

  /**
   * Whether another account's key was seen after this check started. If so, this check may have asked before the DNS
   * change, so its outcome is void. Waits for concurrent checks of the same domain to commit. Call it for pending
   * domains only: a verified domain may be displaced by the check that this one waits for.
   */
  const isOvertaken = Effect.fn("EmailDomainsRepo.isOvertaken")(function*({ check_until, domain, id }: ClaimedDomain) {
    yield* Query.run(sql`select pg_advisory_xact_lock(hashtextextended(${`email_domains:${domain}`}, 0))`)
    // A separate statement, so that it sees the commits during the wait for the lock.
    return (yield* overtaken({ check_until, domain, id })).is
  })

  const overtaken = Query.findOne({
    Request: Schema.Struct({ id: EmailDomainId, domain: Schema.String, check_until: Timestamp }),
    Result: Schema.Struct({ is: Schema.Boolean }),
    execute: ({ check_until, domain, id }) =>
      sql`select exists (
          select 1 from email_domains where domain = ${domain} and status = 'verified' and account_id > 0
            and id <> ${id} and failures = 0 and checked_at > ${check_until}::timestamptz - ${lease}
        ) as is`
  })

  /** Ends a check without an outcome, so that the next one can start at once. */
  const release = (id: EmailDomainId) => Query.run(sql`update email_domains set check_until = null where id = ${id}`)

  /**
   * Takes the verification from the other account that has it, because only one account may send from a domain. Ends
   * the lease of its running check, which asked earlier.
   */
  const displace = Query.findAll({
    Request: Displaced,
    Result: Displaced,
    execute: ({ domain, id }) =>
      sql`update email_domains set status = 'pending', pending_since = now(), failures = 0, failing_since = null,
          check_until = null, next_check_at = now() + interval '1 hour'
        where domain = ${domain} and status = 'verified' and account_id > 0 and id <> ${id}
        returning id, account_id, domain`
  })

  const settle = (id: EmailDomainId, check: DomainCheck, { change, failures, pause, status }: Transition) => {
    const millis = pause === undefined ? null : Duration.toMillis(pause)
    return Query.run(sql`update email_domains set status = ${status}, last_check = ${sql.json(check)},
        checked_at = clock_timestamp(), check_until = null, failures = ${failures},
        failing_since = case when ${failures}::integer > 0 then coalesce(failing_since, clock_timestamp()) end,
        pending_since = case when ${change === "unverified"}::boolean then clock_timestamp() else pending_since end,
        next_check_at = clock_timestamp() + ${millis}::float8 * interval '1 millisecond'
      where id = ${id}`)
  }

  return {
    list,
    count,
    find,
    named,
    verified,
    insert,
    change,
    remove,
    begin,
    anyDue,
    beginDue,
    hold,
    isOvertaken,
    release,
    displace,
    settle
  }
})

/**
 * SQL of `email_domains`. A request with an `Idempotency-Key` is one transaction, in which `now()` stands still during
 * lookups. Checks therefore use `clock_timestamp()`.
 */
export class EmailDomainsRepo
  extends Context.Service<EmailDomainsRepo>()("messaging-service/email-domains/EmailDomainsRepo", { make })
{
  static readonly layer = Layer.effect(EmailDomainsRepo, make)
}
