/**
 * Measures one unsigned message to a relay: our pool, nodemailer's pool, and a raw pipelined socket client, which is
 * the limit because it only checks reply digits. All send the same bytes to the same relay, another process, over five
 * connections. CPU time is that of this process; the relay also bounds messages per second. A relay that answers
 * pipelined commands in one piece saves its clients reads, above all the raw one. The bench measures both kinds of
 * relay.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Context, Effect, Layer, References } from "effect"
import * as nodemailer from "nodemailer"
import { Smtp } from "../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../src/channels/email/smtp/SmtpLayer.ts"
import { connections } from "./support/mail.ts"
import { rawClient, withDot } from "./support/rawSmtp.ts"
import { startRelay } from "./support/relay.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 5
const count = 2_000
const warmUp = 1_000

const from = "news@sender.example"
const to = "ann@recipient.example"
const line = `${"The quick brown fox jumps over the lazy dog, and again. ".repeat(1)}\r\n`
const message = Buffer.from(
  `From: ${from}\r\nTo: ${to}\r\nSubject: Bench\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n${
    line.repeat(28)
  }`
)

const raw = Effect.fnUntraced(function*(port: number) {
  const send = yield* rawClient({ port, connections, from, to })
  const body = withDot(message)
  return (messages: number) =>
    Effect.callback<void>((resume) => {
      let begun = 0
      let taken = 0
      const begin = () => {
        if (begun++ < messages) send(body, done)
      }
      const done = () => {
        if (++taken === messages) resume(Effect.void)
        else begin()
      }
      for (let index = 0; index < connections; index++) begin()
    })
})

const ours = (port: number) =>
  Effect.gen(function*() {
    const relay = { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } as const
    const options = { relay, maxConnections: connections + 2, messagesPerConnection: 1_000_000 }
    const smtp = Context.get(yield* Layer.build(SmtpLayer.make(options)), Smtp)
    const send = smtp.send({ envelope: { from, to }, message, priority: "bulk", account: null })
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

const measure = Effect.fnUntraced(function*(run: (messages: number) => Effect.Effect<unknown, unknown>) {
  const cpu = process.cpuUsage()
  const start = performance.now()
  yield* run(count)
  const perSecond = count / ((performance.now() - start) / 1000)
  const { system, user } = process.cpuUsage(cpu)
  return { perSecond, micros: (user + system) / count }
})

const paths = (port: number) =>
  Effect.all([
    Effect.map(raw(port), (run) => ({ name: "raw pipelined socket", run })),
    Effect.map(ours(port), (run) => ({ name: "our pool", run, aim: 6 })),
    Effect.map(theirs(port), (run) => ({ name: "nodemailer's pool, raw", run }))
  ])

type Path = Effect.Success<ReturnType<typeof paths>>[number]
type Round = ReadonlyArray<Effect.Success<ReturnType<typeof measure>>>

const linesOf = (all: ReadonlyArray<Path>, rounds: ReadonlyArray<Round>, column: keyof Round[number]) =>
  all.map((path, index): Line => {
    const aim = "aim" in path && column === "micros" ? `; aim: at most ${path.aim} times` : ""
    const values = rounds.map((round) => round[index]?.[column] ?? 0)
    const limits = rounds.map((round) => round[0]?.[column] ?? 1)
    return {
      metric: `${path.name}, ${column === "micros" ? "us of CPU a message" : "messages/s"}`,
      value: median(values),
      limit: { name: `the raw socket${aim}`, value: median(limits) },
      ratio: median(values.map((value, at) => value / (limits[at] ?? 1)))
    }
  })

const bench = Effect.fnUntraced(function*(apart: boolean) {
  const { port } = yield* startRelay({ apart })
  const all = yield* paths(port)
  yield* Effect.forEach(all, ({ run }) => run(warmUp))
  const measured = yield* Effect.replicateEffect(Effect.forEach(all, ({ run }) => measure(run)), rounds)
  const relay = apart ? "answers each command by itself" : "answers in one piece what came in one"
  yield* printTable(
    `smtp: ${count} messages of ${message.length} bytes over ${connections} connections, a relay that ${relay}, `
      + `median of ${rounds} rounds`,
    [...linesOf(all, measured, "micros"), ...linesOf(all, measured, "perSecond")]
  )
}, Effect.scoped)

NodeRuntime.runMain(
  Effect.forEach([true, false], bench, { discard: true }).pipe(
    Effect.provideService(References.MinimumLogLevel, "Warn")
  )
)
