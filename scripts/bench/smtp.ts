/**
 * What one unsigned message costs on its way to a relay: our pool, beside nodemailer's own pool and beside a raw
 * pipelined socket client, which is the limit (it checks reply digits and nothing else). Same bytes, same sink (another
 * process), five connections each. The CPU column is this process alone; msg/s is bounded by the sink as well.
 */
import { Context, Effect, Layer } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeNet from "node:net"
import * as NodePath from "node:path"
import * as NodeReadline from "node:readline"
import * as nodemailer from "nodemailer"
import { NodemailerSmtp } from "../../src/channels/email/NodemailerSmtp.ts"
import { Smtp } from "../../src/channels/email/Smtp.ts"

const count = Number(process.argv[2] ?? 4_000)
const warmUp = Math.min(count, 1_000)
const connections = 5

const from = "news@sender.example"
const to = "ann@recipient.example"
const line = `${"The quick brown fox jumps over the lazy dog, and again. ".repeat(1)}\r\n`
const message = Buffer.from(
  `From: ${from}\r\nTo: ${to}\r\nSubject: Bench\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n${
    line.repeat(28)
  }`
)

const startSink = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly stop: () => void }>((resume) => {
    const script = NodePath.join(import.meta.dirname, "../../test/support/smtpSinkProcess.ts")
    const child = NodeChildProcess.spawn(process.execPath, [script, "--no-keep"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    NodeReadline.createInterface(child.stdout).once("line", (ready) => {
      const { smtp } = JSON.parse(ready)
      resume(Effect.succeed({ port: Number(smtp), stop: () => child.kill() }))
    })
  }),
  ({ stop }) => Effect.sync(stop)
)

/** One raw connection that sends `messages` messages, each in two writes: the envelope with DATA, then the body. */
const rawConnection = (port: number, messages: number) =>
  Effect.callback<void>((resume) => {
    const envelope = Buffer.from(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
    const body = Buffer.concat([message, Buffer.from(".\r\n")])
    const socket = NodeNet.connect(port, "127.0.0.1")
    socket.setNoDelay(true)
    let left = messages
    let greeted = false
    socket.on("data", (chunk) => {
      for (const reply of chunk.toString("latin1").split("\r\n")) {
        if (reply.startsWith("220")) socket.write("EHLO bench\r\n")
        else if (reply.startsWith("354")) socket.write(body)
        else if (/^[45]/.test(reply)) resume(Effect.die(reply))
        else if (/queued/.test(reply) || (!greeted && reply.startsWith("250 "))) {
          greeted = true
          if (left-- > 0) socket.write(envelope)
          else socket.end()
        }
      }
    })
    socket.on("close", () => resume(Effect.void))
    socket.on("error", (error) => resume(Effect.die(error)))
  })

const raw = (port: number) => (messages: number) =>
  Effect.all(Array.from({ length: connections }, () => rawConnection(port, messages / connections)), {
    concurrency: "unbounded",
    discard: true
  })

const ours = (port: number) =>
  Effect.gen(function*() {
    const relay = { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } as const
    const options = { relay, maxConnections: connections + 1, messagesPerConnection: 1_000_000 }
    const smtp = Context.get(yield* Layer.build(NodemailerSmtp.layer(options)), Smtp)
    const send = smtp.send({ envelope: { from, to }, message, priority: "bulk" })
    return (messages: number) =>
      Effect.forEach(Array.from({ length: messages }), () => send, { concurrency: connections * 3, discard: true })
  })

const theirs = (port: number) =>
  Effect.gen(function*() {
    const transport = yield* Effect.acquireRelease(
      Effect.sync(() =>
        nodemailer.createTransport({
          host: "127.0.0.1",
          port,
          ignoreTLS: true,
          pool: true,
          maxConnections: connections,
          maxMessages: 1_000_000
        })
      ),
      (open) => Effect.sync(() => open.close())
    )
    const send = Effect.promise(() => transport.sendMail({ envelope: { from, to }, raw: message }))
    return (messages: number) =>
      Effect.forEach(Array.from({ length: messages }), () => send, { concurrency: connections * 3, discard: true })
  })

const measure = Effect.fnUntraced(function*(name: string, run: (messages: number) => Effect.Effect<unknown, unknown>) {
  yield* run(warmUp)
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  yield* run(count)
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  const { system, user } = process.cpuUsage(cpu)
  return { name, perSecond: count / seconds, micros: (user + system) / count }
})

const bench = Effect.gen(function*() {
  const { port } = yield* startSink
  const results = [
    yield* measure("raw pipelined socket (limit)", raw(port)),
    yield* measure("our pool", yield* ours(port)),
    yield* measure("nodemailer pool, raw", yield* theirs(port))
  ]
  const limit = results[0]?.micros ?? 0
  console.log(`${count} messages of ${message.length} bytes over ${connections} connections`)
  console.log("path                            msg/s   CPU us/message   times the limit")
  for (const { micros, name, perSecond } of results) {
    const cells = [
      perSecond.toFixed(0).padStart(8),
      micros.toFixed(0).padStart(17),
      (micros / limit).toFixed(1).padStart(18)
    ]
    console.log(name.padEnd(29) + cells.join(""))
  }
})

await Effect.runPromise(Effect.scoped(bench))
