import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readQr } from "../support/readQr.ts"
import { eventually, live, makeAccount, Service, startNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import {
  createSession,
  listeningAccount,
  pairedSession,
  sessionOf,
  storedOf,
  untilConnected,
  untilStatus,
  WhatsApp
} from "../support/WhatsApp.ts"

layer(WhatsApp.layer(), { excludeTestServices: true })("WhatsApp sessions", (it) => {
  it.effect("a session shows a code, connects when a phone scans it, and stores all that it needs to reconnect", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { key } = account
      const { answer, id, qr } = yield* createSession(node, key, "Shop")
      assert.deepInclude(answer.json, { id, name: "Shop", status: "pending", phone_number: null })
      assert.hasAllKeys(answer.json, ["id", "session_key", "name", "status", "qr_code", "phone_number", "created_at"])
      assert.strictEqual(answer.headers["location"], `/v1/whatsapp/sessions/${id}`)
      const again = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key })
      assert.strictEqual(readQr(String(again.at("qr_code"))), qr)
      assert.isString(again.at("expires_at"))
      const number = yield* phone
      const device = simulator.controls.scan(qr, number)
      const shown = yield* untilStatus(node, key, id, "connected")
      assert.deepInclude(shown.json, { phone_number: number, reason: null, messages_count: 0 })
      assert.isString(shown.at("connected_at"))
      const [connected] = yield* account.published(id, 1)
      assert.isDefined(connected)
      assert.deepStrictEqual(connected, {
        ...connected,
        event: "session.connected",
        data: { session_id: id, phone_number: `+${number}` }
      })
      const list = yield* node.request("GET", "/v1/whatsapp/sessions?status=connected", { key })
      assert.deepInclude(list.at("meta"), { total: 1 })
      assert.hasAllKeys(list.at("data", 0), [
        "id",
        "session_key",
        "name",
        "status",
        "phone_number",
        "messages_count",
        "created_at"
      ])
      const refused = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key })
      assert.deepStrictEqual([refused.status, refused.at("error", "code")], [409, 4093])
      yield* eventually(
        Effect.sync(() => simulator.controls.sessions().find(({ session }) => session === device)),
        (view) => view?.preKeys === 812 || (view?.preKeys ?? 0) > 800
      )
      assert.isAbove((yield* storedOf(id)).keys, 800)
    }))

  it.effect("a session is paired by a typed code, and only the latest code works", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { key } = account
      const { id } = yield* createSession(node, key)
      const number = yield* phone
      const ask = (phone_number: string) =>
        node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-code`, { key, json: { phone_number } })
      const other = yield* phone
      const codes = yield* Effect.forEach([`+${other}`, `+${number}`], ask)
      const answer = yield* ask(`+${number}`)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(new Set([...codes, answer].map(({ at }) => at("data", "code"))).size, 3)
      const late = yield* Effect.promise(() =>
        simulator.controls.enterPairingCode(String(codes[0]?.at("data", "code")), other).catch(String)
      )
      assert.match(String(late), /No client requests a pairing code/)
      assert.match(String(answer.at("data", "code")), /^[A-Z0-9]{4}-[A-Z0-9]{4}$/)
      yield* Effect.promise(() => simulator.controls.enterPairingCode(String(answer.at("data", "code")), number))
      yield* untilStatus(node, key, id, "connected")
      const refused = yield* ask(number)
      assert.deepStrictEqual([refused.status, refused.at("error", "type")], [409, "session_already_connected"])
      const wrong = yield* ask("12")
      assert.deepStrictEqual([wrong.status, wrong.at("error", "param")], [422, "phone_number"])
    }))

  it.effect("a session decrypts a message and stores the ratchet step before it confirms", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const { id, number } = yield* pairedSession(node, key)
      const writer = yield* phone
      // Only the session sends receipts, not the phone.
      simulator.controls.setReceipts(number, { delivered: false, read: false })
      for (const text of ["one", "two", "three"]) {
        yield* Effect.promise(() => simulator.controls.sendText(writer, number, { text }))
      }
      const statuses = Effect.sync(() => simulator.controls.messages(writer).map(({ status }) => status))
      yield* eventually(statuses, (all) => all.length === 3 && all.every((status) => status === "delivered"))
      const rows = yield* sql`select type from whatsapp_keys where session_id = ${id} and type = 'session'`
      assert.isAbove(rows.length, 0)
      assert.strictEqual((yield* sessionOf(node, key, id)).at("status"), "connected")
    }))

  it.effect("deleting a session logs the device out and leaves no data", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const { device, id } = yield* pairedSession(node, key)
      const gone = yield* node.request("DELETE", `/v1/whatsapp/sessions/${id}`, { key })
      assert.deepInclude(gone.json, { success: true, data: null })
      assert.deepStrictEqual(yield* storedOf(id), { keys: 0, rows: 0, epoch: 0 })
      assert.isUndefined(simulator.controls.sessions().find(({ session }) => session === device))
      assert.strictEqual((yield* sessionOf(node, key, id)).status, 404)
      assert.strictEqual((yield* node.request("DELETE", `/v1/whatsapp/sessions/${id}`, { key })).status, 404)
    }))

  it.effect("deleting a session without a phone does not wait for WhatsApp", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const remove = Effect.fnUntraced(function*(isTyped: boolean) {
        const { id } = yield* createSession(node, key)
        if (isTyped) {
          const json = { phone_number: `+${yield* phone}` }
          yield* node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-code`, { key, json })
        }
        const [passed, gone] = yield* live(
          Effect.timed(node.request("DELETE", `/v1/whatsapp/sessions/${id}`, { key }))
        )
        assert.strictEqual(gone.status, 200, gone.text)
        assert.deepStrictEqual(yield* storedOf(id), { keys: 0, rows: 0, epoch: 0 })
        return Duration.toMillis(passed)
      })
      for (const isTyped of [false, true]) {
        // A request to WhatsApp that gets no answer takes three seconds each time, and a busy machine may take long once.
        const times = yield* Effect.replicateEffect(remove(isTyped), 3)
        assert.isBelow(Math.min(...times), 2_500)
      }
    }))

  it.effect("a session reconnects by itself after a dropped connection and publishes both changes", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { device, id, number } = yield* pairedSession(node, account.key)
      simulator.controls.dropConnection(device)
      const [, lost, back] = yield* account.published(id, 3)
      assert.deepInclude(lost, {
        event: "session.disconnected",
        data: { session_id: id, reason: "connection_lost", reconnecting: true }
      })
      assert.deepInclude(back, { event: "session.connected", data: { session_id: id, phone_number: `+${number}` } })
      yield* untilStatus(node, account.key, id, "connected")
    }))

  it.effect("a session retries when the server answers 503 or asks for another connection (515)", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { device, id, number } = yield* pairedSession(node, account.key)
      simulator.controls.setFault(number, { kind: "stream-error", code: 503, times: 2 })
      simulator.controls.endConnection(device, 515)
      const events = yield* account.published(id, 3)
      assert.deepStrictEqual(events.map(({ event }) => event), [
        "session.connected",
        "session.disconnected",
        "session.connected"
      ])
    }))

  it.effect("a session that the phone logs out fails without credentials and can be paired again", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { device, id } = yield* pairedSession(node, account.key)
      simulator.controls.logOut(device)
      const failed = yield* untilStatus(node, account.key, id, "failed")
      assert.strictEqual(failed.at("reason"), "logged_out")
      assert.deepInclude((yield* account.published(id, 2))[1], {
        event: "session.disconnected",
        data: { session_id: id, reason: "logged_out", reconnecting: false }
      })
      assert.strictEqual((yield* storedOf(id)).keys, 0)
      const code = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key: account.key })
      assert.strictEqual(code.status, 200, code.text)
      const pending = yield* sessionOf(node, account.key, id)
      assert.deepInclude(pending.json, { status: "pending", phone_number: null, connected_at: null, reason: null })
      const next = yield* phone
      const { controls } = simulator
      controls.scan(readQr(String(code.at("qr_code"))), next)
      const back = yield* untilConnected(node, account.key, id, (qr) => Effect.sync(() => controls.scan(qr, next)))
      assert.strictEqual(back.at("phone_number"), next)
      assert.isString(back.at("connected_at"))
    }))

  it.effect("a session stays away when another client logs in with its credentials (440)", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { device, id } = yield* pairedSession(node, account.key)
      simulator.controls.endConnection(device, 440)
      const down = yield* untilStatus(node, account.key, id, "disconnected")
      assert.strictEqual(down.at("reason"), "replaced")
      assert.deepInclude((yield* account.published(id, 2))[1], {
        event: "session.disconnected",
        data: { session_id: id, reason: "replaced", reconnecting: true }
      })
    }))

  it.effect("a session that its account logs out stays without credentials, and pairs another phone", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const account = yield* listeningAccount(node)
      const { device, id } = yield* pairedSession(node, account.key)
      const post = (what: string) => node.request("POST", `/v1/whatsapp/sessions/${id}/${what}`, account)
      const left = yield* post("logout")
      assert.deepInclude(left.at("data"), { id, status: "failed", reason: "logged_out" })
      assert.deepInclude(yield* storedOf(id), { keys: 0, rows: 1 })
      assert.isUndefined(simulator.controls.sessions().find(({ session }) => session === device))
      assert.deepInclude((yield* account.published(id, 2))[1], {
        event: "session.disconnected",
        data: { session_id: id, reason: "logged_out", reconnecting: false }
      })
      assert.deepStrictEqual((yield* post("logout")).at("data"), left.at("data"))
      assert.deepInclude((yield* post("reconnect")).at("data"), { status: "pending", phone_number: null })
      const code = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key: account.key })
      const next = yield* phone
      const { controls } = simulator
      controls.scan(readQr(String(code.at("qr_code"))), next)
      const back = yield* untilConnected(node, account.key, id, (qr) => Effect.sync(() => controls.scan(qr, next)))
      assert.strictEqual(back.at("phone_number"), next)
    }))

  it.effect("a session that another client has replaced reconnects at once when its account asks for it", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const { device, id } = yield* pairedSession(node, key)
      simulator.controls.endConnection(device, 440)
      yield* untilStatus(node, key, id, "disconnected")
      const reconnect = node.request("POST", `/v1/whatsapp/sessions/${id}/reconnect`, { key })
      const [passed, answer] = yield* live(Effect.timed(reconnect))
      assert.deepInclude(answer.at("data"), { id, status: "connected", reason: null })
      // By itself it would wait for 30 seconds.
      assert.isBelow(Duration.toMillis(passed), 20_000)
      const again = yield* reconnect
      assert.deepStrictEqual([again.status, again.at("error", "type")], [409, "session_already_connected"])
    }))

  it.effect("concurrent requests create at most the plan's number of sessions, and deleting one makes room", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount({ plan: "growth" })
      const answers = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () =>
          eventually(
            node.request("POST", "/v1/whatsapp/sessions", { key, json: {} }),
            ({ status }) => status !== 503,
            longer.start
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status).toSorted(),
        [...Array.from({ length: 3 }, () => 201), ...Array.from({ length: 7 }, () => 402)]
      )
      const refused = answers.find(({ status }) => status === 402)
      assert.deepInclude(refused?.at("error"), {
        type: "plan_limit_exceeded",
        limit: 3,
        current: 3,
        resource: "whatsapp_sessions"
      })
      assert.include(
        refused?.text,
        "Your plan allows 3 WhatsApp sessions and you have 3. Ask the operator for a larger plan, or remove one."
      )
      const made = answers.find(({ status }) => status === 201)
      yield* node.request("DELETE", `/v1/whatsapp/sessions/${String(made?.at("id"))}`, { key })
      yield* createSession(node, key)
    }))

  it.effect("the operator's setting limits the number of sessions", () =>
    Effect.gen(function*() {
      const { env } = yield* WhatsApp
      const node = yield* startNode({ env: { ...env, WHATSAPP_SESSION_LIMIT_STARTER: "0" } })
      const { key } = yield* makeAccount({ plan: "starter" })
      const refused = yield* node.request("POST", "/v1/whatsapp/sessions", { key, json: {} })
      assert.deepInclude(refused.at("error"), { type: "plan_limit_exceeded", limit: 0, current: 0 })
      assert.include(refused.text, "allows 0 WhatsApp sessions and you have 0. Ask the operator for a larger plan.")
    }))

  it.effect("the sandbox's phones are not served when the upstream is not the sandbox", () =>
    Effect.gen(function*() {
      const node = yield* Service
      assert.strictEqual((yield* node.request("GET", "/sandbox/phones")).status, 404)
    }))

  it.effect("another account's session returns 404 and is not listed", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const stranger = yield* makeAccount()
      const { id } = yield* createSession(node, key)
      for (
        const [method, path, json] of [
          ["GET", "", undefined],
          ["GET", "/qr", undefined],
          ["POST", "/pairing-code", { phone_number: "+15550100300" }],
          ["DELETE", "", undefined]
        ] as const
      ) {
        const answer = yield* node.request(method, `/v1/whatsapp/sessions/${id}${path}`, { key: stranger.key, json })
        assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "not_found"], `${method} ${path}`)
      }
      const list = yield* node.request("GET", "/v1/whatsapp/sessions", { key: stranger.key })
      assert.deepStrictEqual(list.at("data"), [])
      assert.strictEqual((yield* sessionOf(node, key, id)).at("status"), "pending")
    }))

  it.effect("a blank session name is refused", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      for (const [name, says] of [[" \u00a0 ", "must not be blank"], ["", "must not be empty"]] as const) {
        const refused = yield* node.request("POST", "/v1/whatsapp/sessions", { key, json: { name } })
        assert.deepStrictEqual([refused.status, refused.at("error", "param")], [422, "name"])
        assert.strictEqual(refused.at("error", "errors", 0, "message"), says)
      }
    }))

  it.effect("a repeated request with one Idempotency-Key creates one session", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const make = node.request("POST", "/v1/whatsapp/sessions", {
        key,
        json: { name: "Once" },
        headers: { "idempotency-key": "once" }
      })
      const [first, second] = [yield* make, yield* make]
      assert.deepStrictEqual([first.status, second.status], [201, 201])
      assert.strictEqual(second.text, first.text)
      const list = yield* node.request("GET", "/v1/whatsapp/sessions", { key })
      assert.deepInclude(list.at("meta"), { total: 1 })
    }))

  it.effect(
    "a session stops quietly when another owner has raised the epoch, and writes nothing more",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { simulator } = yield* WhatsApp
        const sql = yield* SqlClient.SqlClient
        const account = yield* listeningAccount(node)
        const { device, id } = yield* pairedSession(node, account.key)
        const [other] = yield* sql`update whatsapp_sessions set epoch = epoch + 1 where id = ${id} returning epoch`
        const epoch = Number(other?.["epoch"])
        simulator.controls.dropConnection(device)
        // The session looks at its row when it reconnects, and its pause before that grows.
        yield* node.logged(`no longer owns WhatsApp session ${id}`, longer.turn)
        assert.strictEqual((yield* sessionOf(node, account.key, id)).at("status"), "connected")
        assert.deepStrictEqual((yield* account.published(id, 1)).map(({ event }) => event), ["session.connected"])
        // A request reaches the session where the cluster runs it: this node reclaims it, unless the sweeper already has.
        yield* sql`update whatsapp_sessions set status = 'disconnected' where id = ${id} and epoch = ${epoch}`
        yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key: account.key })
        yield* untilStatus(node, account.key, id, "connected")
        assert.isAbove((yield* storedOf(id)).epoch, epoch)
      })
  )
})

/** Sessions on the node that restarts. */
const many = 20

layer(WhatsApp.layer(), { excludeTestServices: true })(
  "WhatsApp sessions across a restart",
  (it) => {
    it.effect(
      `all ${many} sessions reconnect without a scan, a retry or an event`,
      () =>
        Effect.gen(function*() {
          const first = yield* Service
          const { env, simulator } = yield* WhatsApp
          const account = yield* listeningAccount(first)
          const pairing = () => pairedSession(first, account.key)
          const sessions = yield* Effect.forEach(Array.from({ length: many }), pairing, { concurrency: 4 })
          for (const { id } of sessions) yield* account.published(id, 1)
          const logins = () => {
            const all = new Map(simulator.controls.sessions().map((view) => [view.session, view.logins]))
            return sessions.map(({ device }) => all.get(device) ?? 0)
          }
          assert.deepStrictEqual(logins(), Array.from({ length: many }, () => 1))
          assert.deepStrictEqual(yield* first.stop(), { code: 0, signal: null })
          const second = yield* startNode({ env })
          yield* eventually(Effect.sync(logins), (all) => all.every((count) => count === 2), longer.load)
          yield* eventually(
            second.request("GET", "/v1/whatsapp/sessions?status=connected&per_page=1", { key: account.key }),
            ({ at }) => at("meta", "total") === many,
            longer.load
          )
          const views = simulator.controls.sessions().filter(({ session }) =>
            sessions.some(({ device }) => device === session)
          )
          assert.deepStrictEqual(views.map(({ isConnected }) => isConnected), Array.from({ length: many }, () => true))
          for (const { id } of sessions) {
            assert.deepStrictEqual(account.events(id).map(({ event }) => event), ["session.connected"])
          }
        })
    )
  }
)

layer(WhatsApp.layer(), { excludeTestServices: true })(
  "WhatsApp session of a node that dies",
  (it) => {
    it.effect(
      "another node takes the session over without a scan, with its configured WhatsApp Web version",
      () =>
        Effect.gen(function*() {
          const first = yield* Service
          const { env, simulator } = yield* WhatsApp
          const { key } = yield* makeAccount()
          const { device, id } = yield* pairedSession(first, key)
          const { epoch } = yield* storedOf(id)
          const second = yield* startNode({ env: { ...env, WHATSAPP_VERSION: "2.3001.7" } })
          yield* first.kill
          const logins = () => simulator.controls.sessions().find(({ session }) => session === device)?.logins ?? 0
          yield* eventually(Effect.sync(logins), (count) => count === 2, longer.takeover)
          yield* untilStatus(second, key, id, "connected")
          assert.isAbove((yield* storedOf(id)).epoch, epoch)
          const { versions } = simulator.controls.counters()
          assert.deepStrictEqual([versions.length, versions[1]], [2, "2.3001.7"])
        })
    )
  }
)

layer(Service.layer({ env: { WHATSAPP_URL: "ws://127.0.0.1:9/ws/chat" } }), {
  excludeTestServices: true
})("unreachable WhatsApp", (it) => {
  it.effect("creating a session gets 503 and does not count towards the limit", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount({ plan: "starter" })
      const answer = yield* node.request("POST", "/v1/whatsapp/sessions", { key, json: {} })
      assert.deepStrictEqual([answer.status, answer.at("error", "type")], [503, "pairing_unavailable"])
      // A session without a code is removed after 90 seconds.
      yield* eventually(sql`select count(*) as count from whatsapp_sessions`, ([row]) =>
        row?.["count"] === 0, "100 seconds")
    }))
})
