/** Texts that attack the people who look at them, in the columns that keep what other people and programs wrote. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { look } from "../support/axe.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"

/** The columns with text that pages show. */
const columns = {
  accounts: ["name"],
  api_keys: ["name"],
  email_batches: ["subject"],
  email_messages: ["subject", "error"],
  email_template_versions: ["subject"],
  email_templates: ["name", "subject", "html", "text"],
  message_attempts: ["peer", "reply", "dialogue"],
  messages: ["error_message"],
  passkeys: ["name"],
  people: ["name"],
  whatsapp_contacts: ["name"],
  whatsapp_groups: ["name", "description"],
  whatsapp_sessions: ["name"]
}

/** Markup that would run, a character that turns around what follows, and a word that no line holds. */
const attack = `"><img src=x onerror="attack()"><script>attack()</script>\u202e${"W".repeat(10_000)}`

const plant = Effect.fnUntraced(function*(person: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
    values (${person}, 'x', 'x', 0, 'Phone')`
  yield* sql`insert into whatsapp_contacts (session_id, phone) select id, '15550101000' from whatsapp_sessions`
  yield* sql`insert into whatsapp_groups (session_id, jid) select id, '120363000000000000@g.us' from whatsapp_sessions`
  yield* sql`update email_messages set status = 'failed' where batch_id is null`
  for (const [table, names] of Object.entries(columns)) {
    for (const name of names) {
      const text = `${table}.${name} ${attack}`
      yield* sql`update ${sql(table)} set ${sql(name)} = ${text}`
    }
  }
  const json = (name: string) => sql`to_jsonb(${`${name} ${attack}`}::text)`
  yield* sql`update messages set content = jsonb_build_object('body', ${json("messages.content")}) where type = 'text'`
  yield* sql`update request_log set error = jsonb_set(error, '{message}', ${json("request_log.error")})
    where error is not null`
})

/** Keeps what a page runs, and what its policy refuses. */
const watch = `window.faults = []
window.attack = () => faults.push("attack")
addEventListener("securitypolicyviolation", ({ blockedURI, violatedDirective }) => faults.push(violatedDirective + blockedURI))`

layer(Service.layer(), { excludeTestServices: true })("stored texts in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "run nothing, load nothing, turn no other text around and fit into a narrow window",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const { cookie, personId, token } = yield* signedInAs(accountId, "owner")
        yield* fillAccount(key)
        yield* node.request("POST", "/v1/sms/send", { key, json: {} })
        yield* eventually(sql`select from request_log where error is not null`, ({ length }) => length > 0)
        yield* plant(personId)
        const found = yield* everyPage({ accountId, cookie, query: "?lang=ar" })
        const shown = new Set<string>()
        for (const [path, text] of found) {
          for (const part of ["<img src=x", "<script>attack"]) assert.notInclude(text, part, path)
          // A person who changes a value gets it as it is.
          const read = text.replaceAll(/ value="[^"]*"|<textarea[^]*?<\/textarea>/g, "")
          assert.notInclude(read, "\u202e", path)
          // The marks that keep numbers in Arabic sentences from turning around are no attack.
          assert.notMatch(read, /\ufffd(?!W)/, path)
          for (const [, name = ""] of text.matchAll(/([a-z_]+\.[a-z_]+) &quot;&gt;&lt;img/g)) shown.add(name)
        }
        assert.deepStrictEqual(
          [...shown].toSorted(),
          [
            ...Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
            "messages.content",
            "request_log.error"
          ].toSorted()
        )
        const page = yield* openPage
        yield* page.command("Network.enable")
        yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
        yield* page.command("Page.addScriptToEvaluateOnNewDocument", { source: watch })
        yield* look(page, { width: 360, scheme: "light" })
        for (const path of found.keys()) {
          yield* page.open(`${node.baseUrl}${path}`)
          assert.deepStrictEqual(yield* page.evaluate("faults"), [], path)
          assert.isTrue(yield* page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path)
        }
      })
  )
})
