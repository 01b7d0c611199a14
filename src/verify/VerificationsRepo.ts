import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { CodeSeed } from "../platform/crypto/oneTimeCode.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId, VerificationId } from "../values/Ids.ts"
import { IpAddress, networkOf as clientNetworkOf } from "../values/IpAddress.ts"
import { Locale } from "../values/Locale.ts"
import { windowFields } from "../values/Page.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { BlockedPrefix, blockHours, CodeChannel, VerificationStatus } from "./Verification.ts"

/** A stored verification. */
export const StoredVerification = Schema.Struct({
  id: VerificationId,
  account_id: AccountId,
  to: Schema.String,
  channel: CodeChannel,
  status: VerificationStatus,
  attempts: Schema.Int,
  is_over: Schema.Boolean,
  code_seed: CodeSeed,
  message_id: Schema.NullOr(Schema.Int),
  channels_left: Schema.Array(CodeChannel),
  brand_name: Schema.NullOr(Schema.String),
  locale: Locale,
  web_domain: Schema.NullOr(Schema.String),
  session_id: Schema.NullOr(Schema.Int),
  seconds_left: Schema.Int,
  expires_at: Timestamp,
  verified_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
})
export type StoredVerification = typeof StoredVerification.Type

const AutomaticVerification = Schema.Struct({ ...StoredVerification.fields, is_late: Schema.Boolean })

/** A pending verification that other channels may continue. `is_late`: its message had time enough to arrive. */
export type AutomaticVerification = typeof AutomaticVerification.Type

const Filter = Schema.Struct({
  accountId: AccountId,
  status: Schema.NullOr(VerificationStatus),
  channel: Schema.NullOr(CodeChannel),
  recipient: Schema.NullOr(Schema.String),
  from_date: Schema.NullOr(Schema.String),
  to_date: Schema.NullOr(Schema.String),
  ...windowFields
})

/** The keys by which codes are counted. */
const Counted = Schema.Struct({
  accountId: AccountId,
  recipient: Schema.String,
  prefix: Schema.NullOr(Schema.String),
  clientIp: Schema.NullOr(Schema.toType(IpAddress))
})
export type Counted = typeof Counted.Type

const Counts = Schema.Struct({
  since_last: Schema.NullOr(Schema.Finite),
  day: Schema.Int,
  day_frees: Schema.Finite,
  hour: Schema.Int,
  hour_frees: Schema.Finite,
  day_all: Schema.Int,
  day_all_frees: Schema.Finite,
  hour_all: Schema.Int,
  hour_all_frees: Schema.Finite,
  network: Schema.Int,
  network_frees: Schema.Finite,
  prefix: Schema.Int,
  prefix_frees: Schema.Finite,
  blocked_for: Schema.NullOr(Schema.Finite)
})

/** A new code, for a new verification or for a pending one. */
export interface NewCode {
  readonly id: VerificationId
  readonly accountId: AccountId
  readonly to: string
  readonly channel: CodeChannel
  readonly seed: CodeSeed
  readonly ttl: number
  readonly brandName: string | null
  readonly locale: Locale
  readonly webDomain: string | null
  readonly sessionId: number | null
  readonly country: string | null
  /** JSON */
  readonly acceptedBy: string | null
}

const ByRecipient = Schema.Struct({ accountId: AccountId, recipient: Schema.String })
const ById = Schema.Struct({ accountId: AccountId, id: Schema.String })

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const columnsUntil = (end: string) =>
    sql.literal(
      `id, account_id, recipient as "to", channel, status, attempts, ${end} <= now() as is_over,
    code_seed, message_id, channels_left, brand_name, locale, web_domain, session_id,
    greatest(0, floor(extract(epoch from expires_at - now())))::integer as seconds_left, ${end} as expires_at,
    verified_at, created_at`
    )

  const columns = columnsUntil("expires_at")

  /**
   * Serialises codes to the same recipient, from all accounts, and an account's codes to the same prefix and network, until
   * the transaction ends. The order of locks is fixed.
   */
  const lock = ({ accountId, clientIp, prefix, recipient }: Counted) => {
    const names = [
      `to:${recipient}`,
      ...(prefix === null ? [] : [`${accountId}:prefix:${prefix}`]),
      ...(clientIp === null ? [] : [`${accountId}:ip:${clientNetworkOf(clientIp)}`])
    ]
    return Query.run(sql`select pg_advisory_xact_lock(key) from (
        select hashtextextended('verify:' || name, 0) as key from unnest(${column.text(names)}) as name
        order by 1 offset 0
      ) keys`)
  }

  const networkOf = (ip: string | null) =>
    sql`network(set_masklen(${ip}::text::inet, case family(${ip}::text::inet) when 6 then 64 else 32 end))`

  const frees = (window: string) =>
    sql.literal(`coalesce(extract(epoch from min(created_at) + interval '${window}' - now()), 0)::float8`)

  const isBlocking = sql.literal("until > now() and released_at is null")

  const since = (window: string) => sql.literal(`created_at > now() - interval '${window}'`)

  /**
   * Codes of trial accounts do not count for others, so that strangers cannot keep a customer's codes from a person. Those of
   * test keys, whose accounts have negative ids, reach no person: they count for their own account alone.
   */
  const counts = Query.findOne({
    Request: Counted,
    Result: Counts,
    execute: ({ accountId, clientIp, prefix, recipient }) =>
      sql`with sent as (
          select created_at from verification_sends where account_id = ${accountId} and recipient = ${recipient}
            and ${since("1 day")}
        ), day as (
          select count(*) as day, ${frees("1 day")} as day_frees,
            extract(epoch from now() - max(created_at))::float8 as since_last from sent
        ), hour as (
          select count(*) as hour, ${frees("1 hour")} as hour_frees from sent where ${since("1 hour")}
        ), all_accounts as (
          select s.created_at from verification_sends s join accounts a on a.id = s.account_id
          where s.recipient = ${recipient} and s.${since("1 day")} and s.account_id > 0 and ${accountId}::bigint > 0
            and (a.trial_ends_at is null
            or exists (select from accounts own where own.id = ${accountId} and own.trial_ends_at is not null))
        ), day_all as (
          select count(*) as day_all, ${frees("1 day")} as day_all_frees from all_accounts
        ), hour_all as (
          select count(*) as hour_all, ${frees("1 hour")} as hour_all_frees from all_accounts where ${since("1 hour")}
        ), network as (
          select count(*) as network, ${frees("1 hour")} as network_frees from verification_sends
          where account_id = ${accountId} and client_network = ${networkOf(clientIp)} and ${since("1 hour")}
        ), prefix as (
          select count(*) as prefix, ${frees("1 hour")} as prefix_frees from verification_sends
          where account_id = ${accountId} and prefix = ${prefix}::text and ${since("1 hour")}
        )
        select *, (select extract(epoch from until - now())::float8 from verification_blocks
          where account_id = ${accountId} and prefix = ${prefix}::text and ${isBlocking}) as blocked_for
        from day, hour, day_all, hour_all, network, prefix`
  })

  /**
   * Locks the recipient's pending verification until the transaction ends. In the last of its 20 minutes it is over for
   * this purpose: a new code would be valid for less than a minute.
   */
  const pending = Query.findOneOption({
    Request: ByRecipient,
    Result: StoredVerification,
    execute: ({ accountId, recipient }) =>
      sql`select ${columnsUntil("least(expires_at, created_at + interval '19 minutes')")} from verifications
        where account_id = ${accountId} and lower(recipient) = ${recipient} and status = 'pending' for update`
  })

  /** Stores a new code. A pending verification continues with it, for at most 20 minutes in all. */
  const put = (code: NewCode) =>
    Query.findOne({
      Request: Schema.Void,
      Result: StoredVerification,
      execute: () =>
        sql`insert into verifications as v (id, account_id, recipient, channel, code_seed, sends, brand_name, locale,
            web_domain, session_id, accepted_by, country, expires_at)
          values (${code.id}, ${code.accountId}, ${code.to}, ${code.channel}, ${code.seed}, 1, ${code.brandName},
            ${code.locale}, ${code.webDomain}, ${code.sessionId}, ${code.acceptedBy}::jsonb,
            ${code.country}, now() + ${code.ttl}::integer * interval '1 second')
          on conflict (id) do update set recipient = excluded.recipient, channel = excluded.channel,
            code_seed = excluded.code_seed, sends = v.sends + 1, brand_name = excluded.brand_name,
            locale = excluded.locale, web_domain = excluded.web_domain, session_id = excluded.session_id,
            expires_at = least(excluded.expires_at, v.created_at + interval '20 minutes')
          returning ${columns}`
    })()

  /** Records the channel that accepted the code, and the channels left if its message fails or is late. */
  const handedTo = Query.findOne({
    Request: Schema.Struct({
      id: VerificationId,
      channel: CodeChannel,
      seed: CodeSeed,
      messageId: Schema.Int,
      left: Schema.Array(CodeChannel)
    }),
    Result: StoredVerification,
    execute: ({ channel, id, left, messageId, seed }) =>
      sql`update verifications set channel = ${channel}, code_seed = ${seed}, message_id = ${messageId},
          messages = messages || jsonb_build_object('channel', ${channel}::text, 'id', ${messageId}::bigint),
          cost_micros = cost_micros + case when ${channel}::text = 'sms'
            then coalesce((select cost_micros from messages where id = ${messageId}), 0) else 0 end,
          channels_left = ${column.text(left)}, handed_at = now() where id = ${id} returning ${columns}`
  })

  const addSend = (id: VerificationId, { accountId, clientIp, prefix, recipient }: Counted) =>
    Query.run(sql`insert into verification_sends (verification_id, account_id, recipient, prefix, client_network)
      values (${id}, ${accountId}, ${recipient}, ${prefix}, ${networkOf(clientIp)})`)

  /** Locks the row, so that guesses are compared one after the other. */
  const byId = Query.findOneOption({
    Request: ById,
    Result: StoredVerification,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from verifications where id = ${id} and account_id = ${accountId} for update`
  })

  /** The recipient's newest verification. */
  const byRecipient = Query.findOneOption({
    Request: ByRecipient,
    Result: StoredVerification,
    execute: ({ accountId, recipient }) =>
      sql`select ${columns} from verifications where account_id = ${accountId} and lower(recipient) = ${recipient}
        order by created_at desc, id desc limit 1 for update`
  })

  const find = Query.findOneOption({
    Request: ById,
    Result: StoredVerification,
    execute: ({ accountId, id }) =>
      sql`select ${columns} from verifications where id = ${id} and account_id = ${accountId}`
  })

  const matching = ({ accountId, ...filter }: typeof Filter.Encoded) =>
    sql.and([
      sql`account_id = ${accountId}`,
      // The status that the API shows: the end of an expired verification is recorded a little later.
      ...(filter.status === null ? [] : [
        sql`case when status = 'pending' and expires_at <= now() then 'expired' else status end = ${filter.status}`
      ]),
      ...(filter.channel === null ? [] : [sql`channel = ${filter.channel}`]),
      ...(filter.recipient === null ? [] : [sql`lower(recipient) = ${filter.recipient}`]),
      ...(filter.from_date === null ? [] : [sql`created_at >= ${filter.from_date}::timestamptz`]),
      ...(filter.to_date === null ? [] : [sql`created_at < ${filter.to_date}::timestamptz`])
    ])

  const list = Query.findAll({
    Request: Filter,
    Result: StoredVerification,
    execute: (filter) =>
      sql`select ${columns} from verifications where ${matching(filter)} and ${Query.afterTime(sql, filter)}
        order by created_at desc, id desc limit ${filter.limit} offset ${filter.offset}`
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from verifications where ${matching(filter)}`)
  })

  const blocks = Query.findAll({
    Request: AccountId,
    Result: BlockedPrefix,
    execute: (accountId) =>
      sql`select prefix, until - ${
        sql.literal(`interval '${blockHours} hours'`)
      } as since, until from verification_blocks
        where account_id = ${accountId} and ${isBlocking} order by until desc, prefix limit 1000`
  })

  const release = Query.findOneOption({
    Request: Schema.Struct({ accountId: AccountId, prefix: Schema.String }),
    Result: Schema.Struct({ prefix: Schema.String }),
    execute: ({ accountId, prefix }) =>
      sql`update verification_blocks set released_at = now()
        where account_id = ${accountId} and prefix = ${prefix} and ${isBlocking} returning prefix`
  })

  const settle = Query.findOne({
    Request: Schema.Struct({ id: VerificationId, status: VerificationStatus, attempts: Schema.Int }),
    Result: StoredVerification,
    execute: ({ attempts, id, status }) =>
      sql`update verifications set status = ${status}, attempts = ${attempts},
          verified_at = case when ${status}::text = 'approved' then now() end,
          ended_at = case when ${status}::text = 'approved' then now() end
        where id = ${id} returning ${columns}`
  })

  /** Locks expired verifications whose end is not recorded. */
  const over = Query.findAll({
    Request: Schema.Int,
    Result: StoredVerification,
    execute: (limit) =>
      sql`select ${columns} from verifications where ended_at is null and expires_at <= now()
        order by expires_at limit ${limit} for update skip locked`
  })

  const close = (ends: ReadonlyArray<{ readonly id: VerificationId; readonly status: VerificationStatus }>) =>
    Query.run(sql`update verifications v set status = e.status, ended_at = now(), channels_left = '{}'
      from unnest(${column.text(ends.map(({ id }) => id))}, ${column.text(ends.map(({ status }) => status))})
        as e (id, status) where v.id = e.id`)

  /** Pending verifications with another channel left and enough time for it, and whether the present one has had its time. */
  const automatic = Query.findAll({
    Request: Schema.Struct({ after: Schema.String, limit: Schema.Int }),
    Result: AutomaticVerification,
    execute: ({ after, limit }) =>
      sql`select ${columns}, coalesce(handed_at < now() - least(interval '1 minute', (expires_at - handed_at) / 3), false)
          as is_late
        from verifications
        where status = 'pending' and channels_left <> '{}' and expires_at > now() + interval '10 seconds'
          and id > ${after}
        order by id limit ${limit}`
  })

  /** Drops the other channels, because the message has arrived. */
  const arrived = ({ id, messageId }: { readonly id: VerificationId; readonly messageId: number }) =>
    Query.run(sql`update verifications set channels_left = '{}' where id = ${id} and message_id = ${messageId}`)

  return {
    arrived,
    list,
    count,
    blocks,
    release,
    lock,
    counts,
    pending,
    put,
    handedTo,
    addSend,
    byId,
    byRecipient,
    find,
    settle,
    over,
    close,
    automatic
  }
})

/** SQL of `verifications` and `verification_sends`. */
export class VerificationsRepo
  extends Context.Service<VerificationsRepo>()("messaging-service/verify/VerificationsRepo", { make })
{
  static readonly layer = Layer.effect(VerificationsRepo, make)
}
