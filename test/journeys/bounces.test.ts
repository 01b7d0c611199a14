import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { deliverFrom, deliverMail } from "../support/deliverMail.ts"
import { arf, autoReply, exchangeDsn, gmailDsn, postfixDsn, type ReportedMail, yahooDsn } from "../support/reports.ts"
import { eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const bounceSettings = { MAIL_BOUNCE_DOMAIN: "bounces.example", BOUNCE_PORT: "0", LOG_LEVEL: "debug" }

/** Port of the node's bounce listener. */
const bouncePortOf = (node: RunningNode) =>
  Effect.map(
    node.logged("bounces and complaints for"),
    (line) => Number(/ on [\d.]+:(\d+)/.exec(line)?.[1])
  )

interface MailFrom {
  readonly address: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A node with a bounce listener, whose relay supports DSN and accepts every mail. */
class Post extends Context.Service<Post, {
  readonly node: RunningNode
  readonly sink: SmtpSink.SmtpSink
  readonly port: number
  /** Envelope senders with their DSN parameters, in order. */
  readonly senders: ReadonlyArray<MailFrom>
}>()("messaging-service/test/journeys/bounces.test/Post") {
  static readonly layer = Layer.effect(
    Post,
    Effect.gen(function*() {
      const senders: Array<MailFrom> = []
      const sink = yield* SmtpSink.make({
        server: {
          hideDSN: false,
          onMailFrom: ({ address, args }, _session, done) => {
            senders.push({ address, parameters: args === false ? {} : args })
            done()
          }
        }
      })
      const node = yield* startNode({ smtpPort: sink.port, env: bounceSettings })
      return { node, sink, senders, port: yield* bouncePortOf(node) }
    })
  ).pipe(Layer.provideMerge(TestDatabase.layer))
}

const field = (raw: Buffer, name: string) => {
  const unfolded = raw.toString().replaceAll(/\r\n[ \t]+/g, " ")
  return (new RegExp(`^${name}: <?([^>\\r\\n]*)`, "im").exec(unfolded)?.[1] ?? "").trim()
}

/** Sends a batch, waits for its end, and returns what a receiving mail server sees of each mail. */
const sent = Effect.fnUntraced(function*(words: ReadonlyArray<string>) {
  const { node, sink } = yield* Post
  const account = yield* makeAccount()
  const { key } = account
  const receiver = yield* makeWebhookReceiver()
  const hook = yield* node.request("POST", "/v1/webhooks", {
    key,
    json: { url: `${receiver.url}/`, events: ["email.*"] }
  })
  const secret = String(hook.at("data", "secret"))
  const people = words.map((word) => `${word}.${account.accountId}@people.example`)
  const batch = yield* sendBulk(node, key, { subject: "Hi {{name|you}}", html: "<p>x</p>", recipients: people })
  yield* ended(node, key, batch)
  const mails = people.map((to): ReportedMail => {
    const mail = sink.messages.find((message) => message.to[0] === to)
    const raw = mail?.raw ?? Buffer.alloc(0)
    const listUnsubscribe = field(raw, "List-Unsubscribe")
    return { to, returnPath: mail?.from ?? "", messageId: field(raw, "Message-ID"), listUnsubscribe }
  })
  const [mail = { to: "", returnPath: "" }] = mails
  /** Events other than those of sending, once this many have arrived. */
  const reportEvents = (count: number) =>
    eventually(
      Effect.sync(() =>
        receiver.requests.map((request) => signedEvent(request, secret)).filter(({ event }) =>
          event !== "email.sent" && event !== "email.bulk_completed"
        )
      ),
      ({ length }) => length >= count,
      longer.takeover
    )
  const statuses = Effect.map(
    node.request("GET", `/v1/email/batches/${batch}/recipients`, { key }),
    ({ at }) => words.map((_, index) => at("data", index, "status"))
  )
  return { ...account, batch, mail, mails, reportEvents, receiver, statuses }
})

layer(Post.layer, { excludeTestServices: true })("bounces and complaints", (it) => {
  it.effect("reports update their own recipient, publish webhook events and suppress addresses for the next batch", () =>
    Effect.gen(function*() {
      const { node, port, senders, sink } = yield* Post
      const story = yield* sent(["gone", "fine", "full", "angry", "quiet"])
      const [gone, fine, full, angry] = story.mails
      if (gone === undefined || fine === undefined || full === undefined || angry === undefined) {
        return assert.fail("mails are missing")
      }
      assert.strictEqual(new Set(story.mails.map(({ returnPath }) => returnPath)).size, 5)
      for (const { returnPath } of story.mails) assert.match(returnPath, /^b\+[a-z2-7]{32}@bounces\.example$/)
      for (const { address, parameters } of senders.slice(-5)) {
        assert.deepStrictEqual(parameters, { RET: "HDRS", ENVID: address.slice("b+".length, address.indexOf("@")) })
      }
      assert.strictEqual(node.logs.filter((line) => line.includes("SMTP relay reports deliveries (DSN)")).length, 1)
      const reports = [
        [gone, exchangeDsn(gone)],
        [fine, postfixDsn(fine, { action: "delivered", status: "2.0.0", diagnostic: "smtp; 250 2.0.0 Ok" })],
        [full, gmailDsn(full, { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 Over quota" })],
        [angry, arf(angry)]
      ] as const
      for (const [{ returnPath }, raw] of reports) {
        assert.strictEqual((yield* deliverMail(port, returnPath, raw)).code, 250)
      }
      const events = yield* story.reportEvents(4)
      const dataOf = (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data)
      const about = ({ to }: ReportedMail) => ({ batch_id: story.batch, to, subject: "Hi you" })
      assert.sameMembers(dataOf("email.bounced").map(({ bounce_type, to }) => `${to} ${bounce_type}`), [
        `${gone.to} hard`,
        `${full.to} soft`
      ])
      const bounced = dataOf("email.bounced").find(({ to }) => to === gone.to)
      assert.deepInclude(bounced, about(gone))
      assert.match(String(bounced?.["error"]), /^550 5\.1\.10 RESOLVER/)
      assert.deepInclude(dataOf("email.delivered")[0], about(fine))
      assert.match(String(dataOf("email.delivered")[0]?.["delivered_at"]), /^20.*Z$/)
      assert.deepInclude(dataOf("email.complained")[0], about(angry))
      assert.deepStrictEqual(yield* story.statuses, ["bounced", "delivered", "bounced", "complained", "sent"])
      const batch = yield* node.request("GET", `/v1/email/batches/${story.batch}`, { key: story.key })
      assert.deepInclude(batch.at("data"), { total: 5, sent: 5, failed: 0, suppressed: 0, queued: 0 })

      const recipients = story.mails.map(({ to }) => to)
      const before = sink.messages.length
      const next = yield* sendBulk(node, story.key, { subject: "s", html: "h", recipients })
      assert.deepInclude((yield* ended(node, story.key, next)).at("data"), { total: 5, sent: 3, suppressed: 2 })
      const written = sink.messages.slice(before).flatMap(({ to }) => to)
      assert.sameMembers(written, recipients.filter((to) => to !== gone.to && to !== angry.to))
    }))

  it.effect("a bounce before the relay's answer is accepted: the mail counts once, as sent and then bounced", () =>
    Effect.gen(function*() {
      const { node, port, senders, sink } = yield* Post
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      const hook = yield* node.request("POST", "/v1/webhooks", {
        key,
        json: { url: receiver.url, events: ["email.*"] }
      })
      const secret = String(hook.at("data", "secret"))
      yield* sink.play(() => ({ at: "never", delayMillis: 10_000 }))
      const to = "early@people.example"
      const batch = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: [to] })
      yield* sink.until(({ attempts }) => attempts.has(to))
      const returnPath = senders.at(-1)?.address ?? ""
      assert.strictEqual((yield* deliverMail(port, returnPath, postfixDsn({ returnPath, to }))).code, 250)
      assert.isFalse(sink.deliveries.has(to), "the relay has not answered yet")
      yield* sink.until(({ deliveries }) => deliveries.has(to), longer.turn)
      yield* sink.play(() => undefined)
      assert.deepInclude((yield* ended(node, key, batch)).at("data"), { total: 1, sent: 1, failed: 0, queued: 0 })
      const events = (yield* receiver.received(3)).map((request) => signedEvent(request, secret).event)
      assert.sameMembers(events, ["email.sent", "email.bounced", "email.bulk_completed"])
      const recipients = yield* node.request("GET", `/v1/email/batches/${batch}/recipients`, { key })
      assert.strictEqual(recipients.at("data", 0, "status"), "bounced")
      assert.strictEqual(sink.attempts.get(to), 1)
    }))

  it.effect("reports in any letter case, repeated or out of order publish each event once", () =>
    Effect.gen(function*() {
      const { port } = yield* Post
      const story = yield* sent(["twice"])
      const { mail } = story
      const delivered = postfixDsn(mail, { action: "delivered", status: "2.0.0", diagnostic: "smtp; 250 Ok" })
      const folded = mail.returnPath.toUpperCase()
      for (
        const raw of [
          postfixDsn(mail, { action: "delayed", status: "4.4.1" }),
          postfixDsn(mail, { action: "delayed", status: "4.4.1" }),
          yahooDsn(mail),
          delivered,
          yahooDsn(mail)
        ]
      ) {
        assert.strictEqual((yield* deliverMail(port, folded, raw)).code, 250)
      }
      yield* deliverMail(port, mail.returnPath, arf(mail))
      const events = yield* story.reportEvents(3)
      assert.deepStrictEqual(events.map(({ event }) => event).toSorted(), [
        "email.bounced",
        "email.complained",
        "email.delivery_delayed"
      ])
      const delayed = events.find(({ event }) => event === "email.delivery_delayed")
      assert.deepInclude(delayed?.data, { to: mail.to, attempt: null, next_attempt_at: null })
      assert.deepStrictEqual(yield* story.statuses, ["complained"])
    }))

  it.effect("reports without a valid token in the return path or the complaint's original are rejected or ignored", () =>
    Effect.gen(function*() {
      const { node, port } = yield* Post
      const story = yield* sent(["target", "reader", "other"])
      const [target, reader, other] = story.mails
      if (target === undefined || reader === undefined || other === undefined) return assert.fail("mails are missing")
      const letter = target.returnPath[10] === "a" ? "b" : "a"
      const forged = [
        `${target.returnPath.slice(0, 10)}${letter}${target.returnPath.slice(11)}`,
        target.returnPath.replace("@bounces.example", "@people.example"),
        `b+${"a".repeat(32)}@bounces.example`,
        "postmaster@bounces.example",
        "anybody@people.example"
      ]
      for (const address of forged) {
        assert.strictEqual((yield* deliverMail(port, address, postfixDsn(target))).code, 550, address)
      }
      const fbl = "fbl@bounces.example"
      const nothing = [
        // A failure sent to fbl@, and complaints that name a message only by guessable values.
        postfixDsn(target),
        arf({ to: target.to, returnPath: forged[0] ?? "", messageId: "1.01hzx@news.example" }),
        arf({
          ...target,
          returnPath: "",
          messageId: "x@y.example",
          listUnsubscribe: "https://m.example/u/1-AAAAAAAAAAAAAAAA"
        }),
        arf(target, { type: "not-spam" }),
        autoReply(target),
        Buffer.from("no mail at all")
      ]
      for (const raw of nothing) assert.strictEqual((yield* deliverMail(port, fbl, raw)).code, 250)
      assert.strictEqual((yield* deliverMail(port, target.returnPath, autoReply(target))).code, 250)
      assert.deepStrictEqual(yield* story.statuses, ["sent", "sent", "sent"])

      // Redacted except for Message-ID, or except for List-Unsubscribe.
      yield* deliverMail(port, fbl, arf({ ...reader, listUnsubscribe: "https://m.example/" }, { redacted: true }))
      yield* deliverMail(port, fbl, arf({ ...other, messageId: "x@y.example" }, { redacted: true }))
      assert.deepStrictEqual(yield* story.statuses, ["sent", "complained", "complained"])
      assert.isTrue(node.logs.some((line) => line.includes("names no message of ours")))
    }))

  it.effect("a mail to the List-Unsubscribe address suppresses its own recipient only", () =>
    Effect.gen(function*() {
      const { node, port, sink } = yield* Post
      const { accountId, key, mails, statuses } = yield* sent(["leaves", "stays"])
      const sql = yield* SqlClient.SqlClient
      const suppressed = sql`select email, reason from suppressions where account_id = ${accountId}`
      const addressOf = (mail: ReportedMail) => {
        const raw = sink.messages.find((message) => message.to[0] === mail.to)?.raw.toString()
        return /^ <mailto:(u\+[a-z2-7]{32}@bounces\.example)\?subject=unsubscribe>\r$/m.exec(raw ?? "")?.[1] ?? ""
      }
      const [to = "", other] = mails.map(addressOf)
      assert.notStrictEqual(to, "")
      const raw = Buffer.from("Subject: unsubscribe\r\n\r\nplease\r\n")
      const leave = (options: { readonly from?: string; readonly to: string }) =>
        deliverFrom(port, { from: "person@elsewhere.example", ...options }, raw)
      const forged = to.replace(/.(?=@)/, (letter) => letter === "a" ? "b" : "a")
      assert.strictEqual((yield* leave({ to: forged })).code, 550)
      assert.strictEqual((yield* leave({ to: to.replace("u+", "b+") })).code, 550)
      assert.strictEqual((yield* leave({ to, from: "" })).code, 250)
      assert.deepStrictEqual(yield* suppressed, [])

      assert.strictEqual((yield* leave({ to: to.toUpperCase() })).code, 250)
      assert.strictEqual((yield* leave({ to })).code, 250)
      assert.deepStrictEqual(yield* suppressed, [{ email: mails[0]?.to, reason: "unsubscribe" }])
      assert.deepStrictEqual(yield* statuses, ["sent", "sent"])
      const next = { subject: "s", html: "h", recipients: mails.map((mail) => mail.to) }
      const counts = yield* ended(node, key, yield* sendBulk(node, key, next))
      assert.deepInclude(counts.at("data"), { sent: 1, suppressed: 1 })
      assert.notStrictEqual(other, to)
    }))

  it.effect("a report about a deleted message is accepted and dropped", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { node, port } = yield* Post
      const { mail } = yield* sent(["forgotten"])
      yield* sql`delete from email_messages where recipient = ${mail.to}`
      assert.strictEqual((yield* deliverMail(port, mail.returnPath, postfixDsn(mail))).code, 250)
      yield* node.logged("unknown_message")
    }))

  it.effect("a report of ten megabytes is accepted and a larger one is refused with 552", () =>
    Effect.gen(function*() {
      const { port } = yield* Post
      const story = yield* sent(["large"])
      const { mail } = story
      const end = "\r\n--_000_outer_--"
      const withOriginal = (size: number) =>
        Buffer.from(exchangeDsn(mail).toString().replace(end, `${"x".repeat(78)}\r\n`.repeat(size / 80) + end))
      const refused = yield* deliverMail(port, mail.returnPath, withOriginal(11 * 1024 * 1024))
      assert.strictEqual(refused.code, 552)
      assert.match(refused.ehlo, /SIZE 10485760/)
      assert.notMatch(refused.ehlo, /AUTH|STARTTLS/)
      assert.deepStrictEqual(yield* story.statuses, ["sent"])
      const taken = yield* deliverMail(port, mail.returnPath, withOriginal(10 * 1024 * 1024 - 10_240))
      assert.strictEqual(taken.code, 250)
      assert.deepStrictEqual(yield* story.statuses, ["bounced"])
    }))

  it.effect(
    "while the database is down a report gets 451, and another node can accept it",
    () =>
      Effect.gen(function*() {
        const { port, sink } = yield* Post
        const proxy = yield* makeDatabaseProxy()
        const cut = yield* startNode({ smtpPort: sink.port, env: { ...bounceSettings, DATABASE_URL: proxy.url } })
        const cutPort = yield* bouncePortOf(cut)
        const story = yield* sent(["patient"])
        for (const state of ["silent", "gone"] as const) {
          yield* proxy.become(state)
          assert.strictEqual(
            (yield* deliverMail(cutPort, story.mail.returnPath, postfixDsn(story.mail))).code,
            451,
            state
          )
        }
        assert.deepStrictEqual(yield* story.statuses, ["sent"])
        assert.strictEqual((yield* deliverMail(port, story.mail.returnPath, postfixDsn(story.mail))).code, 250)
        assert.deepStrictEqual(yield* story.statuses, ["bounced"])
        yield* proxy.become("up")
        const again = deliverMail(cutPort, story.mail.returnPath, postfixDsn(story.mail))
        yield* eventually(again, ({ code }) => code === 250, longer.turn)
        assert.strictEqual((yield* story.reportEvents(1)).length, 1)
        yield* cut.stop()
      })
  )

  it.effect("one client that disconnects or opens too many connections does not block others' reports", () =>
    Effect.gen(function*() {
      const { port } = yield* Post
      const story = yield* sent(["steady"])
      const { mail } = story
      const greeted = Effect.acquireRelease(
        Effect.callback<{ readonly socket: NodeNet.Socket; readonly line: string }>((resume) => {
          const socket = NodeNet.connect(port, "127.0.0.1")
          socket.on("error", () => {})
          socket.once("data", (bytes) => resume(Effect.succeed({ socket, line: bytes.toString() })))
        }),
        ({ socket }) => Effect.sync(() => socket.destroy())
      )
      const all = yield* Effect.forEach(Array.from({ length: 21 }), () => greeted)
      assert.deepStrictEqual(all.map(({ line }) => line.slice(0, 3)), [
        ...Array.from({ length: 20 }, () => "220"),
        "421"
      ])
      const [first, ...others] = all
      first?.socket.write(`EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<${mail.returnPath}>\r\nDATA\r\n`)
      yield* Effect.callback<void>((resume) => {
        first?.socket.on("data", (bytes) => bytes.toString().includes("354") && resume(Effect.void))
      })
      first?.socket.write(postfixDsn(mail).subarray(0, -80))
      for (const { socket } of [first, ...others].flatMap((one) => one === undefined ? [] : [one])) socket.destroy()
      const answer = yield* eventually(
        deliverMail(port, mail.returnPath, postfixDsn(mail)),
        ({ code }) => code !== 421
      )
      assert.strictEqual(answer.code, 250)
      assert.deepStrictEqual(yield* story.statuses, ["bounced"])
    }))
})
