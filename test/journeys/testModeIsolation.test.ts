import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { guarded } from "../contract/contract.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { Relay } from "../support/Relay.ts"
import { type Answer, eventually, makeAccount, makeKey, type RunningNode, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const modes = ["live", "test"] as const
type Mode = typeof modes[number]

/** Every name, text and address of a mode has its mark. */
const markOf = (mode: Mode) => `only-${mode}`

const otherOf = (mode: Mode): Mode => mode === "live" ? "test" : "live"

const phones = { live: "+250788100001", test: "+250788200001" }

/** The same requests in either mode. */
const requestsOf = (mode: Mode, url: string): ReadonlyArray<readonly [path: string, json: object]> => {
  const mark = markOf(mode)
  const to = (name: string) => `${mark}-${name}@people.example`
  const mail = { subject: mark, html: `<p>${mark}</p>` }
  return [
    ["/v1/webhooks", { url, events: ["*"] }],
    ["/v1/email/templates", { name: mark, ...mail }],
    ["/v1/email/domains", { domain: `${mark}.example` }],
    ["/v1/email/suppressions", { email: to("left") }],
    ["/v1/whatsapp/sessions", { name: mark }],
    ["/v1/email/send", { ...mail, to: to("single"), tags: [mark] }],
    ["/v1/email/send-bulk", { ...mail, recipients: [to("bulk"), to("left")] }],
    ["/v1/sms/send", { to: phones[mode], content: mark }],
    ["/v1/sms/send-bulk", { recipients: [phones[mode]], content: mark }],
    ["/v1/verify/send", { to: to("code"), channel: "email" }],
    ["/v1/messages", { to: { email: to("step") }, steps: [{ channel: "email", ...mail, until: "sent" }] }]
  ]
}

const rowsOf = (answer: Answer) => {
  const rows = answer.at("data")
  return Array.isArray(rows) ? rows.map((row) => Object(row) as Readonly<Record<string, unknown>>) : []
}

/** What identifies the rows of a list. Figures and prices have nothing of this. */
const idsOf = (answer: Answer | undefined) =>
  answer === undefined ? [] : rowsOf(answer).flatMap(({ batch_id, href, id = batch_id }) => href ?? id ?? [])

/** The sum of a list's figures that have these fields. */
const sumOf = (answer: Answer | undefined, fields: Readonly<Record<string, string>>) =>
  (answer === undefined ? [] : rowsOf(answer))
    .filter((row) => Object.entries(fields).every(([name, value]) => row[name] === value))
    .reduce((sum, { count }) => sum + Number(count), 0)

/** Endpoints that read what a key owns. Keys, members and pages of the account itself belong to both modes. */
const readers = guarded.filter(({ method, path, rule }) =>
  method === "GET" && rule.mode === undefined && !["/v1/api-keys", "/v1/phone/validate"].includes(path)
)
const lists = readers.filter(({ path }) => !path.includes(":"))
const details = readers.filter(({ path }) => path.split(":").length === 2)

/** The value of a path's parameter in a row of the list before it. */
const parameterIn = (path: string, rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => {
  const name = /:([a-z_]+)/.exec(path)?.[1] ?? ""
  return rows.map((row) => row[name] ?? (name === "failover_id" ? null : row["id"])).find((value) =>
    value !== undefined && value !== null
  )
}

const readAll = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const answers = yield* Effect.forEach(
    lists,
    ({ path }) => Effect.map(node.request("GET", path, { key }), (answer) => [path, answer] as const)
  )
  return new Map(answers)
})

layer(Relay.layer({ env: { SANDBOX_SMS_DELAY_MS: "50" } }), { excludeTestServices: true })(
  "a live and a test key side by side",
  (it) => {
    it.effect("the same journey with both keys shows in no list, record, export, usage figure, price or webhook of the other key", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key: live } = yield* makeAccount()
        const keys = { live, test: (yield* makeKey(accountId, { mode: "test" })).key }
        const receivers = { live: yield* makeWebhookReceiver(), test: yield* makeWebhookReceiver() }
        // The modes take turns.
        const all = { live: requestsOf("live", receivers.live.url), test: requestsOf("test", receivers.test.url) }
        for (const index of all.live.keys()) {
          for (const mode of modes) {
            const [path, json] = all[mode][index] ?? ["", {}]
            const { status, text } = yield* node.request("POST", path, { key: keys[mode], json })
            assert.include([201, 202], status, `${path} ${mode} ${text}`)
          }
        }
        for (const mode of modes) {
          yield* eventually(
            node.request("GET", "/v1/messages", { key: keys[mode] }),
            (answer) =>
              rowsOf(answer).length >= 7 &&
              rowsOf(answer).every(({ status }) => status !== "queued" && status !== "processing")
          )
          const names = () => receivers[mode].requests.map(({ body }) => String(JSON.parse(body.toString()).event))
          yield* eventually(
            Effect.sync(names),
            (found) =>
              ["email.sent", "email.bulk_completed", "message.delivered", "message.sent"].every((name) =>
                found.includes(name)
              )
          )
        }

        const read = { live: yield* readAll(node, keys.live), test: yield* readAll(node, keys.test) }
        assert.isAtLeast(lists.length, 20)
        let compared = 0
        for (const mode of modes) {
          const other = otherOf(mode)
          for (const [path, answer] of read[mode]) {
            assert.strictEqual(answer.status, 200, `${path} ${answer.text}`)
            assert.notInclude(answer.text, markOf(other), `${path} of ${mode}`)
            assert.notInclude(answer.text, phones[other].slice(1), `${path} of ${mode}`)
            // Rows without a mark: a list that ignores the mode shows the same ones to both keys.
            const ids = idsOf(answer)
            const others = idsOf(read[other].get(path))
            assert.deepStrictEqual(ids.filter((id) => others.includes(id)), [], `${path} of ${mode}`)
            const rows = rowsOf(answer).length
            assert.strictEqual(answer.at("meta", "total") ?? rows, rows, `total of ${path} of ${mode}`)
          }
          for (const path of ["messages", "email/messages", "email/batches", "sms/messages", "sms/batches"]) {
            const answer = read[mode].get(`/v1/${path}`)
            const shown = answer === undefined ? [] : rowsOf(answer).map((row) => row["mode"])
            assert.deepStrictEqual([...new Set(shown)], [mode], path)
          }
          for (const { path } of details) {
            const rows = read[mode].get(path.slice(0, path.indexOf("/:")))
            const value = rows === undefined ? undefined : parameterIn(path, rowsOf(rows))
            if (value === undefined) continue
            const own = path.replace(/:[a-z_]+/, encodeURIComponent(String(value)))
            const mine = yield* node.request("GET", own, { key: keys[mode] })
            const theirs = yield* node.request("GET", own, { key: keys[other] })
            assert.notStrictEqual(mine.status, 404, `${own} is in the list of ${mode}`)
            if (mine.status !== 200) continue
            assert.strictEqual(theirs.status, 404, `${own} of ${mode}: ${theirs.text}`)
            compared++
          }
          // Figures of both modes together would be twice these.
          const figures = [
            sumOf(read[mode].get("/v1/account/stats"), { channel: "email", outcome: "accepted" }),
            sumOf(read[mode].get("/v1/account/usage/daily"), { metric: "email" }),
            sumOf(read[mode].get("/v1/account/usage/daily"), { metric: "sms" })
          ]
          assert.deepStrictEqual(figures, [4, 4, 2], mode)
          const bodies = receivers[mode].requests.map(({ body }) => body.toString())
          assert.deepStrictEqual([...new Set(bodies.map((body) => JSON.parse(body).mode))], [mode])
          for (const body of bodies) assert.notInclude(body, markOf(other))
        }
        assert.isAtLeast(compared, 2 * 10)
        // The files of the console have the rows of one mode.
        const { cookie } = yield* signedInAs(accountId, "owner")
        for (const mode of modes) {
          const base = `/console/${accountId}${mode === "test" ? "/test" : ""}`
          const file = (page: string) => node.request("GET", `${base}${page}?format=csv`, { headers: { cookie } })
          const messages = yield* file("/messages")
          assert.match(messages.headers["content-type"] ?? "", /^text\/csv/)
          assert.include(messages.text, markOf(mode))
          assert.notInclude(messages.text, markOf(otherOf(mode)))
          assert.notInclude(messages.text, phones[otherOf(mode)].slice(1))
          const used = (yield* file("/usage")).text.split("\r\n").map((line) => line.split(","))
          const emails = used.filter(([, metric]) => metric === "email").map(([, , count]) => Number(count))
          assert.strictEqual(emails.reduce((sum, count) => sum + count, 0), 4, mode)
        }
        const amount = (mode: Mode) => Number(read[mode].get("/v1/account/billing")?.at("data", "amount_usd"))
        assert.isTrue(amount("live") > 0 && amount("test") === 0)
      }))
  }
)
