/**
 * What a signed message costs beside the one thing that cannot be saved, its RSA-2048 signature. CPU time of the whole
 * process, so the signing threads count. Limit: the bare signature of the same number of bytes.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Result } from "effect"
import { generateKeyPairSync, sign as signBytes } from "node:crypto"
import { type Letter, prepare } from "../../src/channels/email/compose.ts"
import { sign } from "../../src/channels/email/sign.ts"
import { compile, render } from "../../src/templates/Template.ts"
import { DomainName } from "../../src/values/DomainName.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"

const rounds = 7
const signatures = 250
const messages = 4_000
const concurrency = 8

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

const cases = [
  { name: "render subject, HTML and text", count: messages, run: plain(texts) },
  { name: "compose", count: messages, run: plain((index) => write(ready[index] ?? letter(index))) },
  { name: "render and compose", count: messages, run: plain((index) => write(letter(index))) },
  { name: "bare RSA-2048 signature (limit)", count: signatures, run: all(signatures, () => bareSignature) },
  { name: "sign", count: signatures, run: all(signatures, () => sign(message, signer)) },
  {
    name: "render, compose and sign",
    count: signatures,
    run: all(signatures, (index) => Effect.suspend(() => sign(write(letter(index)), signer)))
  }
]

/** Microseconds of CPU for one. */
const cost = ({ count, run }: typeof cases[number]) =>
  Effect.gen(function*() {
    const start = process.cpuUsage()
    yield* run
    const { system, user } = process.cpuUsage(start)
    return (user + system) / count
  })

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const program = Effect.gen(function*() {
  yield* Effect.forEach(cases, cost)
  const runs = yield* Effect.replicateEffect(Effect.forEach(cases, cost), rounds)
  const medians = cases.map((_, index) => median(runs.map((run) => run[index] ?? 0)))
  const limit = medians[3] ?? 1
  const row = (name: string, us: string, ratio: string) => `${name.padEnd(34)}${us.padStart(10)}${ratio.padStart(10)}`
  yield* Console.log(
    `One message of ${message.length} bytes, median of ${rounds} rounds, ${concurrency} signatures in flight`
  )
  yield* Console.log(row("", "us CPU", "/ limit"))
  for (const [index, { name }] of cases.entries()) {
    const us = medians[index] ?? 0
    yield* Console.log(row(name, us.toFixed(1), (us / limit).toFixed(2)))
  }
})

NodeRuntime.runMain(program)
