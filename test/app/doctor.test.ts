import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { blocks, read } from "../docs/documents.ts"
import { cli, sandboxed } from "../support/cli.ts"
import { makeDnsServer } from "../support/DnsServer.ts"
import { makeRawServer } from "../support/RawServer.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { makeSimulator } from "../support/simulatedSession.ts"
import { makeSmsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const key = "dGVzdHMgb25seTogdGhpcyBrZXkgc2VhbHMgbm90aCE="

/** The doctor's output with these settings, by check. */
const doctor = Effect.fnUntraced(function*(settings: Readonly<Record<string, string>>) {
  const { url } = yield* TestDatabase
  const { code, stdout } = yield* cli(["doctor"], { DATABASE_URL: url, ENCRYPTION_KEY: key, ...sandboxed, ...settings })
  const said = (check: string) => stdout.split("\n").find((line) => line.slice(6).startsWith(`${check}: `)) ?? ""
  return { code, mode: said("mode"), mail: said("mail"), sms: said("sms"), whatsapp: said("whatsapp"), stdout }
})

const folder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "doctor-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

const smpp = (url: string) => ({ SMS_PROVIDER: "smpp", SMPP_URL: url })

describe("doctor", () => {
  it.live("doctor warns in production of each channel whose messages the sandbox keeps", () =>
    Effect.gen(function*() {
      const { code, mail, mode, sms, whatsapp } = yield* doctor({})
      assert.strictEqual(code, 0)
      assert.strictEqual(mode, "ok    mode: production, because DATABASE_URL is set")
      assert.strictEqual(mail, "WARN  mail: mail goes to the sandbox inbox and reaches no recipient")
      assert.strictEqual(sms, "WARN  sms: SMS go to the sandbox and reach no recipient")
      assert.match(whatsapp, /^WARN {2}whatsapp: .*, and its messages reach no recipient$/)
      const local = yield* doctor({ MODE: "development" })
      assert.match([local.mail, local.sms, local.whatsapp].join("\n"), /^ok .*\nok .*\nok .*$/)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live(
    "doctor fails in production for each channel without an upstream, and for that channel only",
    () =>
      Effect.gen(function*() {
        const { code, mail, sms, whatsapp } = yield* doctor({ SMTP_URL: "", WHATSAPP_URL: "" })
        assert.strictEqual(code, 1)
        assert.match(mail, /^FAIL {2}mail: SMTP_URL is required in production \(DATABASE_URL is set\)\. /)
        assert.match(sms, /^WARN /)
        assert.match(whatsapp, /^FAIL {2}whatsapp: WHATSAPP_URL is required in production/)
      }).pipe(Effect.provide(TestDatabase.layer))
  )

  it.live("doctor says whether the relay reports deliveries", () =>
    Effect.gen(function*() {
      const dns = yield* makeDnsServer({})
      const said = (extensions: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const { port } = yield* ScriptedSmtp.make({ extensions })
          const settings = { SMTP_URL: `smtp://127.0.0.1:${port}?tls=never`, DNS_SERVERS: dns.address }
          return (yield* doctor(settings)).mail
        })
      assert.strictEqual(yield* said(["PIPELINING", "DSN"]), "ok    mail: the relay accepts connections without TLS")
      assert.strictEqual(
        yield* said(["PIPELINING"]),
        "ok    mail: the relay accepts connections without TLS; it does not offer DSN, so delivery after the relay stays unknown"
      )
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live("doctor says whether WhatsApp's WebSocket answers", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const fine = yield* doctor({ WHATSAPP_URL: simulator.url })
      assert.deepStrictEqual([fine.code, fine.whatsapp], [0, "ok    whatsapp: the server in WHATSAPP_URL answers"])
      const closed = yield* doctor({ WHATSAPP_URL: "ws://127.0.0.1:1/ws/chat" })
      assert.strictEqual(closed.code, 1)
      assert.match(closed.whatsapp, /^FAIL {2}whatsapp: the server in WHATSAPP_URL cannot be reached: .*ECONNREFUSED/)
      const other = yield* doctor({ WHATSAPP_URL: `ws://127.0.0.1:${simulator.port}/elsewhere` })
      assert.match(other.whatsapp, /^FAIL {2}whatsapp: .* it answers with status \d{3} instead of a WebSocket\.$/)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live("doctor says whether the carrier accepts a bind, and unbinds", () =>
    Effect.gen(function*() {
      const smsc = yield* makeSmsc()
      const fine = yield* doctor(smpp(smsc.url))
      assert.deepStrictEqual([fine.code, fine.sms], [0, "ok    sms: the carrier in SMPP_URL accepts the bind"])
      assert.strictEqual(smsc.binds(), 1)
      smsc.refuseBinds(0x0e)
      const refused = yield* doctor(smpp(smsc.url))
      assert.strictEqual(refused.code, 1)
      assert.match(refused.sms, /^FAIL {2}sms: .* refuses the bind: the bind was refused with status 0xe\. /)
      assert.notInclude(refused.stdout, "secret@")
      const nonsense = yield* makeRawServer((socket) =>
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\n\r\n"))
      )
      const other = yield* doctor(smpp(nonsense.url.replace("http://", "smpp://test:secret@")))
      assert.match(other.sms, /^FAIL {2}sms: .* refuses the bind: .*octets/)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live("doctor says whether an HTTP provider's profile is usable", () =>
    Effect.gen(function*() {
      const file = NodePath.join(yield* folder, "profile.json")
      const settings = { SMS_PROVIDER: "http", SMS_HTTP_PROFILE: file }
      const missing = yield* doctor(settings)
      assert.match(missing.sms, /^FAIL {2}sms: .*it cannot be read/)
      NodeFs.writeFileSync(file, "{}")
      assert.match((yield* doctor(settings)).sms, /^FAIL {2}sms: SMS_HTTP_PROFILE/)
      NodeFs.writeFileSync(file, blocks(read("docs/sms/http.md"), "json")[0] ?? "")
      const fine = (yield* doctor(settings)).sms
      assert.strictEqual(fine, "ok    sms: the profile of example in SMS_HTTP_PROFILE is valid")
    }).pipe(Effect.provide(TestDatabase.layer)))
})
