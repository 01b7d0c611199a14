/** What a person sees of a message before it is sent, and its source after that, without scripts. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { insertDomain } from "../support/bulkMail.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { formsOf, plainBrowser, type PlainForm } from "../support/plainForms.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"

/** An owner of a new account in a browser without scripts. */
const visit = Effect.gen(function*() {
  const { accountId, key } = yield* makeAccount()
  const { cookie } = yield* signedInAs(accountId, "owner")
  return { accountId, key, base: `/console/${accountId}`, ...plainBrowser(cookie) }
})

type Browser = Pick<Effect.Success<typeof visit>, "open">

const formAt = Effect.fnUntraced(function*({ open }: Browser, path: string, name: string) {
  const { text } = yield* open(path)
  const form = formsOf(path, text).find((one) => one.name === name)
  return form ?? assert.fail(`${path} has no form ${name}`)
})

/** The form with its button *Preview* pressed. */
const previewing = (form: PlainForm): PlainForm => ({ ...form, fields: [...form.fields, ["_preview", ""]] })

/** What the page says below the form, without its markup. */
const previewIn = (text: string) =>
  /<div class="field" id="preview".*?<\/form>/s.exec(text)?.[0].replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ") ??
    ""

layer(Service.layer({ env: { SMS_SENDER_IDS: "SHOP,DESK" } }), { excludeTestServices: true })(
  "a message before it is sent",
  (it) => {
    it.effect("an SMS shows its sender, segments and price, and nothing is sent", () =>
      Effect.gen(function*() {
        const { base, key, ...browser } = yield* visit
        const { request } = yield* Service
        const path = `${base}/send?channel=sms`
        const form = previewing(yield* formAt(browser, path, "sms"))
        const typed = { to: "+250788123456", content: "Grüße, Ada! ".repeat(14) }
        const plain = yield* browser.send(form, typed)
        assert.strictEqual(plain.status, 200)
        const json = { to: typed.to, content: typed.content }
        const { at } = yield* request("POST", "/v1/sms/preview", { key, json })
        assert.deepInclude(at("data"), { sender_id: "SHOP", encoding: "gsm7", segments: 2, to: typed.to })
        const price = Number(at("data", "cost_usd"))
        assert.isAbove(price, 0)
        assert.match(previewIn(plain.text), /From SHOP To \+250788123456 Segments 2 Cost/)
        assert.include(previewIn(plain.text), `$${price}`)
        assert.include(previewIn(plain.text), "No problem was found.")
        // What was typed stays, and the form can be sent.
        const again = formsOf(path, plain.text).find(({ name }) => name === "sms")
        assert.include(JSON.stringify(again?.fields), "Grüße, Ada!")
        const other = yield* browser.send(form, { ...typed, content: "Жду", sender_id: "DESK" })
        assert.match(previewIn(other.text), /From DESK .* Segments 1 .* outside the GSM alphabet/)
        const refused = yield* browser.send(form, { ...typed, sender_id: "STRANGER" })
        assert.match(refused.text, /id="f-sender_id-fault"/)
        assert.strictEqual(previewIn(refused.text), "")
        const unknown = yield* browser.send(form, { to: "12", content: "" })
        assert.match(unknown.text, /id="f-to-fault".*id="f-content-fault"/s)
        assert.strictEqual((yield* request("GET", "/v1/messages", { key })).at("data", 0), undefined)
      }))

    it.effect("an email shows its sender, and warns of an unverified domain and of suppressed recipients", () =>
      Effect.gen(function*() {
        const { accountId, base, key, ...browser } = yield* visit
        const { request } = yield* Service
        yield* insertDomain(accountId, "shop.example")
        yield* request("POST", "/v1/email/suppressions", { key, json: { email: "bob@example.com" } })
        const form = previewing(yield* formAt(browser, `${base}/send?channel=email`, "email"))
        const typed = { to: "ada@example.com, Bob@example.com", subject: "Hello", text: "Hello" }
        const seen = Effect.fnUntraced(function*(more: Readonly<Record<string, string>>) {
          const { text } = yield* browser.send(form, { ...typed, ...more })
          return previewIn(text)
        })
        const unverified = yield* seen({ from: "us@other.example" })
        assert.include(unverified, "other.example is not a verified domain of this account.")
        assert.include(unverified, "bob@example.com is on the suppression list")
        const own = yield* seen({ from: "Shop <us@shop.example>", to: "ada@example.com" })
        assert.include(own, "From us@shop.example")
        assert.notInclude(own, "suppression list")
        assert.notInclude(own, "not a verified domain")
        assert.match(yield* seen({ to: "ada@example.com" }), /From .*no-reply@.* No problem was found\./)
        const wrong = yield* browser.send(form, { ...typed, to: "ada" })
        assert.match(wrong.text, /id="f-to-fault"/)
        assert.strictEqual((yield* request("GET", "/v1/messages", { key })).at("data", 0), undefined)
      }))

    it.effect("the page of an email has its Message-ID, and leads to its source, as long as this is kept", () =>
      Effect.gen(function*() {
        const { accountId, base, key, open } = yield* visit
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const json = {
          to: "ada@example.com",
          bcc: "bob@example.com",
          subject: "Hello",
          text: "<b>Hello</b> ".repeat(3000)
        }
        const id = yield* sendEmail(node, key, json)
        const record = yield* node.request("GET", `/v1/email/messages/${id}`, { key })
        const message = yield* open(`${base}/messages/email/${id}`)
        const messageId = String(record.at("data", "internet_message_id")).replace("<", "&lt;").replace(">", "&gt;")
        assert.match(messageId, /^&lt;\w+@/)
        assert.include(message.text, messageId)
        assert.include(message.text, `href="${base}/messages/email/${id}/source"`)
        const page = yield* open(`${base}/messages/email/${id}/source`)
        assert.include(page.text, `Message-ID: ${messageId}`)
        assert.include(page.text, "&lt;b&gt;Hello&lt;/b&gt;")
        assert.include(page.text, `/v1/email/messages/${id}/source`)
        assert.match(page.text, /The first 16,384 of [\d,]+ characters/)
        assert.notInclude(page.text, "bob@example.com")
        const file = yield* open(`${base}/messages/email/${id}/source?format=eml`)
        assert.strictEqual(file.headers["content-type"], "message/rfc822")
        assert.strictEqual(file.headers["content-disposition"], `attachment; filename="email-${id}.eml"`)
        assert.strictEqual(file.text, (yield* node.request("GET", `/v1/email/messages/${id}/source`, { key })).text)
        yield* sql`delete from email_contents where account_id = ${accountId}`
        const gone = yield* open(`${base}/messages/email/${id}/source`)
        assert.strictEqual(gone.status, 410)
        assert.include(gone.text, "The texts of this email are no longer kept, so it has no source.")
        assert.include((yield* open(`${base}/messages/email/${id}`)).text, messageId)
      }))
  }
)
