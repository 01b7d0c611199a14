/**
 * What one would write by hand, in a process of its own: messages handed to nodemailer's pool, fifteen in flight, and
 * nothing kept. `pem` lets it sign with a key in PEM form, as its manual shows; `sign` makes the bare signatures alone.
 */
import { Result } from "effect"
import { createPrivateKey, sign } from "node:crypto"
import { promisify } from "node:util"
import * as nodemailer from "nodemailer"
import { compile, render } from "../../../src/templates/Template.ts"
import { connections, html, recipients, subject } from "./mail.ts"
import { inputOf } from "./script.ts"

interface Input {
  readonly kind: "plain" | "pem" | "sign"
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

const mail = (index: number) => {
  const { to, variables } = list[index % count] ?? { to: "", variables: { name: "", order: 0 } }
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
const one = kind === "sign" ? () => signBytes("sha256", bytes, key) : mail

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
