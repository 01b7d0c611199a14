import { dollars } from "../../../pricing/SmsPrice.ts"
import type { MessageId } from "../../../values/Ids.ts"
import type { MessageLabels } from "../../../values/Labels.ts"

interface Sms extends MessageLabels {
  readonly id: MessageId
  readonly segments: number | null
  readonly cost_micros: number | null
}

/** What all events of an SMS say about it. */
export const smsData = ({ cost_micros, failover_id, id, metadata, segments, tags }: Sms) => ({
  channel: "sms" as const,
  message_id: id,
  session_id: null,
  segments: segments ?? 0,
  cost_usd: dollars(cost_micros ?? 0),
  tags,
  metadata,
  failover_id
})
