import { assert, it } from "@effect/vitest"
import { PlanLimitExceeded } from "../../../src/platform/http/ApiErrors.ts"

it("a plan's limit is told in words, for one and for several, of every resource", () => {
  const told = [
    new PlanLimitExceeded({ limit: 1, current: 1, resource: "whatsapp_sessions" }),
    new PlanLimitExceeded({ limit: 2, current: 2, resource: "api_keys" }),
    new PlanLimitExceeded({ limit: 1, current: 1, resource: "otp", per: "month" }),
    new PlanLimitExceeded({ limit: 500, current: 499, resource: "sms", per: "month" })
  ]
  assert.deepStrictEqual(told.map(({ message }) => message.replace(/ Choose.*/, "")), [
    "Your plan allows 1 WhatsApp session and you have 1.",
    "Your plan allows 2 API keys and you have 2.",
    "Your plan allows 1 one-time code a month and 1 is used.",
    "Your plan allows 500 SMS a month and 499 are used."
  ])
})
