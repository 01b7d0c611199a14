import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Effect, FileSystem, Latch, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createSecretKey } from "node:crypto"
import * as NodeNet from "node:net"
import * as NodeTls from "node:tls"
import { BounceListener, connectionLimits } from "../../../../src/channels/email/reports/BounceListener.ts"
import { type InboundMail, ReportIntake } from "../../../../src/channels/email/reports/ReportIntake.ts"
import { ReturnPaths } from "../../../../src/channels/email/reports/ReturnPaths.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { MacKeys } from "../../../../src/platform/crypto/MacKeys.ts"
import { deliverFrom } from "../../../support/deliverMail.ts"
import { otherSelfSigned, selfSigned } from "../../../support/selfSigned.ts"
import { eventually } from "../../../support/waiting.ts"

const key = createSecretKey(new Uint8Array(32))

const files = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  const paths = { cert: `${directory}/cert.pem`, key: `${directory}/key.pem` }
  const write = (pair: { readonly cert: string; readonly key: string }) =>
    Effect.andThen(fs.writeFileString(paths.cert, pair.cert), fs.writeFileString(paths.key, pair.key))
  return { paths, write }
})

const start = Effect.fnUntraced(function*(env: Record<string, string>, commit: Effect.Effect<void> = Effect.void) {
  const taken: Array<InboundMail> = []
  const intake = Layer.succeed(ReportIntake, {
    take: (mail) => Effect.andThen(Effect.sync(() => taken.push(mail)), commit),
    takeOn: () => Effect.void
  })
  const settings = { SMTP_URL: "smtp://relay.example", MAIL_BOUNCE_DOMAIN: "bounces.test", BOUNCE_PORT: "0", ...env }
  const layer = BounceListener.layer.pipe(
    Layer.provide(intake),
    Layer.provide(ReturnPaths.layer),
    Layer.provide(
      Layer.succeed(MacKeys, {
        bounce: key,
        tracking: key,
        confirm: key,
        unsubscribe: key,
        verify: key,
        sandbox: key,
        receiver: key,
        cursor: key,
        recipient: key,
        console: key
      })
    ),
    Layer.provide(AppConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: settings })))
  )
  const { address = "" } = Context.get(yield* Layer.build(layer), BounceListener)
  return { port: Number(/^127\.0\.0\.1:(\d+)$/.exec(address)?.[1]), taken }
})

/** The certificate that a mail server sees after STARTTLS. */
const certificateOf = (port: number) =>
  Effect.callback<string>((resume) => {
    const socket = NodeNet.connect(port, "127.0.0.1")
    const lines = ["EHLO mx.people.example\r\n", "STARTTLS\r\n"]
    const next = () => {
      const line = lines.shift()
      if (line !== undefined) return socket.write(line)
      socket.off("data", next)
      const secure = NodeTls.connect({ socket, rejectUnauthorized: false }, () => {
        resume(Effect.succeed(secure.getPeerCertificate().subject.CN.toString()))
        secure.destroy()
      })
      return secure
    }
    socket.on("data", next)
    return Effect.sync(() => socket.destroy())
  })

/** The first line that a client at this address gets, and the end of its connection. */
const greeted = (port: number, localAddress: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly socket: NodeNet.Socket; readonly line: string; readonly ended: Promise<void> }>(
      (resume) => {
        const socket = NodeNet.connect({ port, host: "127.0.0.1", localAddress })
        const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()))
        socket.on("error", () => {})
        socket.once("data", (bytes) => resume(Effect.succeed({ socket, ended, line: bytes.toString().slice(0, 3) })))
      }
    ),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

describe("BounceListener", () => {
  it.effect("has 50 connections at once, and ends each after five minutes", () =>
    Effect.gen(function*() {
      const { port } = yield* start({})
      // Every address of 127.0.0.0/8 is this machine's, and none has more than its own share.
      const addresses = Array.from({ length: 51 }, (_, index) => `127.0.0.${2 + index % 3}`)
      const all = yield* Effect.forEach(addresses, (address) => greeted(port, address))
      assert.deepStrictEqual(all.map(({ line }) => line), [...Array.from({ length: 50 }, () => "220"), "421"])
      yield* TestClock.adjust("299 seconds")
      const first = all[0]?.ended.then(() => "ended")
      const early = yield* Effect.promise(() =>
        Promise.race([first, new Promise((resolve) => setImmediate(resolve, "open"))])
      )
      assert.strictEqual(early, "open")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Effect.promise(() => Promise.resolve(first)), "ended")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("gives an IPv6 network of 64 bits the connections of one address", () =>
    Effect.gen(function*() {
      const { admit } = yield* connectionLimits
      const opens = (remoteAddress: string) => admit({ connections: new Set() }, { id: remoteAddress, remoteAddress })
      for (let host = 1; host <= 20; host++) assert.isNull(opens(`2001:db8:0:1::${host.toString(16)}`))
      assert.strictEqual(opens("2001:db8:0:1:ffff::1")?.message, "4.7.0 Too many connections from you")
      assert.isNull(opens("2001:db8:0:2::1"))
    }))

  it.effect("offers STARTTLS with its certificate, and receives mail with and without it", () =>
    Effect.gen(function*() {
      const { paths, write } = yield* files
      yield* write(selfSigned)
      const { port, taken } = yield* start({ BOUNCE_TLS_CERT_FILE: paths.cert, BOUNCE_TLS_KEY_FILE: paths.key })
      const raw = Buffer.from("Subject: a report\r\n\r\nhello\r\n")
      for (const tls of [true, false]) {
        const answer = yield* deliverFrom(port, { from: "", to: "fbl@bounces.test", tls }, raw)
        assert.strictEqual(answer.code, 250)
      }
      assert.deepStrictEqual(taken.map(({ from, to }) => ({ from, to })), [
        { from: "", to: [{ _tag: "FeedbackLoop" }] },
        { from: "", to: [{ _tag: "FeedbackLoop" }] }
      ])
      assert.strictEqual(yield* certificateOf(port), "localhost")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("uses a renewed certificate within a minute, and keeps the old one while the files do not match", () =>
    Effect.gen(function*() {
      const { paths, write } = yield* files
      yield* write(selfSigned)
      const { port } = yield* start({ BOUNCE_TLS_CERT_FILE: paths.cert, BOUNCE_TLS_KEY_FILE: paths.key })
      yield* write({ ...otherSelfSigned, key: selfSigned.key })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* certificateOf(port), "localhost")
      yield* write(otherSelfSigned)
      const shown = Effect.andThen(TestClock.adjust("1 minute"), certificateOf(port))
      yield* Effect.repeat(shown, { until: (name) => name === "mx.bounces.test" })
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("keeps four mails while the database hangs, and forgets those that it refuses", () =>
    Effect.gen(function*() {
      const database = yield* Latch.make(false)
      const { port, taken } = yield* start({}, database.await)
      const raw = Buffer.from("Subject: a report\r\n\r\nhello\r\n")
      const deliver = deliverFrom(port, { from: "", to: "fbl@bounces.test" }, raw)
      const codes: Array<number> = []
      yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => Effect.forkChild(Effect.map(deliver, ({ code }) => codes.push(code)))
      )
      const clock = yield* Clock.Clock
      const second = Effect.provideService(TestClock.adjust("1 second"), Clock.Clock, clock)
      yield* eventually(Effect.as(second, codes), ({ length }) => length === 10)
      assert.deepStrictEqual(new Set(codes), new Set([451]))
      assert.strictEqual(taken.length, 4)
      yield* database.open
      assert.strictEqual((yield* deliver).code, 250)
      assert.strictEqual(taken.length, 5)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("receives mail for an internationalised domain, and for no other", () =>
    Effect.gen(function*() {
      const { port, taken } = yield* start({ MAIL_BOUNCE_DOMAIN: "b\u00fccher.test" })
      const raw = Buffer.from("Subject: a report\r\n\r\nhello\r\n")
      const codes = yield* Effect.forEach(
        ["xn--bcher-kva.test", "XN--BCHER-KVA.test", "bucher.test"],
        (domain) => Effect.map(deliverFrom(port, { from: "", to: `fbl@${domain}` }, raw), ({ code }) => code)
      )
      assert.deepStrictEqual(codes, [250, 250, 550])
      assert.strictEqual(taken.length, 2)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("does not start with an invalid certificate", () =>
    Effect.gen(function*() {
      const { paths, write } = yield* files
      yield* write({ ...otherSelfSigned, key: selfSigned.key })
      const torn = yield* Effect.flip(start({ BOUNCE_TLS_CERT_FILE: paths.cert, BOUNCE_TLS_KEY_FILE: paths.key }))
      assert.deepInclude(torn, { _tag: "WrongSetting", name: "BOUNCE_TLS_CERT_FILE" })
      const half = yield* Effect.flip(start({ BOUNCE_TLS_CERT_FILE: paths.cert }))
      assert.deepInclude(half, { _tag: "WrongSetting", name: "BOUNCE_TLS_KEY_FILE" })
    }).pipe(Effect.provide(NodeServices.layer)))
})
