/** Checks sending and reports against a real mail server, which writes the reports itself. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import { dkimKey, dkimVerdict, ended, insertDomain, sendBulk } from "../support/bulkMail.ts"
import { deliverMail } from "../support/deliverMail.ts"
import { freePort } from "../support/freePort.ts"
import { hasPostfix, type Postfix, type PostfixOptions, startPostfix } from "../support/Postfix.ts"
import { postfixDsn } from "../support/reports.ts"
import { makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { makeListener, sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const bounceDomain = "bounces.example.com"

interface Post {
  readonly node: RunningNode
  readonly postfix: Postfix
}

/** A node whose relay is a Postfix that routes the bounce domain to the node's own listener. */
const startPost = Effect.fnUntraced(function*(options: PostfixOptions) {
  const bouncePort = yield* freePort
  const routes = { [bounceDomain]: bouncePort, ...options.routes }
  const postfix = yield* startPostfix({ ...options, routes })
  const node = yield* startNode({
    smtpPort: postfix.port,
    env: { MAIL_BOUNCE_DOMAIN: bounceDomain, BOUNCE_PORT: String(bouncePort), LOG_LEVEL: "debug" }
  })
  return { node, postfix } satisfies Post
})

interface Sending {
  /** Recipients of one batch. */
  readonly recipients: ReadonlyArray<string>
  /** Recipients of one single email each. */
  readonly singles?: ReadonlyArray<string>
  /** Number of events besides those of sending. */
  readonly reportEvents: number
  readonly reports: number
}

/**
 * Sends a batch and single emails, waits until the listener has accepted this many reports, and returns the outcome.
 * Needs a separate Postfix, because reports about other mails would be counted.
 */
const sendAndAwaitReports = Effect.fnUntraced(function*(
  { node, postfix }: Post,
  { singles = [], reportEvents, recipients, reports }: Sending
) {
  const { accountId, key, received } = yield* makeListener(node, ["email.*"])
  const content = { subject: "Order 7", html: "<p>x</p>" }
  const batch = yield* sendBulk(node, key, { ...content, recipients })
  const ids = yield* Effect.forEach(singles, (to) => sendEmail(node, key, { ...content, to }))
  const done = yield* ended(node, key, batch)
  assert.deepInclude(done.at("data"), { total: recipients.length, sent: recipients.length, failed: 0 })
  yield* postfix.logged(/to=<b\+[a-z2-7]{32}@bounces\.example\.com>.* status=sent/, reports)
  const events = yield* received(recipients.length + 1 + singles.length + reportEvents)
  const listed = yield* node.request("GET", `/v1/email/batches/${batch}/recipients`, { key })
  const rows = recipients.map((_, index) => listed.at("data", index))
  const records = yield* Effect.forEach(
    ids,
    (id) => Effect.map(node.request("GET", `/v1/email/messages/${id}`, { key }), ({ at }) => Object(at("data")))
  )
  const eventsOf = (to: string) => events.filter(({ data }) => data["to"] === to)
  return { accountId, batch, rows, records, eventsOf }
})

class Relaying extends Context.Service<Relaying, Post & { readonly sink: SmtpSink.SmtpSink }>()(
  "messaging-service/test/journeys/postfix.test/Relaying"
) {
  static readonly layer = Layer.effect(
    Relaying,
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
      const post = yield* startPost({
        routes: { "people.example": sink.port },
        mailboxes: "mailboxes.example",
        settings: `virtual_alias_domains = aliases.example
virtual_alias_maps = inline:{ { team@aliases.example = here@mailboxes.example, bounce-ben@people.example } }`
      })
      return { ...post, sink }
    })
  ).pipe(Layer.provideMerge(TestDatabase.layer))
}

/** The documented lines of main.cf for a mail server in front of the listener, pointing to this port. */
const documentedFront = (port: number) => {
  const text = NodeFs.readFileSync(new URL("../../docs/email/bounces.md", import.meta.url), "utf8")
  const [lines = ""] = /^relay_domains = (?:.+\n)+?(?=```)/m.exec(text) ?? []
  assert.include(lines, "smtp:[10.0.0.5]:2525")
  return lines.replace("[10.0.0.5]:2525", `[127.0.0.1]:${port}`)
}

describe.skipIf(!hasPostfix)("Postfix (Debian's postfix, as root; skipped where it is missing)", () => {
  layer(Relaying.layer, { excludeTestServices: true })("Postfix as the relay", (it) => {
    it.effect("its reports of deliveries, failures and delays become events, its reports of relaying do not", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const post = yield* Relaying
        const people = {
          fine: "ada+shop@mailboxes.example",
          gone: "bounce@people.example",
          full: "full@people.example",
          late: "defer999@people.example",
          elsewhere: "elsewhere@people.example",
          team: "team@aliases.example"
        }
        const singles = {
          fine: "ada+alone@mailboxes.example",
          gone: "bounce-alone@people.example",
          late: "defer998@people.example"
        }
        const { accountId, batch, eventsOf, records, rows } = yield* sendAndAwaitReports(post, {
          recipients: Object.values(people),
          singles: Object.values(singles),
          reportEvents: 5 + 3,
          reports: 7 + 3
        })
        for (const to of Object.values(people)) {
          assert.deepInclude(eventsOf(to).find(({ event }) => event === "email.sent")?.data, { batch_id: batch, to })
        }
        const eventNamesOf = (to: string) => eventsOf(to).map(({ data, event }) => [event, data["batch_id"]])
        assert.sameDeepMembers(eventNamesOf(singles.fine), [["email.sent", null], ["email.delivered", null]])
        assert.sameDeepMembers(eventNamesOf(singles.gone), [["email.sent", null], ["email.bounced", null]])
        assert.sameDeepMembers(eventNamesOf(singles.late), [["email.sent", null], ["email.delivery_delayed", null]])
        const refusal = { bounce_type: "hard", error: "550 5.1.1 no such user" }
        assert.deepInclude(eventsOf(singles.gone).find(({ event }) => event === "email.bounced")?.data, refusal)
        assert.deepInclude(records[0], { status: "delivered", bounce_type: null, error: null })
        assert.deepInclude(records[1], { status: "bounced", ...refusal })
        const delay = { status: "sent", delivered_at: null, bounce_type: null, error: "450 4.2.1 try again later" }
        assert.deepInclude(records[2], delay)
        const reportEvents = (to: string) => eventsOf(to).filter(({ event }) => event !== "email.sent")
        assert.deepStrictEqual(reportEvents(people.fine).map(({ event }) => event), ["email.delivered"])
        assert.deepStrictEqual(reportEvents(people.late).map(({ event }) => event), ["email.delivery_delayed"])
        assert.deepStrictEqual(reportEvents(people.elsewhere), [])
        const [gone, full, team] = [reportEvents(people.gone), reportEvents(people.full), reportEvents(people.team)]
        assert.deepStrictEqual([gone, full, team].map((events) => events.map(({ event }) => event)), [
          ["email.bounced"],
          ["email.bounced"],
          ["email.bounced"]
        ])
        assert.deepInclude(gone[0]?.data, { bounce_type: "hard", error: "550 5.1.1 no such user", batch_id: batch })
        assert.deepInclude(full[0]?.data, { bounce_type: "soft", error: "552 5.2.2 mailbox full", batch_id: batch })
        assert.deepInclude(team[0]?.data, { bounce_type: "hard", error: "550 5.1.1 no such user", batch_id: batch })
        assert.deepStrictEqual(rows.map((row) => Reflect.get(Object(row), "status")), [
          "delivered",
          "bounced",
          "bounced",
          "sent",
          "sent",
          "bounced"
        ])
        yield* post.postfix.logged(/sender delay notification/, 2)
        // Not the alias address: one of its two members bounced, the other one has the mail.
        const suppressed = yield* sql`select email, reason from suppressions where account_id = ${accountId}`
        assert.sameDeepMembers(
          [...suppressed],
          [singles.gone, people.gone].map((email) => ({ email, reason: "bounce" }))
        )
      }))

    it.effect("a signature stays valid after Postfix has added its Received header", () =>
      Effect.gen(function*() {
        const { node, sink } = yield* Relaying
        const { accountId, key } = yield* makeAccount()
        yield* insertDomain(accountId, "news.example", { key: dkimKey.pem })
        const to = "signed@people.example"
        yield* sendBulk(node, key, {
          subject: "Große Grüße ".repeat(20),
          html: `<p>${"long ".repeat(400)}</p>\n.\n..\n`,
          text: ".\nFrom here \t\n\n\n",
          from: "hello@news.example",
          recipients: [to]
        })
        yield* sink.until(({ deliveries }) => deliveries.has(to))
        const raw = sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0)
        assert.match(raw.toString("latin1"), /^Received: from .*\r\n(?:\s.*\r\n)*DKIM-Signature: /)
        assert.deepStrictEqual(yield* dkimVerdict(raw), { result: "pass", domain: "news.example" })
      }))
  })

  layer(TestDatabase.layer, { excludeTestServices: true })(
    "Postfix with other settings",
    (it) => {
      it.effect(
        "a mail that Postfix gives up on when its queue lifetime is over is a soft bounce",
        () =>
          Effect.gen(function*() {
            const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
            const routes = { "people.example": sink.port, "nowhere.example": yield* freePort }
            const post = yield* startPost({ routes, settings: "maximal_queue_lifetime = 0" })
            const { eventsOf } = yield* sendAndAwaitReports(post, {
              recipients: ["defer999@people.example", "ada@nowhere.example"],
              reportEvents: 2,
              reports: 2
            })
            const bounces = ["defer999@people.example", "ada@nowhere.example"].map((to) =>
              eventsOf(to).find(({ event }) => event === "email.bounced")?.data
            )
            assert.deepInclude(bounces[0], { bounce_type: "soft", error: "450 4.2.1 try again later" })
            assert.deepInclude(bounces[1], { bounce_type: "soft" })
            assert.match(String(bounces[1]?.["error"]), /^connect to 127\.0\.0\.1.*: Connection refused$/)
          })
      )

      it.effect(
        "Postfix with the documented settings in front of the listener refuses what the listener refuses",
        () =>
          Effect.gen(function*() {
            const bouncePort = yield* freePort
            const sink = yield* SmtpSink.make()
            const node = yield* startNode({
              smtpPort: sink.port,
              env: { MAIL_BOUNCE_DOMAIN: bounceDomain, BOUNCE_PORT: String(bouncePort) }
            })
            const settings = `mynetworks = 192.0.2.1/32\n${documentedFront(bouncePort)}`
            const front = yield* startPostfix({ routes: {}, settings })
            const { key } = yield* makeAccount()
            const to = "ada@people.example"
            const batch = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: [to] })
            yield* ended(node, key, batch)
            const returnPath = sink.messages[0]?.from ?? ""
            const forged = `b+${"a".repeat(32)}@${bounceDomain}`
            const refused = yield* deliverMail(front.port, forged, postfixDsn({ returnPath: forged, to }))
            assert.strictEqual(refused.code, 550, refused.text)
            const relayed = yield* deliverMail(front.port, to, postfixDsn({ returnPath, to }))
            assert.strictEqual(relayed.code, 554, relayed.text)
            const taken = yield* deliverMail(front.port, returnPath, postfixDsn({ returnPath, to }))
            assert.strictEqual(taken.code, 250, taken.text)
            yield* front.logged(/status=sent \(250 2\.0\.0 Noted/)
            const { at } = yield* node.request("GET", `/v1/email/batches/${batch}/recipients`, { key })
            assert.strictEqual(at("data", 0, "status"), "bounced")
          })
      )
    }
  )
})
