/**
 * Measures a signed message against its unavoidable part, the RSA-2048 signature. CPU time is that of the whole
 * process, including the signing threads. The limit is the bare signature of as many bytes, measured before and after
 * each case, because the speed of a shared machine varies. The relay is a separate process. Our pool, nodemailer's
 * engine and bare sockets send to it.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Context, Effect, Layer, References, Result } from "effect"
import { generateKeyPairSync, sign as signBytes } from "node:crypto"
import { type Letter, prepare } from "../../src/channels/email/mime/compose.ts"
import { sign } from "../../src/channels/email/mime/dkim.ts"
import { Smtp } from "../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../src/channels/email/smtp/SmtpLayer.ts"
import { compile, render } from "../../src/templates/Template.ts"
import { DomainName } from "../../src/values/DomainName.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { engineClient } from "./support/engineLoop.ts"
import { connections } from "./support/mail.ts"
import { rawClient, withDot } from "./support/rawSmtp.ts"
import { startRelay } from "./support/relay.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = 7
/** Rounds that do not count: a node runs for weeks with optimised code. */
const warmUp = 4
const signatures = 2_000
const messages = 4_000
const concurrency = connections * 3

const { privateKey: key } = generateKeyPairSync("rsa", { modulusLength: 2_048 })
const signer = { domain: DomainName.make("example.com"), selector: "api", key }

const paragraph =
  "<p style=\"margin:0 0 12px\">Hello {{name}}, your order {{order}} – thank you for it – has been shipped. "
  + "<a href=\"https://shop.example/o/{{order}}?utm=mail\">Follow it here</a></p>\n"
const template = Result.getOrThrow(compile({
  subject: "Your order {{order}} – shipped",
  html: `<html><body>\n${paragraph.repeat(9)}</body></html>`
}))
const texts = (index: number) => render(template, { name: "Ana Müller & Co", order: 12_345 + index })

const write = prepare({
  from: { name: "Example Shop", address: EmailAddress.make("news@example.com") },
  feedbackId: "batch:account:bulk:service"
})
const to = EmailAddress.make("ana@example.net")
const letter = (index: number): Letter => ({
  ...texts(index),
  to,
  messageId: `01hf${index}@example.com`,
  date: 1_700_000_000_000 + index,
  listUnsubscribe: { url: `https://msg.example/u/token${index}` }
})

const ready = Array.from({ length: messages }, (_, index) => letter(index))
const message = write(letter(0))
const bytes = Buffer.alloc(1_000, "x")

const bareSignature = Effect.callback<Buffer>((resume) => {
  signBytes("sha256", bytes, key, (_, signature) => resume(Effect.succeed(signature)))
})

const all = (count: number, task: (index: number) => Effect.Effect<unknown, unknown>) =>
  Effect.forEach(Array.from({ length: count }, (_, index) => index), task, { concurrency, discard: true })

const plain = (task: (index: number) => unknown) =>
  Effect.sync(() => {
    for (let index = 0; index < messages; index++) task(index)
  })

const envelope = { from: "news@example.com", to }

/** Sends by our pool. */
const startPool = Effect.fnUntraced(function*(port: number) {
  const relay = { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } as const
  const smtp = Context.get(
    yield* Layer.build(SmtpLayer.make({ relay, maxConnections: connections + 2 })),
    Smtp
  )
  return (bytes: Buffer) => smtp.send({ envelope, message: bytes, priority: "bulk", account: null })
})

/** Sends by bare sockets. */
const startRaw = Effect.fnUntraced(function*(port: number) {
  const send = yield* rawClient({ port, connections, ...envelope })
  return (bytes: Buffer) => Effect.callback<void>((resume) => send(withDot(bytes), () => resume(Effect.void)))
})

/** Sends by nodemailer's engine alone. */
const startEngine = Effect.fnUntraced(function*(port: number) {
  const send = yield* engineClient({ port, connections, ...envelope })
  return (bytes: Buffer) => Effect.callback<void>((resume) => send(bytes, () => resume(Effect.void)))
})

interface Senders {
  readonly pool: (message: Buffer) => Effect.Effect<unknown, unknown>
  readonly engine: (message: Buffer) => Effect.Effect<unknown, unknown>
  readonly raw: (message: Buffer) => Effect.Effect<unknown, unknown>
}

const limit = "bare RSA-2048 signature"
const signed = (index: number) => Effect.suspend(() => sign(write(letter(index)), signer))

const bare = { count: signatures, run: all(signatures, () => bareSignature) }

const makeCases = ({ engine, pool, raw }: Senders) => [
  { name: "render subject, HTML and text", count: messages, run: plain(texts) },
  { name: "compose", count: messages, run: plain((index) => write(ready[index] ?? letter(index))) },
  { name: "render and compose", count: messages, run: plain((index) => write(letter(index))) },
  { name: "sign", count: signatures, run: all(signatures, () => sign(message, signer)) },
  { name: "render, compose and sign", count: signatures, run: all(signatures, signed) },
  {
    name: "render, compose, sign and send",
    count: signatures,
    run: all(signatures, (index) => Effect.flatMap(signed(index), pool)),
    aim: 1.8
  },
  {
    name: "the same, sent by nodemailer's engine alone",
    count: signatures,
    run: all(signatures, (index) => Effect.flatMap(signed(index), engine))
  },
  {
    name: "the same, sent by bare sockets",
    count: signatures,
    run: all(signatures, (index) => Effect.flatMap(signed(index), raw))
  }
]

type Case = ReturnType<typeof makeCases>[number]

/** CPU time of one call in microseconds. */
const cost = ({ count, run }: Pick<Case, "count" | "run">) =>
  Effect.gen(function*() {
    const start = process.cpuUsage()
    yield* run
    const { system, user } = process.cpuUsage(start)
    return (user + system) / count
  })

interface Measured {
  readonly value: number
  readonly limit: number
}

/** Each case between two measurements of the limit. */
const round = Effect.fnUntraced(function*(cases: ReadonlyArray<Case>) {
  const measured: Array<Measured> = []
  let before = yield* cost(bare)
  for (const one of cases) {
    const value = yield* cost(one)
    const after = yield* cost(bare)
    measured.push({ value, limit: (before + after) / 2 })
    before = after
  }
  return measured
})

const lineOf = ({ aim, name }: Case, runs: ReadonlyArray<Measured>): Line => ({
  metric: name,
  value: median(runs.map(({ value }) => value)),
  limit: {
    name: aim === undefined ? limit : `${limit}; aim: at most ${aim} times`,
    value: median(runs.map((run) => run.limit))
  },
  ratio: median(runs.map((run) => run.value / run.limit))
})

const bench = Effect.gen(function*() {
  const { port } = yield* startRelay()
  const cases = makeCases({
    pool: yield* startPool(port),
    engine: yield* startEngine(port),
    raw: yield* startRaw(port)
  })
  const runs = (yield* Effect.replicateEffect(round(cases), warmUp + rounds)).slice(warmUp)
  yield* printTable(
    `compose: us of CPU for a message of ${message.length} bytes, median of ${rounds} rounds, ${concurrency} in flight`,
    cases.map((one, index) => lineOf(one, runs.flatMap((run) => run[index] ?? [])))
  )
})

NodeRuntime.runMain(
  Effect.provideService(Effect.scoped(bench), References.MinimumLogLevel, "Warn")
)
