/**
 * Loops without durability, each in a separate process, with fifteen messages in flight. `plain` is a hand-written loop
 * over nodemailer's pool. `pem` also signs with a PEM key, as nodemailer's manual shows. `engine` is the service
 * without a database: it renders, composes, signs and sends. `sign` only creates bare signatures.
 */
import { Context, Effect, Exit, Layer, References, Result, Scope } from "effect"
import { createPrivateKey, sign } from "node:crypto"
import { promisify } from "node:util"
import * as nodemailer from "nodemailer"
import { prepare } from "../../../src/channels/email/mime/compose.ts"
import { sign as signMessage } from "../../../src/channels/email/mime/dkim.ts"
import { Smtp } from "../../../src/channels/email/smtp/Smtp.ts"
import { SmtpLayer } from "../../../src/channels/email/smtp/SmtpLayer.ts"
import { compile, render } from "../../../src/templates/Template.ts"
import { DomainName } from "../../../src/values/DomainName.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { connections, html, recipients, subject } from "./mail.ts"
import { inputOf } from "./script.ts"

interface Input {
  readonly kind: "plain" | "pem" | "engine" | "sign"
  readonly port: number
  readonly count: number
  readonly pem: string
  readonly domain: string
}

const { count, domain, kind, pem, port } = inputOf<Input>()

const transport = nodemailer.createTransport({
  host: "127.0.0.1",
  port,
  ignoreTLS: true,
  pool: true,
  maxConnections: connections,
  ...(kind === "pem" && { dkim: { domainName: domain, keySelector: "api", privateKey: pem } })
})

const list = recipients(count)
const template = Result.getOrThrow(compile({ subject, html }))

const nth = (index: number) => list[index % count] ?? { to: "", variables: { name: "", order: 0 } }

const mail = (index: number) => {
  const { to, variables } = nth(index)
  return transport.sendMail({
    from: `news@${domain}`,
    to,
    ...render(template, variables),
    list: { unsubscribe: `https://msg.example/u/${index}` },
    headers: { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Feedback-ID": "batch:1:bulk:bench" }
  })
}

const signBytes = promisify(sign)
const key = createPrivateKey(pem)
const bytes = Buffer.alloc(1_000, "x")

const relay = { host: "127.0.0.1", port, tls: "never", verifyCertificate: true } as const
const scope = Scope.makeUnsafe()
const smtp = Context.get(
  // Like the service, the loop reserves one connection for single emails.
  await Effect.runPromise(
    Layer.buildWithScope(SmtpLayer.make({ relay, maxConnections: connections + 2 }), scope)
  ),
  Smtp
)
const from = EmailAddress.make(`news@${domain}`)
const signer = { domain: DomainName.make(domain), selector: "api", key }
const write = prepare({ from: { address: from }, feedbackId: "batch:1:bulk:bench" })

const engine = Effect.fnUntraced(function*(index: number) {
  const { to, variables } = nth(index)
  const plain = write({
    to: EmailAddress.make(to),
    ...render(template, variables),
    messageId: `${index}@${domain}`,
    date: 1_700_000_000_000,
    listUnsubscribe: { url: `https://msg.example/u/${index}` }
  })
  yield* smtp.send({
    envelope: { from, to },
    message: yield* signMessage(plain, signer),
    priority: "bulk",
    account: null
  })
})

const one = {
  plain: mail,
  pem: mail,
  engine: (index: number) =>
    Effect.runPromise(Effect.provideService(engine(index), References.MinimumLogLevel, "Warn")),
  sign: () => signBytes("sha256", bytes, key)
}[kind]

const run = async (messages: number) => {
  let next = 0
  const lane = async () => {
    while (next < messages) await one(next++)
  }
  await Promise.all(Array.from({ length: connections * 3 }, lane))
}

await run(Math.ceil(count / 5))
const startedAt = performance.now()
await run(count)
console.log(JSON.stringify({ perSecond: count / ((performance.now() - startedAt) / 1000) }))
transport.close()
await Effect.runPromise(Scope.close(scope, Exit.void))
