import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deliverMail } from "../support/deliverMail.ts"
import { arf, postfixDsn } from "../support/reports.ts"
import { type RunningNode, startNode } from "../support/Service.ts"
import { makeListener, reaching, sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** A node with a bounce listener. */
class Post extends Context.Service<Post, {
  readonly node: RunningNode
  readonly sink: SmtpSink.SmtpSink
  readonly port: number
}>()("messaging-service/test/journeys/emailReports.test/Post") {
  static readonly layer = Layer.effect(
    Post,
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make()
      const env = { MAIL_BOUNCE_DOMAIN: "bounces.example", BOUNCE_PORT: "0", LOG_LEVEL: "debug" }
      const node = yield* startNode({ smtpPort: sink.port, env })
      const line = yield* node.logged("bounces and complaints for")
      return { node, sink, port: Number(/ on [\d.]+:(\d+)/.exec(line)?.[1]) }
    })
  ).pipe(Layer.provideMerge(TestDatabase.layer))
}

layer(Post.layer, { excludeTestServices: true })("reports about a single email", (it) => {
  it.effect("a report by return path or recipient token changes one of several recipients and publishes the email's id", () =>
    Effect.gen(function*() {
      const { node, port, sink } = yield* Post
      const sql = yield* SqlClient.SqlClient
      const { accountId, key, received } = yield* makeListener(node, ["email.*"])
      const to = ["first@people.example", "second@people.example", "third@people.example"]
      const id = yield* sendEmail(node, key, { to, subject: "{{x}}", text: "t", variables: { x: "{{literally}}" } })
      yield* reaching(node, { id, key, statuses: ["sent"] })
      const copies = to.map((address) => {
        const mail = sink.messages.find((message) => message.to[0] === address)
        const raw = mail?.raw.toString() ?? ""
        const messageId = /^Message-ID: <(.*)>/m.exec(raw)?.[1] ?? ""
        const token = /^X-Recipient-Token: (\S+)/m.exec(raw)?.[1] ?? ""
        return { to: address, returnPath: mail?.from ?? "", messageId, token }
      })
      const [first, second, third] = copies
      if (first === undefined || second === undefined || third === undefined) return assert.fail("copies are missing")
      assert.strictEqual(new Set(copies.map(({ messageId }) => messageId)).size, 1)
      assert.strictEqual(new Set(copies.map(({ returnPath }) => returnPath)).size, 3)

      yield* deliverMail(port, second.returnPath, postfixDsn(second))
      // Redacted except for the copy's token.
      const complaint = arf({ ...third, messageId: `x@y.example>\r\nX-Recipient-Token: <${third.token}` }, {
        redacted: true
      })
      assert.strictEqual((yield* deliverMail(port, "fbl@bounces.example", complaint)).code, 250)
      const events = yield* received(5)
      assert.deepStrictEqual(
        events.filter(({ event }) => event !== "email.sent").map(({ data, event }) => [
          event,
          data["id"],
          data["to"],
          data["subject"]
        ]),
        [
          ["email.bounced", id, second.to, "{{literally}}"],
          ["email.complained", id, third.to, "{{literally}}"]
        ]
      )
      const record = yield* reaching(node, { id, key, statuses: ["complained"] })
      assert.deepInclude(record, { bounce_type: "hard", to })
      const { recipients } = record as { readonly recipients: ReadonlyArray<Record<string, unknown>> }
      assert.deepStrictEqual(recipients.map(({ status }) => status), ["sent", "bounced", "complained"])
      const left =
        yield* sql`select email, source_message_id from suppressions where account_id = ${accountId} order by 1`
      assert.deepStrictEqual(left, [
        { email: second.to, source_message_id: id },
        { email: third.to, source_message_id: id }
      ])
    }))
})
