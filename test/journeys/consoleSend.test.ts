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
  return { accountId, cookie, key, base: `/console/${accountId}`, ...plainBrowser(cookie) }
})

type Browser = Pick<Effect.Success<typeof visit>, "open">

const formAt = Effect.fnUntraced(function*({ open }: Browser, path: string, name: string) {
  const { text } = yield* open(path)
  const form = formsOf(path, text).find((one) => one.name === name)
  return form ?? assert.fail(`${path} has no form ${name}`)
})

/** The form with its button *Preview* pressed. */
const previewing = (form: PlainForm): PlainForm => ({ ...form, fields: [...form.fields, ["_instead", "preview"]] })

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

    it.effect("an email shows its sender, and warns of suppressed recipients", () =>
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
        assert.include(yield* seen({}), "bob@example.com is on the suppression list")
        const own = yield* seen({ from: "Shop <us@shop.example>", to: "ada@example.com" })
        assert.include(own, "From Shop &lt;us@shop.example&gt;")
        assert.notInclude(own, "suppression list")
        assert.match(yield* seen({ to: "ada@example.com" }), /From .*no-reply@.* No problem was found\. The limits/)
        const wrong = yield* browser.send(form, { ...typed, to: "ada" })
        assert.match(wrong.text, /id="f-to-fault"/)
        assert.strictEqual((yield* request("GET", "/v1/messages", { key })).at("data", 0), undefined)
      }))

    it.effect("the preview of an email is refused at the same fields, with the same words, as the email itself", () =>
      Effect.gen(function*() {
        const { base, key, ...browser } = yield* visit
        const { request } = yield* Service
        const json = { name: "Welcome", subject: "Hello {{name}}", html: "<p>Hello</p>" }
        const template = String((yield* request("POST", "/v1/email/templates", { key, json })).at("data", "id"))
        const own = formAt(browser, `${base}/send?channel=email`, "email")
        const stored = formAt(browser, `${base}/send?channel=email&template=${template}`, "template")
        const typed = { to: "ada@example.com", subject: "Hello", text: "Hello" }
        const problemIn = (text: string) => /<div class="problem".*?<\/div>/s.exec(text)?.[0] ?? ""
        const faultsIn = (text: string) =>
          [...text.matchAll(/<p class="fault" id="f-.*?<\/p>/gs)].map(([fault]) => fault)
        for (
          const [drawn, wrong, field] of [
            [own, { text: "" }, "html"],
            [own, { subject: "" }, "subject"],
            [own, { text: "Hello {{name" }, "text"],
            [own, { html: "{{#if" }, "html"],
            [own, { text: "Hello {{name}}" }, undefined],
            [own, { from: "us@other.example" }, "from"],
            [own, { send_at: "2020-01-01T00:00" }, "send_at"],
            [own, { send_at: "2999-01-01T00:00" }, "send_at"],
            [stored, { variables: "other = Ada" }, "variables"]
          ] as const
        ) {
          const values = { ...typed, ...wrong }
          const form = yield* drawn
          const { text: seen } = yield* browser.send(previewing(form), values)
          const { text: sent } = yield* browser.send(form, values)
          assert.strictEqual(previewIn(seen), "", JSON.stringify(wrong))
          assert.notStrictEqual(problemIn(sent), "")
          assert.strictEqual(problemIn(seen), problemIn(sent))
          assert.deepStrictEqual(faultsIn(seen), faultsIn(sent))
          if (field !== undefined) assert.include(faultsIn(seen).join(), `id="f-${field}-fault"`)
        }
        const { text } = yield* browser.send(previewing(yield* stored), { ...typed, variables: "name = Ada" })
        assert.include(previewIn(text), "No problem was found.")
        assert.strictEqual((yield* request("GET", "/v1/messages", { key })).at("data", 0), undefined)
      }))

    it.effect("the page of an email has its Message-ID, and leads to its source, as long as this is kept", () =>
      Effect.gen(function*() {
        const { accountId, base, cookie, key, open } = yield* visit
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
        const later = yield* open(`${base}/messages/email/${id}`)
        assert.include(later.text, messageId)
        assert.notInclude(later.text, `/messages/email/${id}/source`)
        // The page stays open, and the answers to its updates do not have the texts.
        const update = (since: string) => {
          const headers = { cookie, "x-update": since }
          return Effect.map(node.request("GET", `${base}/messages/email/${id}`, { headers }), ({ text }) => text)
        }
        assert.notInclude(yield* update(/data-since="([^"]*)"/.exec(later.text)?.[1] ?? ""), "/source")
        assert.include(yield* update(""), `/messages/email/${id}/source`)
      }))
  }
)

const relayed = { SMTP_URL: "smtp://127.0.0.1:9?tls=never", MAIL_FROM: "Desk <desk@desk.example>" }

layer(Service.layer({ env: relayed }), { excludeTestServices: true })("an email from the shared sender", (it) => {
  it.effect("its preview has the sender and the warnings of the answer to the email", () =>
    Effect.gen(function*() {
      const { base, key, ...browser } = yield* visit
      const { request } = yield* Service
      const form = previewing(yield* formAt(browser, `${base}/send?channel=email`, "email"))
      const typed = { to: "ada@example.com", subject: "Hello", text: "Hello" }
      const seen = previewIn((yield* browser.send(form, typed)).text)
      assert.include(seen, "From Desk &lt;desk@desk.example&gt;")
      assert.notInclude(seen, "No problem was found.")
      const warning = (yield* request("POST", "/v1/email/send", { key, json: typed })).at("data", "warnings", 0)
      assert.match(String(warning), /default sender is not verified/)
      assert.include(seen, String(warning))
    }))
})
