import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { connectedSession } from "../contract/samples.ts"
import { type Answer, makeAccount, Service } from "../support/Service.ts"

/** Each endpoint with a phone number in its body: the body, and where its answer has the number. */
const bodies: ReadonlyArray<
  readonly [path: string, body: (to: string, session_id: number) => object, shown: (answer: Answer) => unknown]
> = [
  ["/v1/sms/send", (to) => ({ to, content: "Hello" }), ({ at }) => at("data", "to")],
  ["/v1/whatsapp/send", (to, session_id) => ({ session_id, to, content: "Hello" }), ({ at }) => at("data", "to")],
  ["/v1/verify/send", (to) => ({ to }), ({ at }) => at("data", "to")],
  [
    "/v1/messages",
    (phone) => ({ to: { phone }, steps: [{ channel: "sms", content: "Hello" }] }),
    ({ at }) => at("data", "to", "phone")
  ],
  [
    "/v1/messages",
    (to) => ({ to: {}, steps: [{ channel: "sms", content: "Hello", to }] }),
    ({ at }) => at("data", "steps", 0, "to")
  ],
  [
    "/v1/messages",
    (to, session_id) => ({ to: {}, steps: [{ channel: "whatsapp", session_id, content: "Hello", to }] }),
    ({ at }) => at("data", "steps", 0, "to")
  ]
]

/** The same of batches, whose recipients are in the list of messages. */
const batches: ReadonlyArray<readonly [path: string, body: (to: string, session_id: number) => object]> = [
  ["/v1/sms/send-bulk", (to) => ({ recipients: [to], content: "Hello" })],
  ["/v1/sms/send-bulk", (to) => ({ recipients: [{ to, variables: {} }], content: "Hello" })],
  ["/v1/whatsapp/send-bulk", (to, session_id) => ({ session_id, recipients: [to], content: "Hello" })]
]

/** Without their country code, or in the form of a telephone that dials abroad. */
const refused = ["00250788123456", "0788123456", "0 788 123 456"]

layer(Service.layer(), { excludeTestServices: true })("fields that are phone numbers", (it) => {
  it.effect("every body takes them with and without their plus, answers with it, and refuses other forms with 422", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const session = yield* connectedSession(request, key)
      let last = 788_200_000
      for (const [path, body, shown] of bodies) {
        for (const plus of ["+", ""]) {
          const number = `250${++last}`
          const answer = yield* request("POST", path, { key, json: body(`${plus}${number}`, session) })
          assert.isBelow(answer.status, 300, `${path} ${answer.text}`)
          assert.strictEqual(shown(answer), `+${number}`, path)
        }
        for (const to of refused) {
          assertRefused(yield* request("POST", path, { key, json: body(to, session) }), 422, "validation_error")
        }
      }
      for (const [path, body] of batches) {
        for (const plus of ["+", ""]) {
          const number = `250${++last}`
          const answer = yield* request("POST", path, { key, json: body(`${plus}${number}`, session) })
          assert.strictEqual(answer.status, 202, `${path} ${answer.text}`)
          const list = yield* request("GET", `/v1/messages?batch_id=${String(answer.at("data", "batch_id"))}`, { key })
          assert.strictEqual(list.at("data", 0, "to"), `+${number}`, path)
        }
        for (const to of refused) {
          assertRefused(yield* request("POST", path, { key, json: body(to, session) }), 422, "validation_error")
        }
      }
    }))

  it.effect("every query takes them with a plus, without one, and with the space that a plus becomes", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const session_id = yield* connectedSession(request, key)
      const to = "+250788123456"
      for (
        const [path, json] of [
          ["/v1/sms/send", { to, content: "Hello" }],
          ["/v1/whatsapp/send", { session_id, to, content: "Hello" }],
          ["/v1/verify/send", { to }]
        ] as const
      ) assert.isBelow((yield* request("POST", path, { key, json })).status, 300, path)
      // A code is an SMS, too.
      const counts = { "/v1/sms/messages": 2, "/v1/whatsapp/messages": 1, "/v1/verify/status": 1, "/v1/messages": 3 }
      for (const [path, count] of Object.entries(counts)) {
        for (const form of ["%2B250788123456", "+250788123456", "%20250788123456", "250788123456"]) {
          const list = yield* request("GET", `${path}?to=${form}`, { key })
          assert.lengthOf(Object(list.at("data")), count, `${path} ${form} ${list.text}`)
          assert.strictEqual(list.at("data", 0, "to"), to)
        }
        if (path === "/v1/messages") continue
        for (const form of refused) {
          const list = yield* request("GET", `${path}?to=${encodeURIComponent(form)}`, { key })
          assertRefused(list, 422, "validation_error")
        }
      }
    }))
})
