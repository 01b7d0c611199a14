/**
 * The console in a browser that runs no scripts. A new page and a new form need nothing here, unless only a new state
 * shows it.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Secret, TOTP } from "otpauth"
import { pages, pathsOf } from "../../src/console/pages/pages.ts"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { fill } from "../contract/contract.ts"
import { connectedSession } from "../contract/samples.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { shows, titled, type } from "../support/look.ts"
import { missedEvents } from "../support/missedEvents.ts"
import {
  attribute,
  formsOf,
  type PlainBrowser,
  plainBrowser,
  type PlainForm,
  withoutTemplates
} from "../support/plainForms.ts"
import { type Answer, eventually, makeAccount, makeKey, sandboxToken, Service } from "../support/Service.ts"
import { createSession } from "../support/WhatsApp.ts"

const password = "correct horse battery staple"

/** Rows for the forms that a new account has no reason for; returns the addresses of pages that no link leads to. */
const fillStates = Effect.fnUntraced(
  function*({ accountId, key }: { readonly accountId: AccountId; readonly key: string }) {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const base = `/console/${accountId}`
    yield* makeKey(accountId, { mode: "test" })
    yield* ownerOf(accountId)
    yield* sql`insert into verification_blocks (account_id, prefix, until)
      values (${accountId}, '+25078811', now() + interval '11 hours')`
    yield* request("POST", "/v1/email/send", { key, json: { to: "gone@example.com", subject: "Hello", text: "Hello" } })
    const receiver = yield* request("GET", "/v1/sandbox/receiver", { key })
    const webhooks = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix, is_active)
      select ${accountId}::bigint, ${
      String(receiver.at("data", "url"))
    }, array['email.bulk_completed'], '', 'whsec_', is_active
      from unnest(array[false, true, true]) is_active returning id`
    const [stopped = 0, missing = 0, recovering = 0] = webhooks.map(({ id }) => Number(id))
    yield* missedEvents({ accountId, webhookId: missing, count: 3 })
    yield* sql`insert into webhook_recoveries (webhook_id, since, until, statuses, position, ends_at, total, queued, is_queued)
      values (${recovering}, now() - interval '1 day', now(), '{failed}', '', '', 5, 5, true)`
    const [away] = yield* sql`insert into whatsapp_sessions
        (account_id, session_key, name, data_key, is_paired, status, reason, desired, is_confirmed)
      values (${accountId}, 'wa_away', 'Away', '', true, 'failed', 'logged_out', 'off', true) returning id`
    const session = yield* connectedSession(request, key)
    const [group] = yield* sql`insert into whatsapp_groups (session_id, jid, name)
      values (${session}, '120363000000000001@g.us', 'Team') returning id`
    yield* sql`insert into whatsapp_group_participants (group_id, jid, phone, role)
      values (${group?.["id"]}, '1@lid', '15550100301', 'member')`
    const ofGroup = `${base}/whatsapp/${session}/groups/${group?.["id"]}`
    const place = yield* request("POST", "/v1/whatsapp/send", {
      key,
      json: { session_id: session, to: "+15550100300", type: "location", content: { latitude: 1, longitude: 2 } }
    })
    const setup = Tokens.mint("st_")
    yield* sql`insert into setup_links (token_hash, expires_at) values (${
      Tokens.hash(setup)
    }, now() + interval '1 hour')`
    const till = yield* request("POST", "/v1/whatsapp/sessions", { key, json: { name: "Till" } })
    const link = yield* request("POST", `/v1/whatsapp/sessions/${till.at("id")}/pairing-link`, { key })
    return [
      `/console/setup/${setup}`,
      URL.parse(String(link.at("data", "url")))?.pathname ?? "",
      `${base}/send?channel=sms`,
      `${base}/send?channel=whatsapp`,
      `${base}/send?channel=whatsapp&group_id=${group?.["id"]}`,
      `${base}/send?channel=whatsapp&again=${place.at("data", "message_id")}`,
      ...[`/webhooks/${stopped}`, `/webhooks/${missing}/recover`, `/webhooks/${recovering}/recover`].map((path) =>
        `${base}${path}`
      ),
      `${base}/whatsapp/${away?.["id"]}`,
      ...["", "/add", "/remove/%2B15550100301"].map((path) => `${ofGroup}${path}`),
      ...["", "/clear", "/faults/clear"].map((path) => `${base}/test/sandbox${path}`)
    ]
  }
)

/** What a person may do with a message or a batch of each channel, also where its page has no reason to offer it. */
const changesOf = (paths: ReadonlyArray<string>) => {
  const first = new Map<string, string>()
  for (const path of paths) {
    const [, kind] = /\/((?:messages|batches)\/(?:email|sms|whatsapp))\/[^/]+$/.exec(path) ?? []
    if (kind !== undefined) first.set(kind, path)
  }
  return [...first.values()].flatMap((path) =>
    (path.includes("/batches/") ? ["again", "cancel"] : ["reschedule", "cancel"]).map((change) => `${path}/${change}`)
  )
}

const routes = pages.flatMap((page) =>
  pathsOf(page).map(([path]) =>
    [page, new RegExp(`^${fill(path, "[^/]+").replace("/console/[^/]+", "/console/\\d+")}/?$`)] as const
  )
)

/** The page to which a form belongs. */
const routeOf = (address: string) => routes.find(([, path]) => path.test(address.replace(/[?#].*/, "")))?.[0]

const keyOf = ({ address, name }: PlainForm) => `${routeOf(address)?.path} ${name === address ? "" : name}`

/** What a browser has only with scripts. A password and a code do the same. */
const withPasskey = ["/sign-in passkey", "/confirm confirm-passkey", "/me/security passkey-add"]

/** Drawn only with a fresh proof: in the answer to the form that begins an app. */
const confirmApp = "/me/security app-confirm"

/** A form that is drawn so that a browser sends it by itself. */
const assertPlain = (form: PlainForm) => {
  const what = `${form.page}: ${form.markup}`
  assert.include(["get", "post"], form.method, what)
  assert.isDefined(routeOf(form.address), what)
  assert.notMatch(form.markup, /\senctype=|\sformmethod=/, what)
  const buttons = [...form.markup.matchAll(/<button\b[^>]*>/g)].map(([tag]) => tag)
  const sends = buttons.filter((tag) =>
    (attribute(tag, "type") ?? "submit") === "submit" && !/ (?:hidden|disabled)/.test(tag)
  )
  // A browser sends a form of one line by Enter.
  const lines = form.markup.match(/<(?:input type="(?!hidden)|select|textarea)/g) ?? []
  assert.isTrue(sends.length > 0 || (form.method === "get" && lines.length === 1), what)
  if (form.method !== "post") return
  const names = new Set(form.fields.map(([name]) => name))
  for (const name of ["_action", "_token", "_once"]) assert.isTrue(names.has(name), `${name} ${what}`)
  const isOwn = routeOf(form.address)?.actions.some(({ name }) => name === form.name)
  assert.isTrue(isOwn, `${what} has no action`)
}

/** A page without what only scripts show: buttons are hidden, and what opens a dialog is a link to a page with a form. */
const assertPlainPage = (path: string, found: ReadonlyMap<string, string>) => {
  const shown = withoutTemplates(found.get(path) ?? "")
  for (const [tag] of shown.matchAll(/<button\b[^>]*type="button"[^>]*>/g)) assert.match(tag, / hidden/, path)
  for (const [tag] of shown.replaceAll(/<form\b.*?<\/form>/gs, "").matchAll(/<button\b[^>]*>/g)) {
    assert.match(tag, /type="button"/, path)
  }
  assert.notMatch(shown, /\shx-(?:get|post|put|patch|delete|boost|on)/, path)
  for (const [tag] of shown.matchAll(/<a\b[^>]*data-dialog[^>]*>/g)) {
    const target = (attribute(tag, "href") ?? "").replace(/[?#].*/, "")
    const forms = formsOf(target, found.get(target) ?? "").filter(({ name }) => name !== "sign-out")
    assert.isTrue(forms.some(({ method }) => method === "post"), `${path} ${tag}`)
  }
}

/** A whole page, which says why if it refuses a form. */
const assertPage = ({ status, text }: Answer, what: string) => {
  assert.notInclude([403, 404, 405, 415], status, what)
  assert.isBelow(status, 500, what)
  assert.match(text, /^<!doctype html>.*<h1>.*<\/html>\s*$/s, what)
  if (status >= 400) assert.include(text, "role=\"alert\"", what)
}

/** What ends other forms is sent last. */
const ends = /(?:delete|remove|revoke|logout|cancel|clear|end-others)$/

/**
 * Sends forms, each once, as the person with this password, and keeps which ones there were, and which ones asked for a
 * proof.
 */
const senderOf = (browser: PlainBrowser, personId: number) => {
  const done = new Set<string>()
  const asked = new Set<string>()
  let app = new TOTP()
  const isNew = (form: PlainForm) => form.name !== "sign-out" && !done.has(keyOf(form))
  /** The page's first new form, with a proof that is too old, and a code that counts as unused. */
  const newIn = Effect.fnUntraced(function*(path: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
    yield* sql`update authenticators set last_step = 0 where person_id = ${personId}`
    const { text } = yield* browser.open(path)
    return formsOf(path, text).find(isNew)
  })
  const send = Effect.fnUntraced(function*(form: PlainForm) {
    const what = `${form.page} ${form.name}`
    assertPlain(form)
    done.add(keyOf(form))
    if (form.isHidden) {
      assert.include(withPasskey, keyOf(form))
      return ""
    }
    if (form.markup.includes(`name="_password"`)) asked.add(keyOf(form))
    const code = app.generate()
    const answer = yield* browser.send(form, { code, _code: code, _password: password })
    assertPage(answer, what)
    assert.notInclude(answer.text, `id="f-${form.name}_password-fault"`, what)
    return answer.text
  })
  const sendAll = Effect.fnUntraced(function*(found: ReadonlyMap<string, string>) {
    const paths = [...found.keys()].toSorted((one, other) => Number(ends.test(one)) - Number(ends.test(other)))
    for (const path of paths) {
      if (!formsOf(path, found.get(path) ?? "").some(isNew)) continue
      for (let form = yield* newIn(path); form !== undefined; form = yield* newIn(path)) {
        const text = yield* send(form)
        const confirm = formsOf(path, text).find((one) => keyOf(one) === confirmApp && isNew(one))
        if (confirm === undefined) continue
        const [, secret = ""] = /<code[^>]*>([A-Z2-7]{32})<\/code>/.exec(text) ?? []
        app = new TOTP({ secret: Secret.fromBase32(secret) })
        yield* send(confirm)
      }
    }
  })
  return { asked, done, sendAll }
}

layer(Service.layer(), { excludeTestServices: true })("the console without scripts", (it) => {
  it.effect("every form of every page is one that a browser sends by itself, and the answer is a whole page", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ password })
      const { cookie, personId } = yield* ownerOf(accountId)
      yield* fillAccount(key)
      const states = yield* fillStates({ accountId, key })
      const found = yield* everyPage({ accountId, cookie, query: "" })
      const browser = plainBrowser(cookie)
      const read = Effect.fnUntraced(function*(paths: ReadonlyArray<string>) {
        for (const path of paths) found.set(path, (yield* browser.open(path)).text)
      })
      yield* read([...states, ...changesOf([...found.keys()])])
      for (const path of found.keys()) if (!path.endsWith("/frame")) assertPlainPage(path, found)
      const { asked, done, sendAll } = senderOf(browser, personId)
      const security = "/console/me/security"
      yield* sendAll(new Map([[security, found.get(security) ?? ""]]))
      const [passkey] = yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
        values (${personId}, '\\x01', '\\x00', 0, 'Phone') returning id`
      const ofPasskey = `${security}/passkeys/${passkey?.["id"]}`
      yield* read([`${ofPasskey}/rename`, `${ofPasskey}/remove`, `${security}/app/remove`])
      yield* sendAll(found)
      const all = pages.flatMap(({ actions, path }) =>
        actions.map(({ isFresh, name }) => ({ isFresh, key: `${path} ${name}` }))
      )
      // The next test signs in by a code.
      const apart = [...withPasskey, "/sign-in code", "/sign-out sign-out"]
      const left = all.filter(({ key }) => !done.has(key)).map(({ key }) => key)
      assert.deepStrictEqual(left.toSorted(), apart.toSorted())
      const fresh = all.filter(({ isFresh, key }) => isFresh && ![...withPasskey, confirmApp].includes(key)).map((
        { key }
      ) => key)
      assert.deepStrictEqual([...asked].toSorted(), fresh.toSorted())
      const [signOut] = formsOf("/console/me", (yield* browser.open("/console/me")).text)
      assert.isDefined(signOut)
      assert.include((yield* browser.send(signOut)).text, "<h1>Sign in</h1>")
    }))

  it.effect.skipIf(chromium === undefined)(
    "a person signs in with the code of their app, and pairs a phone with a picture that they load again",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, email, key } = yield* makeAccount({ password })
        const page = yield* openPage
        const at = `${node.baseUrl.replace("127.0.0.1", "localhost")}/console`
        yield* page.command("Emulation.setScriptExecutionDisabled", { value: true })
        const signIn = Effect.gen(function*() {
          yield* page.open(`${at}/sign-in`)
          // Its button is for scripts alone.
          assert.isFalse(yield* page.evaluate(`document.querySelector("form[data-passkey]").checkVisibility()`))
          yield* type(page, "email", email)
          yield* type(page, "password", password)
          yield* page.click("main form:not([hidden]) button")
        })
        yield* signIn
        yield* page.until(titled("Overview"))
        yield* page.open(`${at}/me/security`)
        const app = "section[aria-labelledby=app]"
        yield* page.click(`${app} form button`)
        yield* page.until(`document.querySelector("${app} .qr")?.naturalWidth > 0`)
        const secret = yield* page.evaluate(`document.querySelector("${app} .copyable code").textContent`)
        const codes = new TOTP({ secret: Secret.fromBase32(String(secret)) })
        yield* type(page, "code", codes.generate())
        yield* page.click(`${app} form button`)
        yield* page.until(titled("Your recovery codes"))
        yield* page.click("details.person summary")
        yield* page.click("details.person form button")
        yield* page.until(titled("Sign in"))
        yield* signIn
        yield* page.until(titled("Enter your code"))
        // The app's code of now was used.
        yield* type(page, "code", codes.generate({ timestamp: Date.now() + 30_000 }))
        yield* page.click("main form button")
        yield* page.until(titled("Overview"))

        const { answer: made } = yield* createSession(node, key, "Till")
        const session = String(made.at("id"))
        const picture = `document.querySelector(".pairing img")`
        yield* page.open(`${at}/${accountId}/whatsapp/${session}`)
        yield* page.until(`${picture}?.naturalWidth > 0 && ${shows("The next code replaces this one at")}`)
        assert.isFalse(yield* page.evaluate(shows("by itself")))
        yield* page.click(`main a.button[href$='/whatsapp/${session}']`)
        yield* page.until(`${picture}?.naturalWidth > 0`)
        yield* node.request("POST", "/sandbox/phones/scan", {
          body: `session=${session}&number=15550104871`,
          headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${sandboxToken}` }
        })
        yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${session}`, { key }),
          (found) => found.at("status") === "connected"
        )
        yield* page.click(`main a.button[href$='/whatsapp/${session}']`)
        yield* page.until(shows("+15550104871"))
      })
  )
})
