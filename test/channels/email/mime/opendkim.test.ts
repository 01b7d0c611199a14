/** Verifies mails as a relay receives them with OpenDKIM, which many mail servers use. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeUtil from "node:util"
import { dkimKey, ended, insertDomain, sendBulk } from "../../../support/bulkMail.ts"
import { programAt } from "../../../support/programs.ts"
import { Relay } from "../../../support/Relay.ts"
import { makeAccount, Service } from "../../../support/Service.ts"

const opendkim = programAt("opendkim")
const domain = "news.example"
const execute = NodeUtil.promisify(NodeChildProcess.execFile)

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "opendkim-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

/** OpenDKIM's verdict on each message; it reads the public key from a file instead of DNS. */
const verdicts = Effect.fnUntraced(function*(messages: Readonly<Record<string, string>>) {
  const directory = yield* temporaryDirectory
  const write = (name: string, content: string) => {
    const path = NodePath.join(directory, name)
    NodeFs.writeFileSync(path, content, "latin1")
    return path
  }
  const keys = write("keys", `api._domainkey.${domain} ${dkimKey.published}\n`)
  const settings = write("settings", `Mode v\nTestPublicKeys ${keys}\n`)
  const paths = Object.entries(messages).map(([name, message]) => [name, write(`${name}.eml`, message)] as const)
  const files = paths.map(([, path]) => path).join(",")
  const { stderr, stdout } = yield* Effect.promise(() => execute(opendkim ?? "", ["-x", settings, "-t", files]))
  const lines = (stdout + stderr).split("\n")
  return Object.fromEntries(paths.map(([name, path]) => {
    const line = lines.find((text) => text.includes(`${path}: `)) ?? "nothing"
    return [
      name,
      / verification .*succeeded$/.test(line) ? "pass" : / verification .*failed: /.test(line) ? "fail" : line
    ]
  }))
}, Effect.scoped)

const allOf = (names: ReadonlyArray<string>, verdict: string) =>
  Object.fromEntries(names.map((name) => [name, verdict]))

const kinds = {
  both: {
    subject: "Order {{order}} for {{name}}",
    html: "<p>Hello {{name}}</p>\n\n<p>Bye  </p>\n\n",
    text: "Hello {{name}} \n.\n..dots\nFrom here\t\n\n\n",
    from: `hello@${domain}`,
    from_name: "Ünited, \"News\""
  },
  htmlAlone: { subject: "Plain", html: `<p>${"long ".repeat(400)}</p>`, from: `hello@${domain}` },
  encodedWords: {
    subject: `${"Große Grüße, ".repeat(20)}{{name}}`,
    html: "<p>日本語 {{name}} 🎉</p>",
    text: "日本語 {{name}} 🎉",
    from: `News <hello@${domain}>`
  }
}

const single = {
  subject: "Receipt",
  html: "<p>Größe</p>",
  from: `hello@${domain}`,
  attachments: [{ filename: "größe.txt", content: "VGhhbmsgeW91Lg==", content_type: "text/plain" }]
}

/** One mail of each kind as the relay received it. */
class Caught
  extends Context.Service<Caught, Readonly<Record<keyof typeof kinds | "single" | "notice" | "standard", string>>>()(
    "messaging-service/test/channels/email/mime/opendkim.test/Caught"
  )
{
  static readonly layer = Layer.effect(
    Caught,
    Effect.gen(function*() {
      const node = yield* Service
      const { sink } = yield* Relay
      const { accountId, email, key } = yield* makeAccount()
      yield* insertDomain(accountId, domain, { key: dkimKey.pem })
      const send = Effect.fnUntraced(function*(kind: keyof typeof kinds) {
        const to = `${kind}@people.example`
        const recipients = [{ to, variables: { name: "Zoë <b>& \"Ü\"", order: 7 } }]
        yield* ended(node, key, yield* sendBulk(node, key, { ...kinds[kind], recipients }))
        return yield* caught(to)
      })
      const caught = (to: string) =>
        Effect.map(
          sink.until(({ messages }) => messages.some((message) => message.to[0] === to)),
          ({ messages }) => messages.find((message) => message.to[0] === to)?.raw.toString("latin1") ?? ""
        )
      const post = Effect.fnUntraced(function*(to: string, mail: object) {
        yield* node.request("POST", "/v1/email/send", { key, json: { ...mail, to } })
        return yield* caught(to)
      })
      const notice = Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into notices (account_id, kind, subject, body)
          values (${accountId}, 'webhook_unhealthy', 'Größe', 'It fails.')`
        return yield* caught(email)
      })
      return yield* Effect.all({
        both: send("both"),
        htmlAlone: send("htmlAlone"),
        encodedWords: send("encodedWords"),
        single: post("single@people.example", single),
        standard: post("standard@people.example", { subject: "s", text: "t" }),
        notice
      })
    })
  ).pipe(Layer.provide(Relay.layer({ env: { MAIL_BOUNCE_DOMAIN: "bounces.example", MAIL_FROM: `Us <us@${domain}>` } })))
}

const signedNames = (message: string) => new Set(/\sh=([^;]+);/.exec(message)?.[1]?.replaceAll(/\s/g, "").split(":"))

const fieldNamed = (name: string) => new RegExp(`^${name}: (?:[^\\r]|\\r\\n[ \\t])*\\r\\n`, "m")

describe.skipIf(opendkim === undefined)("OpenDKIM (Debian's opendkim; skipped if it is missing)", () => {
  layer(Caught.layer, { excludeTestServices: true })(
    "as the verifier of a relay's mail",
    (it) => {
      it.effect("verifies every kind of signed mail", () =>
        Effect.gen(function*() {
          const messages = yield* Caught
          assert.deepStrictEqual(yield* verdicts(messages), allOf(Object.keys(messages), "pass"))
        }))

      it.effect("fails a mail if any signed field is changed, removed or added", () =>
        Effect.gen(function*() {
          const { both: message } = yield* Caught
          const names = [...signedNames(message)]
          assert.includeMembers(names, [
            "From",
            "To",
            "Subject",
            "Date",
            "Message-ID",
            "List-Unsubscribe",
            "List-Unsubscribe-Post",
            "Feedback-ID",
            "MIME-Version",
            "Content-Type"
          ])
          const tampered = Object.fromEntries(names.flatMap((name): ReadonlyArray<readonly [string, string]> => {
            const field = fieldNamed(name).exec(message)?.[0]
            // A field that is signed and absent must not be added.
            if (field === undefined) return [[`${name}-added`, `${name}: x@example.com\r\n${message}`]]
            const changed = [`${name}-changed`, message.replace(field, () => field.replace(/\r\n$/, "x\r\n"))] as const
            // OpenDKIM reads no signature from a mail without From, and reports nothing.
            return name === "From"
              ? [changed]
              : [changed, [`${name}-removed`, message.replace(field, () => "")] as const]
          }))
          assert.includeMembers(Object.keys(tampered), ["Subject-changed", "Subject-removed", "Reply-To-added"])
          const present = names.filter((name) => fieldNamed(name).test(message)).length
          assert.strictEqual(Object.keys(tampered).length, 2 * present - 1 + (names.length - present))
          assert.deepStrictEqual(yield* verdicts(tampered), allOf(Object.keys(tampered), "fail"))
        }))

      it.effect("fails a mail with a second From, or with a changed byte in its body", () =>
        Effect.gen(function*() {
          const { both: message } = yield* Caught
          const from = "From: evil@example.org\r\n"
          const tampered = {
            before: from + message,
            after: message.replace("MIME-Version: ", `${from}MIME-Version: `),
            byte: message.replace("Bye", "Bya"),
            more: `${message}.\r\n`
          }
          assert.strictEqual(new Set([message, ...Object.values(tampered)]).size, 5)
          assert.deepStrictEqual(yield* verdicts(tampered), allOf(Object.keys(tampered), "fail"))
        }))

      it.effect("verifies a mail with a relay's trace field, and one stored with line feeds alone", () =>
        Effect.gen(function*() {
          const { both: message } = yield* Caught
          const received =
            "Received: from [127.0.0.1] by relay.example with ESMTP;\r\n\tThu, 31 Jan 2030 09:00:00 +0000\r\n"
          const moved = { traced: received + message, lines: message.replaceAll("\r\n", "\n") }
          assert.deepStrictEqual(yield* verdicts(moved), allOf(Object.keys(moved), "pass"))
        }))
    }
  )
})
