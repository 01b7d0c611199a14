import { countersBy } from "./series.ts"

const channels = ["email", "sms", "whatsapp"] as const

/** A channel of messages, as a label. */
export type CountedChannel = (typeof channels)[number]

/** What a provider calls a failure is its own text. It counts as `refused` unless it is one of these. */
const failures = {
  email: ["bounced_hard", "bounced_soft", "outcome_unknown", "unsendable", "refused"],
  sms: ["deleted", "expired", "outcome_unknown", "rejected", "undeliverable", "refused"],
  whatsapp: [
    "content_gone",
    "group_unknown",
    "media",
    "not_acknowledged",
    "not_composed",
    "recipient_not_on_whatsapp",
    "session_deleted",
    "session_logged_out",
    "refused"
  ]
} as const satisfies Readonly<Record<CountedChannel, ReadonlyArray<string>>>

const byChannel = (name: string, description: string) =>
  countersBy({ name, description, label: "channel", values: channels })

const failuresOf = (channel: CountedChannel) => {
  const values: ReadonlyArray<string> = failures[channel]
  const count = countersBy({
    name: "messages_failed_total",
    description: "Messages that failed for good, by channel and reason",
    label: "reason",
    values,
    fixed: { channel }
  })
  return (code: string) =>
    count(values.includes(code) ? code : code.startsWith("media_") && channel === "whatsapp" ? "media" : "refused")
}

const failed = { email: failuresOf("email"), sms: failuresOf("sms"), whatsapp: failuresOf("whatsapp") }

/**
 * Counters of messages on this node. Call them after the commit, so that a rolled-back change does not count. A recipient of
 * an email is one message; notices to owners do not count.
 */
export const MessageMetrics = {
  accepted: byChannel("messages_accepted_total", "Messages that were accepted and queued, by channel"),
  sent: byChannel("messages_sent_total", "Messages that a relay, a carrier or WhatsApp has accepted, by channel"),
  delivered: byChannel("messages_delivered_total", "Messages that are reported as delivered, by channel"),
  complained: byChannel("messages_complained_total", "Messages that their recipients marked as spam, by channel"),
  /** The code may be any text of a provider. */
  failed: (channel: CountedChannel, code: string) => failed[channel](code)
} as const
