import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { inTime } from "../faults/inTime.ts"
import { dkimKey, dkimVerdict, ended, insertDomain, readMail, sendBulk } from "../support/bulkMail.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { lockWaits } from "../support/lockWaits.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, live, makeAccount, Service, startNode } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

const first = "https://shop.example/offer?a=1&b=%20#top"
const second = "http://shop.example/other"

const html = `<html><body><p>Hello {{name|you}}</p>
<a href="https://shop.example/offer?a=1&amp;b=%20#top">One</a> <A HREF='${second}'>Two</A> <a href="${first}">Again</a>
<a href="https://shop.example/{{name|you}}">Own</a> <a href="mailto:us@shop.example">Write</a>
<a href="https://shop.example/unsubscribe">Leave</a></body></html>`

/** Sends a mail and returns it as its reader sees it, with a webhook for opens and clicks. */
const trackedMail = Effect.fnUntraced(function*(options: {
  readonly domain?: string
  readonly settings?: Readonly<Record<string, boolean>>
  readonly mail?: Readonly<Record<string, unknown>>
  /** Otherwise the relay accepted the mail a minute ago. */
  readonly isFresh?: boolean
}) {
  const node = yield* Service
  const { sink } = yield* Relay
  const sql = yield* SqlClient.SqlClient
  const account = yield* makeAccount()
  const { accountId, key } = account
  const domain = options.domain ?? `d${accountId}.example`
  yield* insertDomain(accountId, domain, { key: dkimKey.pem })
  const [row] = yield* sql`select id from email_domains where account_id = ${accountId}`
  const domainPath = `/v1/email/domains/${String(row?.["id"])}`
  const settings = options.settings ?? { track_opens: true, track_clicks: true }
  const changed = yield* node.request("PUT", domainPath, { key, json: settings })
  assert.strictEqual(changed.status, 200, changed.text)
  const receiver = yield* makeWebhookReceiver()
  const hook = yield* node.request("POST", "/v1/webhooks", {
    key,
    json: { url: receiver.url, events: ["email.opened", "email.clicked"] }
  })
  const secret = String(hook.at("data", "secret"))
  const to = `reader.${accountId}@people.example`
  const mail = { from: `us@${domain}`, subject: "Hi {{name|you}}", html, recipients: [to], ...options.mail }
  const batch = yield* sendBulk(node, key, mail)
  yield* ended(node, key, batch)
  const age = options.isFresh === true ? 0 : 60
  yield* sql`update email_messages set sent_at = now() - ${age} * interval '1 second' where batch_id = ${batch}`
  const raw = sink.messages.find((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0)
  const read = (yield* readMail(raw)).mail
  const body = read.html ?? ""
  const path = (url: string | undefined) => url === undefined ? "/none" : new URL(url).pathname
  const clicks = Array.from(body.matchAll(/href=["'](http:\/\/127[^"']*\/t\/c\/[^"']*)/gi), ([, url]) => path(url))
  const open = path(/<img src="([^"]*)"/.exec(body)?.[1])
  const visit = (at: string, { method = "GET", userAgent = browser } = {}) =>
    node.request(method, at, { headers: { "user-agent": userAgent } })
  /** The events of opens and clicks, once there are this many. */
  const events = (count: number) =>
    Effect.map(receiver.received(count), (requests) => {
      assert.strictEqual(requests.length, count)
      return requests.map((request) => signedEvent(request, secret))
    })
  const recipient = Effect.map(
    node.request("GET", `/v1/email/batches/${batch}/recipients`, { key }),
    ({ at }) => ({ status: at("data", 0, "status"), opens: at("data", 0, "opens"), clicks: at("data", 0, "clicks") })
  )
  return {
    ...account,
    batch,
    body,
    clicks,
    domainPath,
    events,
    node,
    open,
    raw,
    recipient,
    text: read.text ?? "",
    to,
    visit
  }
})

layer(Relay.layer(), { excludeTestServices: true })("open and click tracking", (it) => {
  it.effect("an open and a click in a signed mail are counted and published with the link's target", () =>
    Effect.gen(function*() {
      const { batch, body, clicks, events, key, node, open, raw, recipient, text, to, visit } = yield* trackedMail({})
      assert.strictEqual((yield* dkimVerdict(raw)).result, "pass")
      assert.match(open, /^\/t\/o\/[\w-]{32}\.gif$/)
      assert.lengthOf(clicks, 3)
      assert.strictEqual(clicks[0], clicks[2])
      for (const kept of ["https://shop.example/you", "mailto:us@shop.example", "https://shop.example/unsubscribe"]) {
        assert.include(body, `href="${kept}"`)
      }
      assert.include(text, second)
      assert.notInclude(text, "/t/c/")

      const seen = yield* visit(open)
      assert.strictEqual(seen.status, 200)
      assert.deepInclude(seen.headers, {
        "content-type": "image/gif",
        "content-length": "43",
        "cache-control": "no-store"
      })
      const [opened] = yield* events(1)
      assert.strictEqual(opened?.event, "email.opened")
      assert.deepInclude(opened?.data, { batch_id: batch, to, subject: "Hi you", machine: false })
      assert.match(String(opened?.data["opened_at"]), /^20.*Z$/)
      assert.deepStrictEqual(yield* recipient, { status: "opened", opens: 1, clicks: 0 })

      const followed = yield* visit(clicks[0] ?? "")
      assert.strictEqual(followed.status, 302)
      assert.strictEqual(followed.headers["location"], first)
      assert.deepInclude(followed.headers, { "cache-control": "no-store", "referrer-policy": "no-referrer" })
      const [, clicked] = yield* events(2)
      assert.strictEqual(clicked?.event, "email.clicked")
      assert.deepInclude(clicked?.data, { batch_id: batch, to, subject: "Hi you", url: first, bot: false })
      assert.deepStrictEqual(yield* recipient, { status: "clicked", opens: 1, clicks: 1 })

      const list = yield* node.request("GET", `/v1/messages?batch_id=${batch}`, { key })
      const told = yield* node.request("GET", `${String(list.at("data", 0, "href"))}/timeline`, { key })
      const statuses = (told.at("data") as ReadonlyArray<{ readonly kind: string; readonly detail: object }>)
        .flatMap(({ detail, kind }) => kind === "status" ? [detail] : [])
      assert.deepStrictEqual(statuses, [
        { status: "sent", source: "relay", to, error: null },
        { status: "opened", source: "pixel", to, error: null },
        { status: "clicked", source: "link", to, error: null }
      ])
    }))

  it.effect("repeated opens and clicks are all counted, but published once for each link", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { clicks, events, open, recipient, visit } = yield* trackedMail({})
      for (let i = 0; i < 3; i++) yield* visit(open)
      for (let i = 0; i < 3; i++) yield* visit(clicks[0] ?? "")
      yield* sql`update email_clicks set clicked_at = clicked_at - interval '1 minute'`
      assert.strictEqual((yield* visit(clicks[1] ?? "")).headers["location"], second)
      const published = yield* events(3)
      assert.sameMembers(published.map(({ data, event }) => `${event} ${String(data["url"])}`), [
        "email.opened undefined",
        `email.clicked ${first}`,
        `email.clicked ${second}`
      ])
      assert.deepStrictEqual(yield* recipient, { status: "clicked", opens: 3, clicks: 4 })
    }))

  it.effect("automated opens and clicks are marked, and the first human one after them is published too", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { clicks, events, open, recipient, visit } = yield* trackedMail({})
      const [one = "", two = ""] = clicks
      for (const userAgent of ["Mozilla/5.0", "Mozilla/5.0 (via ggpht.com GoogleImageProxy)", browser, browser]) {
        yield* visit(open, { userAgent })
      }
      const head = yield* visit(one, { method: "HEAD" })
      assert.deepStrictEqual([head.status, head.headers["location"]], [302, first])
      // Too soon after another link for a human reader.
      yield* visit(two)
      yield* sql`update email_clicks set clicked_at = clicked_at - interval '1 minute'`
      yield* visit(one, { userAgent: "curl/8.5.0" })
      yield* sql`update email_clicks set clicked_at = clicked_at - interval '1 minute'`
      yield* visit(two)
      const published = yield* events(5)
      const line = ({ data, event }: (typeof published)[number]) =>
        `${event} ${String(data["url"] ?? "")} ${String(data["machine"] ?? data["bot"])}`
      assert.sameMembers(published.map(line), [
        "email.opened  true",
        "email.opened  false",
        `email.clicked ${first} true`,
        `email.clicked ${second} true`,
        `email.clicked ${second} false`
      ])
      assert.deepStrictEqual(yield* recipient, { status: "clicked", opens: 4, clicks: 4 })
    }))

  it.effect("opens and clicks within seconds of sending are marked as automated", () =>
    Effect.gen(function*() {
      const { clicks, events, open, visit } = yield* trackedMail({ isFresh: true })
      yield* visit(open)
      yield* visit(clicks[0] ?? "")
      const published = yield* events(2)
      assert.sameMembers(published.map(({ data }) => data["machine"] ?? data["bot"]), [true, true])
    }))

  it.effect("a HEAD request or an invalid, foreign or misused token counts nothing", () =>
    Effect.gen(function*() {
      const { clicks, node, open, recipient, visit } = yield* trackedMail({})
      const [click = ""] = clicks
      assert.strictEqual((yield* visit(open, { method: "HEAD" })).status, 200)
      const openToken = open.slice("/t/o/".length, -".gif".length)
      const clickToken = click.slice("/t/c/".length)
      const flipped = (token: string) => `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`
      const pages = new Set<string>()
      for (const token of [flipped(clickToken), openToken, clickToken.slice(1), `${clickToken}A`, "x", "%00"]) {
        const answer = yield* visit(`/t/c/${token}?url=https://evil.example`)
        assert.strictEqual(answer.status, 404, token)
        assert.isUndefined(answer.headers["location"])
        assert.match(answer.headers["content-type"] ?? "", /^text\/html/)
        pages.add(answer.text)
      }
      assert.strictEqual(pages.size, 1)
      assert.match([...pages].join(), /This link is broken/)
      const pixels = new Set<string>()
      for (const token of [flipped(openToken), clickToken, "x", "%00"]) {
        const answer = yield* visit(`/t/o/${token}.gif`)
        assert.deepStrictEqual([answer.status, answer.headers["content-type"]], [200, "image/gif"], token)
        pixels.add(answer.text)
      }
      assert.strictEqual(pixels.size, 1)
      assert.deepStrictEqual(yield* recipient, { status: "sent", opens: 0, clicks: 0 })
      assert.strictEqual((yield* node.request("POST", click)).status, 405)
    }))

  it.effect("many visits of one pixel leave connections for other requests", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key, open, visit } = yield* trackedMail({})
      const visits = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`select from email_messages for update`
        const visits = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 30 }), () => visit(open), { concurrency: "unbounded" })
        )
        yield* eventually(lockWaits, (rows) => rows.length >= 2)
        assert.strictEqual((yield* node.request("GET", "/v1/account", { key })).status, 200)
        return visits
      }))
      for (const { status } of yield* Fiber.join(visits)) assert.strictEqual(status, 200)
    }))

  it.effect("a deleted message's link returns 404, and its pixel is still an image", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { batch, clicks, open, visit } = yield* trackedMail({})
      yield* visit(clicks[0] ?? "")
      yield* sql`delete from email_messages where batch_id = ${batch}`
      assert.strictEqual((yield* visit(clicks[0] ?? "")).status, 404)
      assert.strictEqual((yield* visit(open)).status, 200)
    }))

  it.effect("tracking is off unless the domain or the mail enables it, and the mail's setting wins", () =>
    Effect.gen(function*() {
      const cases = [
        [{}, {}, false, 0],
        [{ track_opens: true }, {}, true, 0],
        [{ track_clicks: true }, {}, false, 3],
        [{ track_opens: true, track_clicks: true }, { track_opens: false, track_clicks: false }, false, 0],
        [{}, { track_opens: true, track_clicks: true }, true, 3]
      ] as const
      for (const [settings, mail, opens, clicks] of cases) {
        const seen = yield* trackedMail({ settings, mail })
        assert.deepStrictEqual(
          [seen.open !== "/none", seen.clicks.length],
          [opens, clicks],
          JSON.stringify([settings, mail])
        )
        if (!opens && clicks === 0) assert.include(seen.body, html.replaceAll("{{name|you}}", "you").slice(0, 200))
      }
    }))

  it.effect("a mail from the default sender can enable tracking", () =>
    Effect.gen(function*() {
      const wanted = { from: undefined, track_opens: true, track_clicks: true }
      const { clicks, events, open, visit } = yield* trackedMail({ mail: wanted })
      assert.lengthOf(clicks, 3)
      yield* visit(open)
      assert.strictEqual((yield* events(1))[0]?.event, "email.opened")
      const silent = yield* trackedMail({ mail: { from: undefined } })
      assert.deepStrictEqual([silent.open, silent.clicks], ["/none", []])
    }))

  it.effect("each recipient of a single email has separate links, counted separately", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const to = [`one.${accountId}@people.example`, `two.${accountId}@people.example`]
      const json = {
        to,
        subject: "Hi",
        html: "<p><a href=\"https://shop.example/a?b=1\">A</a></p>",
        track_opens: true,
        track_clicks: true
      }
      const { at } = yield* node.request("POST", "/v1/email/send", { key, json })
      const copyFor = (address: string) => sink.messages.find((message) => message.to[0] === address)
      yield* sink.until(() => to.every((address) => copyFor(address) !== undefined))
      yield* eventually(
        node.request("GET", `/v1/email/messages/${String(at("data", "id"))}`, { key }),
        (answer) => answer.at("data", "status") === "sent"
      )
      yield* sql`update email_messages set sent_at = sent_at - interval '1 minute' where account_id = ${accountId}`
      const links = yield* Effect.forEach(
        to,
        (address) =>
          Effect.map(readMail(copyFor(address)?.raw ?? Buffer.alloc(0)), ({ mail }) => {
            const [, click = ""] = /href="([^"]*\/t\/c\/[^"]*)"/.exec(mail.html ?? "") ?? []
            const [, open = ""] = /<img src="([^"]*\/t\/o\/[^"]*)"/.exec(mail.html ?? "") ?? []
            return { click: new URL(click).pathname, open: new URL(open).pathname }
          })
      )
      assert.strictEqual(new Set(links.flatMap(({ click, open }) => [click, open])).size, 4)
      const headers = { "user-agent": browser }
      for (const { click } of links) {
        const answer = yield* node.request("GET", click, { headers })
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [302, "https://shop.example/a?b=1"])
      }
      yield* node.request("GET", links[1]?.open ?? "", { headers })
      const record = yield* node.request("GET", `/v1/email/messages/${String(at("data", "id"))}`, { key })
      assert.deepInclude(record.at("data"), { status: "clicked", opens: 1, clicks: 2 })
    }))

  it.effect("an open does not change the status of a bounced message", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { batch, events, open, recipient, visit } = yield* trackedMail({})
      yield* sql`update email_messages set status = 'bounced' where batch_id = ${batch}`
      yield* visit(open)
      yield* events(1)
      assert.deepStrictEqual(yield* recipient, { status: "bounced", opens: 1, clicks: 0 })
    }))

  it.effect("only the domain's account can switch tracking, separately for opens and clicks", () =>
    Effect.gen(function*() {
      const { domainPath, key, node } = yield* trackedMail({ settings: { track_opens: true } })
      const other = yield* makeAccount()
      const foreign = yield* node.request("PUT", domainPath, { key: other.key, json: { track_opens: false } })
      assert.strictEqual(foreign.status, 404)
      const show = Effect.map(node.request("GET", domainPath, { key }), ({ at }) => [
        at("data", "track_opens"),
        at("data", "track_clicks")
      ])
      assert.deepStrictEqual(yield* show, [true, false])
      yield* node.request("PUT", domainPath, { key, json: { track_clicks: true } })
      assert.deepStrictEqual(yield* show, [true, true])
      yield* node.request("PUT", domainPath, { key, json: { track_opens: false } })
      assert.deepStrictEqual(yield* show, [false, true])
      assert.strictEqual((yield* node.request("PUT", domainPath, { key, json: { track_opens: "yes" } })).status, 422)
      const added = yield* node.request("POST", "/v1/email/domains", {
        key,
        json: { domain: `new${other.accountId}.example` }
      })
      const path = `/v1/email/domains/${String(added.at("data", "id"))}`
      const fresh = yield* eventually(node.request("GET", path, { key }), ({ status }) => status === 200)
      assert.deepInclude(fresh.at("data"), { track_opens: false, track_clicks: false })
    }))

  it.effect(
    "without the database the pixel still loads, and links work again once it is back",
    () =>
      Effect.gen(function*() {
        const { sink } = yield* Relay
        const proxy = yield* makeDatabaseProxy()
        const cut = yield* startNode({ smtpPort: sink.port, env: { DATABASE_URL: proxy.url } })
        const { clicks, open, recipient } = yield* trackedMail({})
        yield* proxy.become("gone")
        const seen = yield* cut.request("GET", open)
        assert.deepStrictEqual([seen.status, seen.headers["content-type"]], [200, "image/gif"])
        assert.strictEqual((yield* cut.request("GET", clicks[0] ?? "")).status, 503)
        yield* proxy.become("up")
        yield* eventually(cut.request("GET", clicks[0] ?? ""), ({ status }) => status === 302, longer.turn)
        assert.deepInclude(yield* recipient, { opens: 0, clicks: 1 })
        yield* cut.stop()
      })
  )

  it.effect("while the database hangs the pixel and links answer 503 within five seconds, and work again after it", () =>
    Effect.gen(function*() {
      const { sink } = yield* Relay
      const proxy = yield* makeDatabaseProxy()
      const env = { DATABASE_URL: proxy.url, DATABASE_CONNECTIONS: "5" }
      const hung = yield* startNode({ smtpPort: sink.port, env })
      const { clicks, open } = yield* trackedMail({})
      const [click = ""] = clicks
      yield* proxy.become("silent")
      // The pixels begin a transaction at once, on more connections than there are.
      const paths = [...Array.from({ length: 10 }, () => open), click]
      const [spent, answers] = yield* live(Effect.timed(
        Effect.forEach(paths, (path) => hung.request("GET", path), { concurrency: "unbounded" })
      ))
      assert.deepStrictEqual(answers.map(({ status }) => status), paths.map(() => 503))
      assert.isBelow(Duration.toSeconds(spent), inTime(5))
      yield* proxy.become("up")
      const back = yield* eventually(hung.request("GET", click), ({ status }) => status !== 503, longer.turn)
      assert.deepStrictEqual([back.status, back.headers["location"]], [302, first])
      const pixels = yield* Effect.forEach(Array.from({ length: 10 }), () => hung.request("GET", open))
      assert.deepStrictEqual(pixels.map(({ status }) => status), pixels.map(() => 200))
      yield* hung.stop()
    }))
})
