/**
 * One account asks for much more than the node can send. The peers have a set pace, at which its backlog takes minutes, so
 * the order of what arrives shows who waits for whom, on a machine of any speed.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { sendBulk } from "../support/bulkMail.ts"
import { sendCode } from "../support/codes.ts"
import { Relay } from "../support/Relay.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { eventually, makeAccount, Service, startNode } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import { freshNumber, sendSms } from "../support/sms.ts"
import { makeSmsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

const mail = { subject: "s", text: "t" }

const addresses = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}@people.example`)

const unpaced = { OTP_RESEND_SECONDS: "0", OTP_LIMIT_PREFIX: "10000" }

layer(Relay.layer({ env: { SMTP_CONNECTIONS: "4", ...unpaced } }), {
  excludeTestServices: true
})("a relay that one account floods", (it) => {
  it.effect("gets another account's code, notice, email and batch among the next mails", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      // At most 20 mails a second.
      yield* sink.play(() => ({ at: "never", delayMillis: 200 }))
      const busy = yield* makeAccount()
      const quiet = yield* makeAccount({ email: "owner@people.example" })
      for (let n = 0; n < 30; n++) {
        yield* sendEmail(node, busy.key, { ...mail, to: addresses(`busy${n}-`, 50) })
      }
      yield* Effect.forEach(
        addresses("busycode", 100),
        (to) => sendCode(node, { key: busy.key, json: { to, channel: "email" } }),
        { concurrency: 8 }
      )
      for (let n = 0; n < 4; n++) {
        const recipients = addresses(`busybulk${n}-`, 500)
        yield* sendBulk(node, busy.key, { subject: "s", html: "h", recipients })
      }
      yield* sink.until(({ messages }) => messages.length >= 10)
      const isOf = (to: string) => (arrived: { readonly to: ReadonlyArray<string> }) => arrived.to.includes(to)
      /** How many mails arrive between the acceptance of a mail and its arrival. */
      const waits = Effect.fnUntraced(function*<A, E, R>(to: string, accept: Effect.Effect<A, E, R>) {
        yield* accept
        const before = sink.messages.length
        const { messages } = yield* sink.until(({ messages }) => messages.some(isOf(to)))
        return messages.findIndex(isOf(to)) - before
      })
      const json = { to: "code@people.example", channel: "email" }
      assert.isBelow(yield* waits(json.to, sendCode(node, { key: quiet.key, json })), 60)
      const single = { ...mail, to: "single@people.example" }
      assert.isBelow(yield* waits(single.to, sendEmail(node, quiet.key, single)), 120)
      const bulk = { subject: "s", html: "h", recipients: ["bulk@people.example"] }
      assert.isBelow(yield* waits("bulk@people.example", sendBulk(node, quiet.key, bulk)), 120)
      const forgotten = node.request("POST", "/v1/auth/password/forgot", { json: { email: "owner@people.example" } })
      assert.isBelow(yield* waits("owner@people.example", forgotten), 120)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a relay that hangs up on the mail of one account",
  (it) => {
    it.effect("gets another account's mail at once", () =>
      Effect.gen(function*() {
        const relay = yield* ScriptedSmtp.make({
          command: (line) => line.startsWith("RCPT TO:<poison") ? "close" : undefined
        })
        const node = yield* startNode({ smtpPort: relay.port })
        const [busy, quiet] = yield* Effect.all([makeAccount(), makeAccount()])
        const poisoned = () => relay.commands.filter((line) => line.includes("RCPT TO:<poison")).length
        for (const to of addresses("poison", 6)) yield* sendEmail(node, busy.key, { ...mail, to })
        // The account's circuit opens at the second, and stays open for 16 seconds after the sixth.
        yield* relay.until(() => poisoned() >= 6, longer.turn)
        const paused = performance.now()
        yield* sendEmail(node, quiet.key, { ...mail, to: "ann@people.example" })
        yield* relay.until(() => relay.bodies.length === 1)
        assert.isBelow(performance.now() - paused, 15_000)
        assert.deepStrictEqual(node.logs.filter((line) => line.includes("SMTP relay unavailable")), [])
      }))
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a carrier that one account floods",
  (it) => {
    it.effect("gets another account's code, SMS and batch among the next submits", () =>
      Effect.gen(function*() {
        const smsc = yield* makeSmsc()
        const env = { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url, SMPP_MAX_PER_SECOND: "20", ...unpaced }
        const node = yield* startNode({ env })
        const [busy, quiet] = yield* Effect.all([makeAccount(), makeAccount()])
        const text = { content: "Hello" }
        const numbers = (count: number) => Array.from({ length: count }, freshNumber)
        const sendMany = (key: string, recipients: ReadonlyArray<string>) =>
          node.request("POST", "/v1/sms/send-bulk", {
            key,
            json: { ...text, recipients: recipients.map((to) => ({ to })) }
          })
        yield* sendMany(busy.key, numbers(500))
        yield* Effect.forEach(numbers(100), (to) => sendSms(node, busy.key, { ...text, to }), { concurrency: 16 })
        yield* Effect.forEach(numbers(100), (to) => sendCode(node, { key: busy.key, json: { to } }), { concurrency: 8 })
        yield* eventually(Effect.sync(() => smsc.submits.length), (count) => count > 10)
        /** How many parts are submitted between the acceptance of an SMS and its submit. */
        const waits = Effect.fnUntraced(function*<A, E, R>(number: string, accept: Effect.Effect<A, E, R>) {
          yield* accept
          const before = smsc.submits.length
          const find = Effect.sync(() => smsc.submits.findIndex(({ to }) => `+${to}` === number))
          return (yield* eventually(find, (index) => index >= 0)) - before
        })
        const [code = "", single = "", bulk = ""] = numbers(3)
        assert.isBelow(yield* waits(code, sendCode(node, { key: quiet.key, json: { to: code } })), 40)
        assert.isBelow(yield* waits(single, sendSms(node, quiet.key, { ...text, to: single })), 60)
        assert.isBelow(yield* waits(bulk, sendMany(quiet.key, [bulk])), 100)
      }))
  }
)

layer(Service.layer(), { excludeTestServices: true })(
  "a host whose endpoints of one account hang",
  (it) => {
    it.effect("gets another account's deliveries at once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const [busy, quiet] = yield* Effect.all([makeAccount(), makeAccount()])
        const [hanging, quick] = yield* Effect.all([makeWebhookReceiver({ script: ["hang"] }), makeWebhookReceiver()])
        for (let n = 0; n < 12; n++) {
          yield* create(node, busy.key, { url: `${hanging.url}/${n}`, events: ["email.sent"] })
        }
        yield* create(node, quiet.key, { url: `${quick.url}/hook`, events: ["email.sent"] })
        yield* sendBulk(node, busy.key, { subject: "s", html: "h", recipients: addresses("busy", 20) })
        yield* hanging.received(20)
        yield* eventually(sql`select count(*)::int as n from webhook_queue`, ([row]) => Number(row?.["n"]) >= 200)
        yield* sendEmail(node, quiet.key, { ...mail, to: "ann@people.example" })
        yield* quick.received(1)
        // By age, it would come after all 96 that may be in flight.
        assert.isBelow(hanging.requests.length, 60)
      }))
  }
)
