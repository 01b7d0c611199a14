/** Texts that attack the people who look at them, in the columns that keep what other people and programs wrote. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../src/values/Ids.ts"
import { look } from "../support/axe.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { missedEvents } from "../support/missedEvents.ts"
import { eventually, makeAccount, makeKey, type RunningNode, Service } from "../support/Service.ts"

/** The columns with text that pages show. */
const columns = {
  accounts: ["name"],
  api_keys: ["name"],
  email_batches: ["subject"],
  email_messages: ["subject", "error", "tags", "metadata"],
  email_template_versions: ["subject"],
  email_templates: ["name", "subject", "html", "text"],
  message_attempts: ["peer", "reply", "dialogue"],
  messages: ["error_message", "error_code", "tags", "metadata"],
  passkeys: ["name"],
  people: ["name"],
  request_log: ["method", "path", "ip", "key_prefix"],
  sandbox_mails: ["sender", "subject", "raw"],
  sandbox_sms: ["sender", "body"],
  webhook_deliveries: ["response_body"],
  webhooks: ["url", "events", "tags", "header_names", "secret_prefix"],
  whatsapp_contacts: ["name"],
  whatsapp_group_participants: ["phone"],
  whatsapp_groups: ["name", "description"],
  whatsapp_sessions: ["name"]
}

/** Those that hold the text inside of a larger value. */
const inside = ["email_domains.last_check", "events.body", "messages.content", "request_log.error"]

/** Markup that would run, a character that turns around what follows, and a word that no line holds. */
const attack = `"><img src=x onerror="attack()"><script>attack()</script>\u202e${"W".repeat(10_000)}`

/** What a program that opens a file would run: it begins as a formula does. */
const planted = (name: string) => `=${name} ${attack}`

/** Rows of what `fillAccount` does not make. */
const addRows = Effect.fnUntraced(
  function*({ accountId, person }: { readonly accountId: number; readonly person: number }) {
    const sql = yield* SqlClient.SqlClient
    const [webhook] = yield* sql`select id from webhooks where account_id = ${accountId}`
    yield* missedEvents({ accountId, webhookId: Number(webhook?.["id"]), count: 2 })
    yield* sql`update webhook_deliveries set attempt_count = 1, started_at = now(), duration_ms = 1, response_code = 500`
    yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
    values (${person}, 'x', 'x', 0, 'Phone')`
    yield* sql`insert into whatsapp_contacts (session_id, phone) select id, '15550101000' from whatsapp_sessions`
    yield* sql`with made as (
      insert into whatsapp_groups (session_id, jid) select id, '120363000000000000@g.us' from whatsapp_sessions returning id
    )
    insert into whatsapp_group_participants (group_id, jid, role) select id, '15550101000@s.whatsapp.net', 'member' from made`
    yield* sql`update email_messages set status = 'failed' where batch_id is null`
    yield* sql`update messages set status = 'failed', failed_at = now() where channel = 'sms' and batch_id is null`
  }
)

const valueOf = (type: string, name: string) => {
  switch (type) {
    case "jsonb":
      return JSON.stringify({ order: planted(name) })
    case "bytea":
      return Buffer.from(`Subject: Hi\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${planted(name)}`)
    case "ARRAY":
      return [planted(name)]
    default:
      return planted(name)
  }
}

const plant = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  for (const [table, names] of Object.entries(columns)) {
    for (const name of names) {
      const [column] = yield* sql`select data_type from information_schema.columns
        where table_name = ${table} and column_name = ${name}`
      const value = valueOf(String(column?.["data_type"]), `${table}.${name}`)
      yield* sql`update ${sql(table)} set ${sql(name)} = ${value}`
    }
  }
  const json = (name: string) => sql`to_jsonb(${planted(name)}::text)`
  yield* sql`update messages set content = jsonb_build_object('body', ${json("messages.content")}) where type = 'text'`
  yield* sql`update request_log set error = jsonb_set(error, '{message}', ${json("request_log.error")})
    where error is not null`
  yield* sql`update events set body = convert_to(jsonb_build_object('data', ${json("events.body")})::text, 'utf8')`
  yield* sql`update email_domains set checked_at = now(), next_check_at = null, last_check = jsonb_build_array(jsonb_build_object('purpose', 'SPF',
    'status', 'mismatch', 'found', jsonb_build_array(${json("email_domains.last_check")}), 'detail', 'x'))`
})

/** A mail and a text of a test key, which the sandbox shows. */
const sendTests = Effect.fnUntraced(function*({ request }: RunningNode, accountId: AccountId) {
  const { key } = yield* makeKey(accountId, { mode: "test" })
  yield* request("POST", "/v1/email/send", { key, json: { to: "ada@example.com", subject: "Hello", text: "Hello" } })
  yield* request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
  yield* eventually(request("GET", "/v1/sandbox/messages", { key }), ({ at }) => at("data", 1) !== undefined)
})

/** Each row has the cells of the first one, and no cell begins as a formula does. */
const assertPlainCsv = (text: string, path: string) => {
  const rows = text.split("\r\n").slice(0, -1).map((line) =>
    [...line.matchAll(/(?:^|,)("(?:[^"]|"")*"|[^",]*)/g)].map(([, cell = ""]) => cell)
  )
  const [names = []] = rows
  for (const cells of rows) {
    assert.strictEqual(cells.length, names.length, `${path}: ${cells}`)
    for (const cell of cells) assert.notMatch(cell, /^"?[=+@\t]/, path)
  }
}

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
        yield* sendTests(node, accountId)
        yield* eventually(sql`select from request_log where error is not null`, ({ length }) => length > 0)
        yield* addRows({ accountId, person: personId })
        yield* plant
        const found = yield* everyPage({ accountId, cookie, query: "?lang=ar" })
        const shown = new Set<string>()
        const queries = new Set<string>()
        const faults: Array<string> = []
        const read = (text: string, path: string) => {
          // A person who changes or copies a value gets it as it is.
          const seen = text.replaceAll(/ (?:value|data-copy)="[^"]*"|<textarea[^]*?<\/textarea>/g, "")
          // The marks that keep numbers in Arabic sentences from turning around are no attack.
          for (const { index } of seen.matchAll(/<img src=x|<script>attack|\u202e|\ufffd(?!W)/g)) {
            faults.push(`${path}: ${seen.slice(Math.max(index - 300, 0), index + 20)}`)
          }
          for (const [, name = ""] of text.matchAll(/([a-z_]+\.[a-z_]+) \\?&quot;&gt;&lt;img/g)) shown.add(name)
        }
        for (const [path, text] of found) {
          read(text, path)
          for (const [, href = ""] of text.matchAll(/href="(\/console\/[^"#]*\?[^"#]*)/g)) {
            queries.add(href.replaceAll("&amp;", "&"))
          }
        }
        // Tabs, filters and files.
        for (const href of [...queries].filter((one) => one.length < 2_000 && !one.includes("/test/"))) {
          const { headers, text } = yield* node.request("GET", href, { headers: { cookie } })
          const type = headers["content-type"] ?? ""
          if (type.startsWith("text/html")) read(text, href)
          else if (type.startsWith("text/csv")) assertPlainCsv(text, href)
        }
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(
          [...shown].toSorted(),
          [...Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)), ...inside]
            .toSorted()
        )
        const page = yield* openPage
        yield* page.command("Network.enable")
        yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
        yield* page.command("Page.addScriptToEvaluateOnNewDocument", { source: watch })
        yield* look(page, { width: 360, scheme: "light" })
        // Most pages of test mode are those of live mode.
        for (const path of [...found.keys()].filter((one) => !one.includes("/test/") || one.endsWith("/sandbox"))) {
          yield* page.open(`${node.baseUrl}${path}`)
          assert.deepStrictEqual(yield* page.evaluate("faults"), [], path)
          assert.isTrue(yield* page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path)
        }
      })
  )
})
