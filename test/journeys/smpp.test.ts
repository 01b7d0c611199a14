import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodeNet from "node:net"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeStream from "node:stream"
import * as NodeTls from "node:tls"
import { asking } from "../support/bulkMail.ts"
import { makeRawServer } from "../support/RawServer.ts"
import { bringForward, schedule } from "../support/scheduled.ts"
import { selfSigned } from "../support/selfSigned.ts"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { freshNumber, sendSms, smsReaching } from "../support/sms.ts"
import { makeSmsc, receiptText, type Smsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const startOn = (smsc: Smsc, env: Readonly<Record<string, string>> = {}) =>
  startNode({ env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url, SMPP_MAX_PER_SECOND: "1000", ...env } })

/** The carrier behind TLS with a self-signed certificate: a URL for SMPP_URL. */
const overTls = ({ port, url }: Smsc) =>
  Effect.acquireRelease(
    Effect.callback<NodeTls.Server>((resume) => {
      const server = NodeTls.createServer(selfSigned, (socket) => {
        const upstream = NodeNet.connect(port, "127.0.0.1")
        NodeStream.pipeline(socket, upstream, socket, () => {})
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ).pipe(Effect.map((server) => {
    const address = new URL(url.replace("smpp:", "smpps:"))
    address.hostname = "localhost"
    address.port = String(Object(server.address()).port)
    return address.href
  }))

/** A file with that certificate. */
const certificateFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "smpps-"))),
    (directory) => Effect.sync(() => NodeFs.rmSync(directory, { recursive: true }))
  ),
  (directory) => {
    const path = NodePath.join(directory, "ca.pem")
    NodeFs.writeFileSync(path, selfSigned.cert)
    return path
  }
)

/** Runs on a separate database, because each test has a separate carrier. */
const onOwnDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestDatabase.layer)

layer(TestDatabase.layer, { excludeTestServices: true })("SMS over SMPP", (it) => {
  it.effect("a long SMS goes out in parts that each request a receipt, and is delivered when all parts are", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc((_, index) => ({ id: `m${index}`, receipts: [receiptText(`m${index}`)] }))
      const node = yield* startOn(smsc)
      const { key, received } = yield* makeListener(node, ["message.*"])
      const content = `${"a".repeat(152)}€${"b".repeat(152)}`
      const to = freshNumber()
      const id = yield* sendSms(node, key, { to, content, sender_id: "Shop" })
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      assert.deepStrictEqual((yield* received(3)).map(({ event }) => event), [
        "message.queued",
        "message.sent",
        "message.delivered"
      ])
      const parts = smsc.submits.toSorted((a, b) => (a.joined?.[2] ?? 0) - (b.joined?.[2] ?? 0))
      assert.deepStrictEqual(
        parts.map(({ joined }) => joined?.join("/")),
        [1, 2, 3].map((part) => `${id % 256}/3/${part}`)
      )
      assert.deepStrictEqual(parts.map((part) => [part.from, `+${part.to}`, part.esmClass, part.dataCoding]), [
        ["Shop", to, 0x40, 0],
        ["Shop", to, 0x40, 0],
        ["Shop", to, 0x40, 0]
      ])
      assert.deepStrictEqual(parts.map(({ registered }) => registered), [1, 1, 1])
      assert.deepStrictEqual(parts.map(({ text }) => text.length), [152, 152, 1])
      assert.strictEqual(parts.map(({ text }) => text).join(""), content)
      assert.deepStrictEqual(smsc.delivered, [0, 0, 0])
    })))

  it.effect("a carrier behind smpps is bound over TLS, and only if its certificate is valid", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc()
      const url = yield* overTls(smsc)
      const distrustful = yield* startNode({ env: { SMS_PROVIDER: "smpp", SMPP_URL: url } })
      yield* distrustful.logged("self-signed certificate")
      assert.strictEqual(smsc.binds(), 0)
      yield* distrustful.stop()
      const node = yield* startOn(smsc, { SMPP_URL: url, NODE_EXTRA_CA_CERTS: yield* certificateFile })
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsReaching(node, { id, key, statuses: ["sent"] })
      assert.strictEqual(smsc.binds(), 1)
    })))

  it.effect("a text outside GSM goes out in UCS-2, and a single part has no concatenation header", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc()
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Привет 😀" })
      yield* smsReaching(node, { id, key, statuses: ["sent"] })
      const [submit] = smsc.submits
      assert.deepInclude(submit, { dataCoding: 8, esmClass: 0, joined: undefined })
      assert.strictEqual(submit?.text, "Привет 😀")
    })))

  it.effect("receipts of every shape are matched, even early, repeated or late, and an unknown one is kept", () =>
    onOwnDatabase(Effect.gen(function*() {
      const shapes = (id: string) => [
        receiptText(id),
        { esm_class: 4, short_message: `ID:${id} SUB:001 DLVRD:001 STAT:DELIVRD ERR:000 TEXT:stat:UNDELIV` },
        { esm_class: 4, short_message: `stat:DELIVRD err:000 id:${id} submitdate:000000000000 donedate:000000000000` },
        { esm_class: 0, short_message: `id:${id} stat:DELIVRD` },
        { esm_class: 4, short_message: "", receipted_message_id: id, message_state: 2 },
        { esm_class: 4, short_message: "no fields", receipted_message_id: id, message_state: 2 },
        { esm_class: 4, message_payload: `id:${id} sub:001 stat:DELIVRD err:000 text:` }
      ]
      const smsc = yield* makeSmsc((_, index) => {
        const id = `0118Z-0122I-${index}`
        const shape = shapes(id)[index % 7] ?? receiptText(id)
        return { id, before: index >= 7, receipts: [shape, shape], afterMillis: index >= 7 ? 300 : 0 }
      })
      const node = yield* startOn(smsc)
      const { key, received } = yield* makeListener(node, ["message.delivered"])
      const ids = yield* Effect.forEach(
        Array.from({ length: 14 }, freshNumber),
        (to) => sendSms(node, key, { to, content: "Hello" })
      )
      yield* Effect.forEach(ids, (id) => smsReaching(node, { id, key, statuses: ["delivered"] }))
      smsc.deliver({ ...receiptText("unknown"), source_addr: "1", destination_addr: "2" })
      smsc.deliver({ short_message: "a text from a phone", source_addr: "1", destination_addr: "2" })
      yield* smsc.until(({ delivered }) => delivered.length === 30)
      assert.deepStrictEqual(new Set(smsc.delivered), new Set([0]))
      const events = yield* received(14)
      assert.strictEqual(new Set(events.map(({ data }) => data["message_id"])).size, 14)
      const sql = yield* SqlClient.SqlClient
      // A duplicate receipt may stay for its ten minutes and changes nothing.
      yield* asking(
        node.request("GET", "/v1/sms/messages?status=delivered", { key }),
        ({ at }) => at("meta", "total") === 14
      )
      const left =
        yield* sql`select provider_message_id from sms_unmatched_receipts where provider_message_id = 'unknown'`
      assert.strictEqual(left.length, 1)
    })))

  it.effect("a receipt that precedes the submit's answer counts for the new SMS when the carrier reuses an id", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(() => ({ id: "1", before: true, receipts: [receiptText("1")], afterMillis: 300 }))
      const node = yield* startOn(smsc)
      const { key, received } = yield* makeListener(node, ["message.delivered"])
      const sendOne = Effect.gen(function*() {
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        yield* smsReaching(node, { id, key, statuses: ["delivered"] })
        return id
      })
      const ids = [yield* sendOne, yield* sendOne]
      const events = yield* received(2)
      assert.deepStrictEqual(events.map(({ data }) => data["message_id"]), ids)
    })))

  it.effect("a receipt is matched when the carrier writes the id in hex in the answer and in decimal in the receipt", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc((_, index) => {
        const id = 0xab_cd_ef + index
        return { id: `00${id.toString(16).toUpperCase()}`, receipts: [receiptText(`0${id}`)] }
      })
      const node = yield* startOn(smsc, { SMPP_MESSAGE_IDS: "hex-then-decimal" })
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
    })))

  it.effect(
    "a pair of binds with the system_type submits over the transmitter, takes receipts over the receiver, and is bound again as one",
    () =>
      onOwnDatabase(Effect.gen(function*() {
        const smsc = yield* makeSmsc(
          (_, index) => ({ id: `p${index}`, before: true, receipts: [receiptText(`p${index}`)] }),
          ["receiver", "transmitter"]
        )
        const node = yield* startOn(smsc, { SMPP_URL: `${smsc.url}?bind=pair`, SMPP_SYSTEM_TYPE: "gateway" })
        const { key } = yield* makeAccount()
        const deliver = Effect.gen(function*() {
          const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
          yield* smsReaching(node, { id, key, statuses: ["delivered"] })
        })
        yield* deliver
        assert.deepStrictEqual(smsc.roles(), ["receiver", "transmitter"])
        assert.deepStrictEqual([...smsc.systemTypes], ["gateway"])
        for (const [binds, lost] of [[4, "receiver"], [6, "transmitter"]] as const) {
          yield* smsc.cutOnly(lost)
          yield* smsc.until((now) => now.binds() === binds && now.bound() === 2, longer.turn)
          yield* deliver
        }
        assert.deepStrictEqual(smsc.submits.map(({ session }) => session), [2, 4, 6])
        yield* node.stop()
        yield* smsc.until(({ bound }) => bound() === 0)
      }))
  )

  it.effect("an SMS fails with the carrier's error, at the submit or in a later receipt", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(({ to }, index) =>
        to.endsWith("1")
          ? { status: 0x0b }
          : { id: `x${index}`, receipts: [receiptText(`x${index}`, "UNDELIV", "027")] }
      )
      const node = yield* startOn(smsc)
      const { key, received } = yield* makeListener(node, ["message.failed"])
      const refused = yield* sendSms(node, key, { to: "+250788000001", content: "Hello" })
      const first = yield* smsReaching(node, { id: refused, key, statuses: ["failed"] })
      assert.deepInclude(first, { error_code: "smpp_0x0000000b", sent_at: null })
      const undelivered = yield* sendSms(node, key, { to: "+250788000002", content: "Hello" })
      const second = yield* smsReaching(node, { id: undelivered, key, statuses: ["failed"] })
      assert.deepInclude(second, {
        error_code: "undeliverable",
        error_message: "The carrier says UNDELIV, error 027."
      })
      assert.isNotNull(second["sent_at"])
      const events = yield* received(2)
      assert.deepStrictEqual(events.map(({ data }) => data["error_code"]), ["smpp_0x0000000b", "undeliverable"])
    })))

  it.effect("submits wait while the carrier throttles and lose no attempt", () =>
    onOwnDatabase(Effect.gen(function*() {
      let refusals = 0
      const smsc = yield* makeSmsc((_, index) => {
        if (index >= 15) return { id: `t${index}` }
        refusals++
        return { status: index % 2 === 0 ? 0x58 : 0x14 }
      })
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const ids = yield* Effect.forEach(
        Array.from({ length: 12 }, freshNumber),
        (to) => sendSms(node, key, { to, content: "Hello" })
      )
      yield* Effect.forEach(ids, (id) => smsReaching(node, { id, key, statuses: ["sent"] }))
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`select distinct attempt_count::int, doubts::int from sms_parts`, [
        { attempt_count: 1, doubts: 0 }
      ])
      assert.deepStrictEqual([smsc.submits.length, refusals], [27, 15])
      const waits = yield* sql`select count(*)::int as count, max(reply) as reply from message_attempts
        where outcome = 'deferred' group by message_id, part`
      assert.isNotEmpty(waits)
      for (const wait of waits) assert.deepStrictEqual(wait, { count: 1, reply: "the carrier throttles" })
    })))

  it.effect("a scheduled SMS that was accepted days before its time waits while the carrier throttles", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc((_, index) => index === 0 ? { status: 0x58 } : {})
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const body = { to: freshNumber(), content: "Hello" }
      const id = Number((yield* schedule(node, { key, path: "/v1/sms/send", body })).at("data", "message_id"))
      const sql = yield* SqlClient.SqlClient
      yield* sql`update messages set created_at = now() - interval '3 days' where id = ${id}`
      yield* sql`update sms_parts set created_at = now() - interval '3 days' where message_id = ${id}`
      yield* bringForward("sms", { id })
      const found = yield* smsReaching(node, { id, key, statuses: ["sent", "failed"] })
      assert.deepInclude(found, { status: "sent", error_code: null })
      assert.strictEqual(smsc.submits.length, 2)
    })))

  it.effect("an SMS that becomes a day old while it waits fails as expired, and is not submitted again", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc((_, index) => index === 0 ? { status: 0x58, afterMillis: 6_000 } : {})
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsc.until(({ submits }) => submits.length === 1)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update sms_parts set created_at = now() - interval '1 day' where message_id = ${id}`
      yield* sql`update messages set created_at = now() - interval '1 day' where id = ${id}`
      const found = yield* smsReaching(node, { id, key, statuses: ["sent", "failed"] })
      assert.deepInclude(found, { status: "failed", error_code: "expired" })
      assert.strictEqual(smsc.submits.length, 1)
    })))

  it.effect("an SMS that waits for a bind for a day fails as expired without one, and is not submitted later", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc()
      smsc.refuseBinds(0x0e)
      const node = yield* startOn(smsc)
      const { key, received } = yield* makeListener(node, ["message.failed"])
      const to = freshNumber()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      const sql = yield* SqlClient.SqlClient
      yield* sql`update messages set created_at = created_at - interval '2 days' where id = ${id}`
      yield* sql`update sms_parts set created_at = created_at - interval '2 days', due_at = due_at - interval '2 days'
        where message_id = ${id}`
      const found = yield* smsReaching(node, { id, key, statuses: ["failed"] })
      assert.deepInclude(found, { error_code: "expired", error_message: "No provider accepted the message for a day." })
      assert.deepStrictEqual((yield* received(1)).map(({ data }) => data["error_code"]), ["expired"])
      smsc.refuseBinds(0)
      const next = yield* sendSms(node, key, { to, content: "Hello" })
      yield* smsc.until(({ submits }) => submits.length > 0, longer.turn)
      yield* smsReaching(node, { id: next, key, statuses: ["sent"] })
      assert.deepStrictEqual(smsc.submits.map((submit) => `+${submit.to}`), [to])
    })))

  it.effect("a part that the carrier puts off is not submitted again once another part of its SMS was refused", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(({ joined }, index) => {
        if (joined === undefined || index > 1) return {}
        return joined[2] === 1 ? { status: 0x0b } : { status: 0x58, afterMillis: 1_000 }
      })
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "a".repeat(200) })
      yield* smsReaching(node, { id, key, statuses: ["failed"] })
      const sql = yield* SqlClient.SqlClient
      const parts = sql`select status, error_code from sms_parts where message_id = ${id} order by part_no`
      const ended = yield* eventually(parts, (rows) => rows.every(({ status }) => /failed|sent/.test(String(status))))
      assert.deepStrictEqual(ended.map(({ error_code }) => error_code), ["smpp_0x0000000b", "message_failed"])
      assert.strictEqual(smsc.submits.length, 2)
    })))

  it.effect("a submit without an answer is repeated once over a new connection and then delivered", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(() => ({ never: true }))
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsc.until(({ submits }) => submits.length === 1)
      smsc.answer((_, index) => ({ id: `again-${index}`, receipts: [receiptText(`again-${index}`)] }))
      yield* smsc.cut
      yield* smsReaching(node, { id, key, statuses: ["delivered"] })
      assert.deepStrictEqual(smsc.submits.map(({ session }) => session), [1, 2])
      assert.strictEqual(smsc.binds(), 2)
    })))

  it.effect("a carrier that no longer knows the bind is bound again, and submits in flight keep their answers", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(({ session }, index) => {
        if (session > 1) return {}
        return index === 0 ? { status: 0x04, afterMillis: 500 } : { afterMillis: 800 }
      })
      const node = yield* startOn(smsc)
      const { key } = yield* makeAccount()
      const json = { content: "Hello", recipients: [freshNumber(), freshNumber()] }
      const batch = yield* node.request("POST", "/v1/sms/send-bulk", { key, json })
      const path = `/v1/sms/batches/${String(batch.at("data", "batch_id"))}`
      const ended = yield* asking(
        node.request("GET", path, { key }),
        ({ at }) => typeof at("data", "completed_at") === "string"
      )
      assert.deepInclude(ended.at("data"), { sent: 2, failed: 0 })
      assert.deepStrictEqual(smsc.submits.map(({ session }) => session), [1, 1, 2])
      assert.strictEqual(smsc.binds(), 2)
      const sql = yield* SqlClient.SqlClient
      const parts = yield* sql`select distinct p.doubts::int from sms_parts p join messages m on m.id = p.message_id
        where m.batch_id = ${String(batch.at("data", "batch_id"))}`
      assert.deepStrictEqual(parts, [{ doubts: 0 }])
    })))

  it.effect(
    "an SMS fails as outcome_unknown after two submits without an answer",
    () =>
      onOwnDatabase(Effect.gen(function*() {
        const smsc = yield* makeSmsc((_, index) => index % 2 === 0 ? { never: true } : { wrongSequence: true })
        const node = yield* startOn(smsc)
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        const found = yield* smsReaching(node, { id, key, statuses: ["failed"] })
        assert.deepInclude(found, { error_code: "outcome_unknown" })
        assert.strictEqual(smsc.submits.length, 2)
      }))
  )

  it.effect("a single SMS does not wait behind a batch", () =>
    onOwnDatabase(Effect.gen(function*() {
      const smsc = yield* makeSmsc(() => ({ afterMillis: 200 }))
      const node = yield* startOn(smsc, { SMPP_WINDOW: "5" })
      const { key } = yield* makeAccount()
      const recipients = Array.from({ length: 120 }, freshNumber)
      const batch = yield* node.request("POST", "/v1/sms/send-bulk", { key, json: { content: "Bulk", recipients } })
      yield* smsc.until(({ submits }) => submits.length > 10)
      const to = freshNumber()
      const id = yield* sendSms(node, key, { to, content: "Single" })
      yield* smsReaching(node, { id, key, statuses: ["sent"] })
      const place = smsc.submits.findIndex((submit) => `+${submit.to}` === to)
      assert.isBelow(place, 80)
      const ended = yield* asking(
        node.request("GET", `/v1/sms/batches/${String(batch.at("data", "batch_id"))}`, { key }),
        ({ at }) => typeof at("data", "completed_at") === "string"
      )
      assert.deepInclude(ended.at("data"), { status: "completed", sent: 120, queued: 0 })
      assert.strictEqual(smsc.submits.length, 121)
    })))

  it.effect(
    "an SMS waits while the carrier refuses the bind, and the log has no password",
    () =>
      onOwnDatabase(Effect.gen(function*() {
        const smsc = yield* makeSmsc()
        smsc.refuseBinds(0x0e)
        const node = yield* startOn(smsc)
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        yield* node.logged("the bind was refused with status 0xe")
        smsc.refuseBinds(0)
        yield* smsReaching(node, { id, key, statuses: ["sent"] })
        assert.notInclude(node.logs.join("\n"), "secret")
      }))
  )

  it.effect(
    "an SMS stays queued while the carrier sends malformed PDUs",
    () =>
      onOwnDatabase(Effect.gen(function*() {
        const nonsense = [Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), Buffer.of(0, 0, 0, 16, 0x80), Buffer.of(0, 0, 0, 3)]
        let connections = 0
        const server = yield* makeRawServer((socket) => {
          const bytes = nonsense[connections++ % nonsense.length] ?? ""
          socket.once("data", () => socket.end(bytes))
        })
        const node = yield* startNode({
          env: { SMS_PROVIDER: "smpp", SMPP_URL: server.url.replace("http://", "smpp://test:secret@") }
        })
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        yield* node.logged("a PDU cannot have 1213486160 octets")
        yield* eventually(Effect.sync(() => connections), (count) => count >= 3, longer.turn)
        const found = yield* smsReaching(node, { id, key, statuses: ["queued"] })
        assert.strictEqual(found["status"], "queued")
      }))
  )
})
