import { assert, it } from "@effect/vitest"
import { EmailQuotaExceeded } from "../../../src/accounts/AccountErrors.ts"
import { PlanLimitExceeded, RateLimitExceeded } from "../../../src/platform/http/ApiErrors.ts"
import { OtpLimitReached, VerificationBlocked } from "../../../src/verify/VerifyErrors.ts"

it("the message of a plan's limit has singular and plural for every resource", () => {
  const told = [
    new PlanLimitExceeded({ limit: 1, current: 1, resource: "whatsapp_sessions" }),
    new PlanLimitExceeded({ limit: 2, current: 2, resource: "api_keys" }),
    new PlanLimitExceeded({ limit: 1, current: 1, resource: "otp", per: "month" }),
    new PlanLimitExceeded({ limit: 500, current: 499, resource: "sms", per: "month" })
  ]
  assert.deepStrictEqual(told.map(({ message }) => message.replace(/ Ask the operator.*/, "")), [
    "Your plan allows 1 WhatsApp session and you have 1.",
    "Your plan allows 2 API keys and you have 2.",
    "Your plan allows 1 one-time code a month and 1 is used.",
    "Your plan allows 500 SMS a month and 499 are used."
  ])
})

it("refusals with counts have singular and plural, with thousands separators", () => {
  const mails = [
    new EmailQuotaExceeded({ limit: 1, current: 1, resource: "emails" }),
    new EmailQuotaExceeded({ limit: 5000, current: 4990, resource: "emails" })
  ]
  assert.deepStrictEqual(mails.map(({ message }) => message.replace(/, and .*/, "")), [
    "Your plan allows 1 email a month, 1 is used",
    "Your plan allows 5,000 emails a month, 4,990 are used"
  ])
  const waits = [
    new RateLimitExceeded({ limit: 1, retry_after: 1 }),
    new OtpLimitReached({ reason: "resend_cool_down", limit: 1, retry_after: 1 }),
    new VerificationBlocked({ retry_after: 1 })
  ]
  for (const { message } of waits) assert.match(message, / 1 second[.,]/)
  assert.strictEqual(
    new RateLimitExceeded({ limit: 1, retry_after: 59 }).message,
    "The limit of 1 request per minute is reached. Try again in 59 seconds."
  )
})
