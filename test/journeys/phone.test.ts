import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { makeAccount, makeKey, Service } from "../support/Service.ts"

const validate = (number: string) => `/v1/phone/validate?number=${encodeURIComponent(number)}`

layer(Service.layer(), { excludeTestServices: true })("phone number validation", (it) => {
  it.effect("a valid number returns its formats, country and line type", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const answer = yield* request("GET", validate(" +250 (788) 123-456"), { key })
      assert.deepStrictEqual(answer.json, {
        data: {
          input: " +250 (788) 123-456",
          valid: true,
          e164: "+250788123456",
          national_format: "0788 123 456",
          country: "Rwanda",
          country_code: "RW",
          dial_prefix: "+250",
          line_type: "mobile"
        }
      })
    }))

  it.effect("a + that a query turned into a space counts as a +", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const answer = yield* request("GET", "/v1/phone/validate?number=+250788123456", { key })
      assert.deepInclude(answer.at("data"), { input: "+250788123456", valid: true, e164: "+250788123456" })
    }))

  it.effect("unassigned and impossible numbers are invalid, and a missing or overlong number is refused with 422", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { scopes: ["sms:write"], permissions: ["verify:read"] })
      const unassigned = yield* request("GET", validate("+447700900123"), { key })
      assert.deepInclude(unassigned.at("data"), { valid: false, e164: "+447700900123", country_code: "GB" })
      const impossible = yield* request("GET", validate("0788123456"), { key })
      assert.deepInclude(impossible.at("data"), { valid: false, e164: null, country: null, line_type: null })
      assertRefused(yield* request("GET", "/v1/phone/validate", { key }), 422, "validation_error")
      assertRefused(yield* request("GET", validate("1".repeat(101)), { key }), 422, "validation_error")
    }))
})
