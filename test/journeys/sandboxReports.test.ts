import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sendBulk } from "../support/bulkMail.ts"
import { Service } from "../support/Service.ts"
import { makeListener, reaching, sendEmail } from "../support/singleMail.ts"

layer(Service.layer(), { excludeTestServices: true })("sandbox without settings", (it) => {
  it.effect("a batch to the sandbox's special addresses gets their bounces, deliveries and complaints", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key, received } = yield* makeListener(node, ["email.*"])
      const words = ["latebounce", "latemailboxfull", "delayed", "delivered", "complain", "ada"]
      const recipients = words.map((word) => `${word}@people.example`)
      const batch = yield* sendBulk(node, key, { subject: "Hi", html: "<p>Hi</p>", recipients })
      const events = yield* received(words.length + 5 + 1)
      const names = events.filter(({ event }) => event !== "email.bulk_completed").map(({ data, event }) =>
        `${String(data["to"]).split("@")[0]} ${event} ${String(data["bounce_type"] ?? "")}`.trim()
      )
      assert.sameMembers(names, [
        ...words.map((word) => `${word} email.sent`),
        "latebounce email.bounced hard",
        "latemailboxfull email.bounced soft",
        "delayed email.delivery_delayed",
        "delivered email.delivered",
        "complain email.complained"
      ])
      const statuses = yield* node.request("GET", `/v1/email/batches/${batch}/recipients`, { key })
      assert.deepStrictEqual(words.map((_, index) => statuses.at("data", index, "status")), [
        "bounced",
        "bounced",
        "sent",
        "delivered",
        "complained",
        "sent"
      ])
      const suppressed = yield* node.request("GET", "/v1/email/suppressions?sort=email", { key })
      assert.sameMembers([0, 1].map((index) => suppressed.at("data", index, "email")), [
        "latebounce@people.example",
        "complain@people.example"
      ])
      assert.strictEqual(suppressed.at("meta", "total"), 2)
    }))

  it.effect("a single email to several gets a report only for the special address", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeListener(node, ["email.*"])
      const to = ["bob@people.example", "delivered@people.example"]
      const id = yield* sendEmail(node, key, { to, subject: "Hi", text: "Hi" })
      const record = yield* reaching(node, { id, key, statuses: ["delivered"] })
      const recipients = record["recipients"] as ReadonlyArray<{ readonly to: string; readonly status: string }>
      assert.deepStrictEqual(recipients.map(({ status }) => status), ["sent", "delivered"])
    }))
})
