/** What needs attention, decided from facts. Pure. */
import { Schema } from "effect"
import type { SummaryChannel } from "../messages/MessageSummary.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** What is wrong, or will be soon. */
const AttentionCode = Schema.Literals([
  "webhook_unhealthy",
  "webhook_failing",
  "session_failed",
  "session_disconnected",
  "session_unpaired",
  "domain_lost",
  "domain_pending",
  "bounces_high",
  "complaints_high",
  "quota_reached",
  "quota_near",
  "trial_ending",
  "relay_away",
  "carrier_away",
  "queue_late",
  "codes_late",
  "codes_blocked",
  "key_expiring",
  "key_unused",
  "no_second_factor"
])

/** Something that needs attention. */
export const AttentionItem = Schema.Struct({
  code: AttentionCode,
  severity: Schema.Literals(["bad", "warn"]).annotate({ description: "`bad`: messages or events do not arrive" }),
  since: Schema.NullOr(Timestamp),
  subject: Schema.NullOr(Schema.Struct({
    id: Schema.Union([Schema.Int, Schema.String]),
    name: Schema.String
  })).annotate({ description: "The webhook, session, domain, key, resource or prefix that it is about" }),
  message: Schema.String
}).annotate({ identifier: "AttentionItem" })
export type AttentionItem = typeof AttentionItem.Type

interface Named {
  readonly id: number
  readonly name: string
}

/** What an account's parts look like now. */
export interface AttentionFacts {
  readonly now: Timestamp
  readonly webhooks: ReadonlyArray<
    Named & {
      readonly unhealthy_reason: "failing" | "gone" | "backlog_full" | null
      readonly failure_count: number
      readonly failing_since: Timestamp | null
    }
  >
  readonly sessions: ReadonlyArray<
    Named & {
      readonly status: "pending" | "connected" | "disconnected" | "failed"
      readonly since: Timestamp
    }
  >
  readonly domains: ReadonlyArray<
    Named & {
      readonly status: "pending" | "verified"
      /** It was verified, and a record is missing since then. */
      readonly failing_since: Timestamp | null
      readonly pending_since: Timestamp
    }
  >
  readonly keys: ReadonlyArray<
    Named & {
      readonly expires_at: Timestamp | null
      /** The last use; of an unused key its creation. */
      readonly used_at: Timestamp
    }
  >
  /** The mail of the last 24 hours. */
  readonly mail: { readonly sent: number; readonly bounced: number; readonly complained: number }
  readonly quotas: ReadonlyArray<{ readonly resource: string; readonly limit: number | null; readonly used: number }>
  /** Since when the oldest message that no node has tried to send waits, for codes and for other single messages. */
  readonly waiting: ReadonlyArray<
    { readonly channel: SummaryChannel; readonly is_code: boolean; readonly since: Timestamp }
  >
  /** The upstreams that some node cannot reach; none in test mode, which has its own. */
  readonly outages: ReadonlyArray<{ readonly upstream: "relay" | "carrier"; readonly since: Timestamp }>
  readonly trial_ends_at: Timestamp | null
  /** A prefix begins with a plus. */
  readonly blocks: ReadonlyArray<{ readonly prefix: string; readonly since: Timestamp; readonly until: Timestamp }>
  /** Null where the account belongs to no person, as in test mode. */
  readonly has_second_factor: boolean | null
}

const minute = 60_000
const day = 24 * 60 * minute

/** Rates of fewer mails say nothing. */
const fewestMails = 200

const highBounces = 0.05
const highComplaints = 0.001

type Found = ReadonlyArray<AttentionItem>

const subjectOf = ({ id, name }: Named) => ({ id, name })

const webhookItems = ({ webhooks }: AttentionFacts): Found =>
  webhooks.flatMap((webhook): Found => {
    const about = { subject: subjectOf(webhook), since: webhook.failing_since }
    const { failure_count, name, unhealthy_reason } = webhook
    if (unhealthy_reason !== null) {
      return [{
        ...about,
        code: "webhook_unhealthy",
        severity: "bad",
        message: unhealthy_reason === "backlog_full"
          ? `The webhook ${name} gets no new events, because too many wait. It gets them again once half of these are sent.`
          : `The webhook ${name} is unhealthy and gets no events. Repair its endpoint, then activate it.`
      }]
    }
    return failure_count < 3 ? [] : [{
      ...about,
      code: "webhook_failing",
      severity: "warn",
      message: `The last ${failure_count} deliveries to the webhook ${name} failed.`
    }]
  })

const sessionItems = ({ now, sessions }: AttentionFacts): Found =>
  sessions.flatMap((session): Found => {
    const { name, since, status } = session
    const about = { subject: subjectOf(session), since }
    const age = Date.parse(now) - Date.parse(since)
    if (status === "failed") {
      return [{
        ...about,
        code: "session_failed",
        severity: "bad",
        message: `The WhatsApp session ${name} has failed. Pair its phone again.`
      }]
    }
    if (status === "disconnected" && age > 2 * minute) {
      return [{
        ...about,
        code: "session_disconnected",
        severity: "bad",
        message: `The WhatsApp session ${name} is disconnected.`
      }]
    }
    return status !== "pending" || age <= 10 * minute ? [] : [{
      ...about,
      code: "session_unpaired",
      severity: "warn",
      message: `The WhatsApp session ${name} waits for a phone.`
    }]
  })

const domainItems = ({ domains, now }: AttentionFacts): Found =>
  domains.flatMap((domain): Found => {
    const { failing_since, name, pending_since, status } = domain
    const subject = subjectOf(domain)
    if (failing_since !== null) {
      return [{
        code: "domain_lost",
        severity: "bad",
        subject,
        since: failing_since,
        message: `A DNS record of the sending domain ${name} is missing or wrong.`
      }]
    }
    return status !== "pending" || Date.parse(now) - Date.parse(pending_since) <= day ? [] : [{
      code: "domain_pending",
      severity: "warn",
      subject,
      since: pending_since,
      message: `The sending domain ${name} is not verified yet.`
    }]
  })

const mailItems = ({ mail: { bounced, complained, sent } }: AttentionFacts): Found => {
  if (sent < fewestMails) return []
  const about = { subject: null, since: null, severity: "bad" } as const
  return [
    ...(bounced / sent < highBounces ? [] : [{
      ...about,
      code: "bounces_high" as const,
      message: `${bounced} of ${sent} mails of the last 24 hours bounced. Remove addresses that do not exist.`
    }]),
    ...(complained / sent < highComplaints ? [] : [{
      ...about,
      code: "complaints_high" as const,
      message: `${complained} of ${sent} mails of the last 24 hours were marked as spam.`
    }])
  ]
}

const quotaItems = ({ quotas }: AttentionFacts): Found =>
  quotas.flatMap(({ limit, resource, used }): Found => {
    if (limit === null || limit === 0 || used < limit * 0.8) return []
    const isReached = used >= limit
    return [{
      code: isReached ? "quota_reached" : "quota_near",
      severity: isReached ? "bad" : "warn",
      since: null,
      subject: { id: resource, name: resource },
      message: `${used} of ${limit} (${resource}) are used.`
    }]
  })

const outageItems = ({ outages }: AttentionFacts): Found =>
  outages.map(({ since, upstream }) => ({
    code: upstream === "relay" ? "relay_away" : "carrier_away",
    severity: "bad",
    since,
    subject: null,
    message: upstream === "relay"
      ? "The mail relay is away. Emails wait, and are sent when it is back."
      : "The carrier is away. Each SMS waits, and is sent when it is back."
  }))

const hindrances: Readonly<Record<SummaryChannel, string>> = {
  email: "The mail relay may be away.",
  sms: "The carrier may be away.",
  whatsapp: "Their session may be disconnected, or may have reached its limit."
}

const queueItems = ({ now, waiting }: AttentionFacts): Found =>
  waiting.flatMap(({ channel, is_code, since }): Found => {
    const age = Date.parse(now) - Date.parse(since)
    if (age <= (is_code ? minute / 6 : minute)) return []
    return [{
      code: is_code ? "codes_late" : "queue_late",
      severity: "bad",
      since,
      subject: { id: channel, name: channel },
      message: `${is_code ? "One-time codes" : "Messages"} by ${channel} wait since ${since}. ${hindrances[channel]}`
    }]
  })

const accountItems = ({ blocks, has_second_factor, now, trial_ends_at }: AttentionFacts): Found => {
  const left = trial_ends_at === null ? Number.POSITIVE_INFINITY : Date.parse(trial_ends_at) - Date.parse(now)
  return [
    ...(left <= 0 || left > day ? [] : [{
      code: "trial_ending" as const,
      severity: "warn" as const,
      since: null,
      subject: null,
      message: `The trial ends at ${trial_ends_at}.`
    }]),
    ...blocks.map(({ prefix, since, until }) => ({
      code: "codes_blocked" as const,
      severity: "warn" as const,
      since,
      subject: { id: prefix, name: prefix },
      message: `Codes to numbers that begin with ${prefix} are held back as likely fraud until ${until}.`
    })),
    ...(has_second_factor !== false ? [] : [{
      code: "no_second_factor" as const,
      severity: "warn" as const,
      since: null,
      subject: null,
      message: "The owner signs in with a password alone. Add a passkey or an authenticator app."
    }])
  ]
}

const keyItems = ({ keys, now }: AttentionFacts): Found =>
  keys.flatMap((key): Found => {
    const { expires_at, name, used_at } = key
    const subject = subjectOf(key)
    const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - Date.parse(now)
    if (left <= 0) return []
    if (left <= 7 * day) {
      return [{
        code: "key_expiring",
        severity: "warn",
        since: null,
        subject,
        message: `The API key ${name} expires at ${expires_at}.`
      }]
    }
    return Date.parse(now) - Date.parse(used_at) < 90 * day ? [] : [{
      code: "key_unused",
      severity: "warn",
      since: used_at,
      subject,
      message: `The API key ${name} was not used for 90 days.`
    }]
  })

/** All that needs attention: what is bad before what is only a warning, and each in the order of its age. */
export const attentionOf = (facts: AttentionFacts): ReadonlyArray<AttentionItem> => {
  const kinds = [
    webhookItems,
    sessionItems,
    domainItems,
    outageItems,
    queueItems,
    mailItems,
    quotaItems,
    accountItems,
    keyItems
  ]
  const found = kinds.flatMap((items) => items(facts))
  const weight = ({ severity, since }: AttentionItem) => `${severity} ${since ?? "9"}`
  return found.toSorted((one, other) => weight(one) < weight(other) ? -1 : weight(one) > weight(other) ? 1 : 0)
}
