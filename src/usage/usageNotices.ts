import type { Notice } from "../accounts/notices/Notice.ts"
import type { AccountId } from "../values/Ids.ts"
import { pluralize, thousands } from "../values/messageText.ts"
import type { Crossed, DigestRow } from "./UsageAlertsRepo.ts"
import type { Metric } from "./UsageReport.ts"

/** The singular and the plural. */
const names: Readonly<Record<Metric, readonly [one: string, several: string]>> = {
  email: ["email", "emails"],
  email_sent: ["email accepted by the relay", "emails accepted by the relay"],
  sms: ["SMS", "SMS"],
  sms_segments: ["SMS segment", "SMS segments"],
  whatsapp: ["WhatsApp message", "WhatsApp messages"],
  otp: ["one-time code", "one-time codes"]
}

const ending = "The month is the calendar month in UTC. GET /v1/account/usage shows how much is left."

/** For an account whose usage has passed a threshold. */
export const crossedNotice = ({ account_id: accountId, kind, limit, metric, used }: Crossed): Notice => {
  const [, things] = names[metric]
  switch (kind) {
    case "warning":
      return {
        accountId,
        kind: "quota_warning",
        subject: `80 percent of this month's ${things} are used`,
        body: `${thousands(used)} of the ${thousands(limit)} ${things} that your plan allows in a month are used.\n\n`
          + `Requests above the quota are refused with 402. Ask the operator for a larger plan if you need more.\n\n${ending}`
      }
    case "reached":
      return {
        accountId,
        kind: "quota_reached",
        subject: `This month's ${things} are used up`,
        body:
          `All ${
            thousands(limit)
          } ${things} that your plan allows in a month are used. More are refused with 402 until `
          + `the month ends.\n\nAsk the operator for a larger plan to continue at once.\n\n${ending}`
      }
    case "high_volume":
      return {
        accountId,
        kind: "high_volume",
        subject: "Your account qualifies for volume pricing",
        body:
          `Your account has sent ${thousands(used)} ${things} this month. Above ${
            thousands(limit)
          } in a month you can get `
          + "volume pricing: ask the operator of this service. Sending continues meanwhile."
      }
  }
}

/** An account's usage of the last week. */
export const digestNotice = (accountId: AccountId, rows: ReadonlyArray<DigestRow>): Notice => ({
  accountId,
  kind: "weekly_digest",
  once: `week ${rows[0]?.from ?? ""}`,
  subject: "Your week in numbers",
  body: [
    `From ${rows[0]?.from ?? ""} to ${rows[0]?.to ?? ""} (days in UTC) your account used:`,
    rows.map(({ count, metric }) => pluralize(count, ...names[metric])).join("\n"),
    "You receive this mail because you enabled it. PUT /v1/account/notifications {\"weekly_digest\": false} disables it."
  ].join("\n\n")
})
