import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { dkimKey, dkimVerdict, insertDomain, readMail } from "../support/bulkMail.ts"
import { sendCode } from "../support/codes.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

/** The mail that the relay took for this recipient, and what a verifier says of it. */
const taken = Effect.fnUntraced(function*(to: string) {
  const { sink } = yield* Relay
  yield* sink.until(({ messages }) => messages.some((message) => message.to[0] === to))
  const raw = sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0)
  return { ...(yield* readMail(raw)), verdict: yield* dkimVerdict(raw) }
})

const pass = { result: "pass", domain: "signed.example" } as const
const node = { env: { MAIL_FROM: "Service <us@signed.example>" } }

layer(Relay.layer(node), { excludeTestServices: true, timeout: "60 seconds" })(
  "a signature that receivers verify",
  (it) => {
    it.effect("is that of a mail with files", () =>
      Effect.gen(function*() {
        const { accountId, key } = yield* makeAccount()
        yield* insertDomain(accountId, "signed.example", { key: dkimKey.pem })
        yield* sendEmail(yield* Service, key, {
          to: "files@people.example",
          from: "Shop <shop@signed.example>",
          subject: "Große Rechnung",
          html: "<p>Hello</p>",
          attachments: [{
            filename: "Rechnung Ü.pdf",
            content: Buffer.from([0, 13, 10, 46, 13, 10, 255]).toString("base64"),
            content_type: "application/pdf"
          }]
        })
        const { field, verdict } = yield* taken("files@people.example")
        assert.match(field("content-type").join(), /^multipart\/mixed/)
        assert.deepStrictEqual(verdict, pass)
      }))

    it.effect("is that of each copy of a mail to several, with Cc, and with links and opens that are counted", () =>
      Effect.gen(function*() {
        const { key } = yield* makeAccount()
        // From the default sender, whose domain another account has.
        yield* sendEmail(yield* Service, key, {
          to: ["ann@people.example", "bob@people.example"],
          cc: ["cyd@people.example"],
          bcc: "dan@people.example",
          subject: "For all",
          html: "<body><a href=\"https://shop.example/?a=1&amp;b=2\">Shop</a></body>",
          track_opens: true,
          track_clicks: true
        })
        for (const name of ["ann", "bob", "cyd", "dan"]) {
          const { field, mail, verdict } = yield* taken(`${name}@people.example`)
          assert.deepStrictEqual(field("cc"), ["cyd@people.example"])
          assert.lengthOf(field("x-recipient-token"), 1)
          assert.match(mail.html ?? "", /\/t\/c\/.*\/t\/o\//s)
          assert.deepStrictEqual(verdict, pass, name)
        }
      }))

    it.effect("is that of a mail with a code", () =>
      Effect.gen(function*() {
        const { key } = yield* makeAccount()
        yield* sendCode(yield* Service, { key, json: { to: "eve@people.example", channel: "email" } })
        const { mail, verdict } = yield* taken("eve@people.example")
        assert.match(mail.text ?? "", /\b\d{6}\b/)
        assert.deepStrictEqual(verdict, pass)
      }))
  }
)
