import type { SummaryChannel } from "../messages/MessageSummary.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import type { CodeTimelineEntry, TimelineEntry } from "./Timeline.ts"
import type { Attempt, Copy, Delivery, PublishedEvent } from "./TimelineRepo.ts"

/** What the tables know about one message. */
export interface Facts {
  readonly channel: SummaryChannel
  /** A message, or the recipients of an email, the record first. */
  readonly copies: ReadonlyArray<Copy>
  readonly attempts: ReadonlyArray<Attempt>
  readonly events: ReadonlyArray<PublishedEvent>
  readonly deliveries: ReadonlyArray<Delivery>
}

/** The order of entries with one time: causes come before what they cause. */
const order: ReadonlyArray<CodeTimelineEntry["kind"]> = [
  "accepted",
  "scheduled",
  "rescheduled",
  "suppressed",
  "queued",
  "claimed",
  "attempt",
  "deferred",
  "canceled",
  "status",
  "verification",
  "event",
  "delivery"
]

type Source = Extract<TimelineEntry, { readonly kind: "status" }>["detail"]["source"]

const accepters: Readonly<Record<SummaryChannel, Source>> = { email: "relay", sms: "provider", whatsapp: "whatsapp" }
const reporters: Readonly<Record<SummaryChannel, Source>> = { email: "report", sms: "receipt", whatsapp: "whatsapp" }

/** The request, the time that it asked for, and the changes of this time. */
export const requestOf = (
  { accepted_by, batch_id = null, created_at: at, reschedules = [], send_at = null }:
    & Pick<Copy, "accepted_by" | "created_at">
    & Partial<Pick<Copy, "batch_id" | "reschedules" | "send_at">>
): ReadonlyArray<TimelineEntry> => {
  const { ip = null, key_prefix = null, request_id = null } = accepted_by ?? {}
  const changes = reschedules.toSorted((one, other) => one.at < other.at ? -1 : 1)
  return [
    { at, kind: "accepted", detail: { batch_id, request_id, key_prefix, ip } },
    ...(send_at === null
      ? []
      : [{ at, kind: "scheduled", detail: { send_at: changes[0]?.from ?? send_at } } as const]),
    ...changes.map(({ at, to }) => ({ at, kind: "rescheduled", detail: { send_at: to } }) as const)
  ]
}

const acceptanceOf = (copy: Copy): ReadonlyArray<TimelineEntry> => {
  const { created_at, direction, ended_at, reschedules, send_at, status } = copy
  if (direction === "in") {
    const detail = { status, source: "whatsapp", to: null, error: null } as const
    return [{ at: created_at, kind: "status", detail }]
  }
  const isDue = !["scheduled", "suppressed", "canceled"].includes(status)
  // The rest of its batch may have got another time after it was canceled.
  const own = reschedules.filter(({ at }) => ended_at === null || at <= ended_at)
  return [
    ...requestOf({ ...copy, reschedules: own }),
    ...(isDue ? [{ at: send_at ?? created_at, kind: "queued", detail: {} } as const] : [])
  ]
}

/** The statuses that a recipient has reached, each with its time and its source. */
const statusesOf = (
  channel: SummaryChannel,
  copy: Copy,
  tried: ReadonlyArray<Attempt>
): ReadonlyArray<TimelineEntry> => {
  const to = channel === "email" ? copy.recipient : null
  const reached = (
    at: Timestamp | null,
    status: Copy["status"],
    { error = null, source }: { readonly source: Source; readonly error?: string | null }
  ): ReadonlyArray<TimelineEntry> => at === null ? [] : [{ at, kind: "status", detail: { status, source, to, error } }]
  const ended = copy.ended_at ?? copy.sent_at ?? copy.created_at
  const ends = (): ReadonlyArray<TimelineEntry> => {
    switch (copy.status) {
      case "suppressed":
        return [{ at: ended, kind: "suppressed", detail: { to: copy.recipient } }]
      case "canceled":
        return [{ at: ended, kind: "canceled", detail: { to } }]
      case "bounced":
      case "failed": {
        const last = tried.at(-1)?.outcome
        // A report may come before the relay's answer is stored, and attempts are kept for a shorter time.
        const wasAccepted = last === "accepted" || copy.sent_at !== null
        const source = last === "refused" ? accepters[channel] : wasAccepted ? reporters[channel] : "service"
        return reached(ended, copy.status, { source, error: copy.error })
      }
      case "complained":
        return reached(ended, "complained", { source: "report", error: copy.error })
      default:
        return []
    }
  }
  return [
    ...reached(copy.sent_at, "sent", { source: accepters[channel] }),
    ...reached(copy.delivered_at, "delivered", { source: reporters[channel] }),
    ...reached(copy.opened_at, "opened", { source: "pixel" }),
    ...reached(copy.clicked_at, "clicked", { source: "link" }),
    ...(copy.direction === "in" ? [] : reached(copy.read_at, "read", { source: "whatsapp" })),
    ...ends()
  ]
}

const attemptEntries = (of: Attempt): ReadonlyArray<TimelineEntry> => {
  const { at, attempt, dialogue, duration_ms, next_at, outcome, part, peer, recipient: to, reply, started_at } = of
  return [
    { at: started_at, kind: "claimed", detail: { attempt, part, to } },
    { at, kind: "attempt", detail: { attempt, outcome, to, part, peer, reply, duration_ms, dialogue } },
    ...(next_at === null ? [] : [{ at, kind: "deferred", detail: { attempt, next_at, to } } as const])
  ]
}

/** Events, and what webhooks did with them. */
export const eventEntries = (
  events: ReadonlyArray<PublishedEvent>,
  deliveries: ReadonlyArray<Delivery>
): ReadonlyArray<TimelineEntry> => [
  ...events.map(({ at, event, id }) => ({ at, kind: "event", detail: { id, event } }) as const),
  ...deliveries.map(({ at, ...detail }) => ({ at, kind: "delivery", detail }) as const)
]

/** The oldest first. */
export const inOrder = <Entry extends CodeTimelineEntry>(entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  entries.toSorted((one, other) =>
    one.at < other.at ? -1 : one.at > other.at ? 1 : order.indexOf(one.kind) - order.indexOf(other.kind)
  )

/** Everything that happened to a message, the oldest first. */
export const timelineOf = ({ attempts, channel, copies, deliveries, events }: Facts): ReadonlyArray<TimelineEntry> => {
  const [record] = copies
  const entries: ReadonlyArray<TimelineEntry> = [
    ...(record === undefined ? [] : acceptanceOf(record)),
    ...attempts.flatMap(attemptEntries),
    ...copies.flatMap((copy) =>
      statusesOf(channel, copy, attempts.filter(({ recipient }) => channel !== "email" || recipient === copy.recipient))
    ),
    ...eventEntries(events, deliveries)
  ]
  return inOrder(entries)
}
