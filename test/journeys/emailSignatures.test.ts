import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { dkimKey, dkimVerdict, insertDomain, readMail } from "../support/bulkMail.ts"
import { sendCode } from "../support/codes.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

/** The mail that the relay accepted for this recipient, with its DKIM verdict. */
const signedMail = Effect.fnUntraced(function*(to: string) {
  const { sink } = yield* Relay
  yield* sink.until(({ messages }) => messages.some((message) => message.to[0] === to))
  const raw = sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0)
  return { ...(yield* readMail(raw)), verdict: yield* dkimVerdict(raw) }
})

const pass = { result: "pass", domain: "signed.example" } as const
const node = { env: { MAIL_FROM: "Service <us@signed.example>" } }

layer(Relay.layer(node), { excludeTestServices: true })(
  "DKIM signature",
  (it) => {
    it.effect("a mail with attachments has a valid signature", () =>
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
        const { field, verdict } = yield* signedMail("files@people.example")
        assert.match(field("content-type").join(), /^multipart\/mixed/)
        assert.deepStrictEqual(verdict, pass)
      }))

    it.effect("each copy of a tracked mail to several recipients has a valid signature", () =>
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
          const { field, mail, verdict } = yield* signedMail(`${name}@people.example`)
          assert.deepStrictEqual(field("cc"), ["cyd@people.example"])
          assert.lengthOf(field("x-recipient-token"), 1)
          assert.match(field("dkim-signature").join(), /h=[^;]*x-recipient-token/i)
          assert.match(mail.html ?? "", /\/t\/c\/.*\/t\/o\//s)
          assert.deepStrictEqual(verdict, pass, name)
        }
      }))

    it.effect("a mail with a verification code has a valid signature", () =>
      Effect.gen(function*() {
        const { key } = yield* makeAccount()
        yield* sendCode(yield* Service, { key, json: { to: "eve@people.example", channel: "email" } })
        const { mail, verdict } = yield* signedMail("eve@people.example")
        assert.match(mail.text ?? "", /\b\d{6}\b/)
        assert.deepStrictEqual(verdict, pass)
      }))
  }
)
