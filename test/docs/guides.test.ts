import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { knownErrors } from "../contract/contract.ts"
import { asking } from "../support/bulkMail.ts"
import { textsFor } from "../support/codes.ts"
import { type DnsServer, makeDnsServer } from "../support/DnsServer.ts"
import { freePort } from "../support/freePort.ts"
import {
  assertShown,
  at,
  fences,
  isCode,
  isInstalled,
  type Language,
  languages,
  parseShown,
  Reader,
  run,
  spawn
} from "../support/guideReader.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { phoneOf } from "../support/sms.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { untilConnected } from "../support/WhatsApp.ts"
import { blocks, pages, read } from "./documents.ts"

const guides = pages.filter((page) => page.startsWith("docs/guides/"))

const names: Readonly<Record<Language, string>> = { sh: "curl", js: "Node", python: "Python" }

/** The name server of the node. */
class Zone extends Context.Service<Zone, DnsServer>()("messaging-service/test/docs/guides.test/Zone") {}

const Nodes = Layer.unwrap(Effect.map(Zone, ({ address }) => Service.layer({ env: { DNS_SERVERS: address } }))).pipe(
  Layer.provideMerge(Layer.effect(Zone, makeDnsServer({})))
)

type Reading = Effect.Effect<void, never, Scope.Scope | Zone>

/** The readings of all guides with requests. What people do between two requests is here. */
const readings: Readonly<Record<string, (reader: Reader) => Reading>> = {
  "first-real-mail": (reader) =>
    Effect.gen(function*() {
      const id = at(yield* reader.next(), "data", "id")
      yield* asking(
        reader.node.request("GET", `/v1/email/messages/${id}`, { key: reader.key }),
        ({ at }) => at("data", "status") === "sent"
      )
      yield* reader.next({ MESSAGE_ID: id })
    }),

  "own-domain": (reader) =>
    Effect.gen(function*() {
      const added = yield* reader.next()
      const id = at(added, "data", "id")
      const { zone } = yield* Zone
      for (const { name, type, value } of Object(added).data.dns_records) {
        if (type === "TXT") zone[name] = { TXT: [value] }
      }
      // A check that ran before the records were there is repeated after ten seconds.
      yield* asking(
        reader.node.request("POST", `/v1/email/domains/${id}/verify`, { key: reader.key }),
        ({ at }) => at("data", "status") === "verified"
      )
      yield* reader.next({ DOMAIN_ID: id })
      yield* reader.next()
    }),

  "one-time-codes": (reader) =>
    Effect.gen(function*() {
      // The guide's readers in other languages have texts on the same phone.
      const earlier = yield* phoneOf(reader.node, "+250788123456")
      const sent = yield* reader.next()
      const [text = ""] = yield* textsFor(reader.node, at(sent, "data", "to"), earlier.length + 1)
      const [code = ""] = /\d{6}/.exec(text) ?? []
      yield* reader.next({ VERIFICATION_ID: at(sent, "data", "id"), CODE: code })
    }),

  "receive-whatsapp": (reader) =>
    Effect.gen(function*() {
      const { key, node } = reader
      const phones = (path: string, fields: Readonly<Record<string, string>>) =>
        node.request("POST", `/sandbox/phones${path}`, {
          body: new URLSearchParams(fields).toString(),
          headers: { "content-type": "application/x-www-form-urlencoded", origin: node.baseUrl }
        })
      const id = at(yield* reader.next(), "id")
      const scan = phones("/scan", { session: id, number: "15550100300" })
      yield* scan
      yield* untilConnected(node, key, Number(id), () => scan)
      yield* reader.next({ SESSION_ID: id })
      const receiver = yield* makeWebhookReceiver()
      yield* reader.next({ WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/` })
      yield* phones("", { number: "15550100301", name: "Ann" })
      yield* phones("/15550100301/send", { to: "15550100300", text: "Are you open today?" })
      const [delivery] = yield* receiver.received(1)
      const event = fences("docs/guides/receive-whatsapp.md").find(({ kind }) => kind === "event")
      const received: unknown = JSON.parse(String(delivery?.body))
      assertShown(parseShown(event?.text ?? ""), received)
      yield* reader.next({ SESSION_ID: id, SENDER: at(received, "data", "from") })
    }),

  "verify-webhooks": (reader) => reader.language === "sh" ? checkByHand(reader) : receive(reader)
}

/** The receiver of the guide in a language. */
const receiverIn = (language: Language) =>
  fences("docs/guides/verify-webhooks.md").find((fence) => fence.kind === "receiver" && fence.language === language)
    ?.text ?? ""

/** Creates the webhook of the guide. */
const subscribe = (reader: Reader, port: number) =>
  Effect.map(reader.next({ WEBHOOK_URL: `http://127.0.0.1:${port}/` }), (created) => ({
    WEBHOOK_ID: at(created, "data", "id"),
    WEBHOOK_SECRET: at(created, "data", "secret")
  }))

/** Runs the receiver of the guide, and sends it the service's test event and a forged one. */
const receive = (reader: Reader) =>
  Effect.gen(function*() {
    const port = yield* freePort
    const { WEBHOOK_ID, WEBHOOK_SECRET } = yield* subscribe(reader, port)
    const code = receiverIn(reader.language)
    const { changes, output } = yield* Effect.acquireRelease(
      Effect.sync(() => spawn({ language: reader.language, code, env: { PORT: String(port), WEBHOOK_SECRET } })),
      ({ changes, child, output }) =>
        Effect.andThen(Effect.sync(() => child.kill()), changes.until(() => output.code !== undefined, longer.start))
    )
    const forged = { body: "{}", origin: `http://127.0.0.1:${port}` }
    // Nothing listens at first.
    const asked = Effect.catchDefect(reader.node.request("POST", "/", forged), () => Effect.succeed({ status: 0 }))
    yield* eventually(asked, ({ status }) => status === 401, longer.start)
    yield* reader.next({ WEBHOOK_ID })
    yield* changes.until(() => output.stdout.includes("\n"), longer.start)
    assert.strictEqual(output.stdout, "verified email.sent\n")
  })

/** Checks a recorded request, and a forged one, with the shell's code. */
const checkByHand = (reader: Reader) =>
  Effect.gen(function*() {
    const receiver = yield* makeWebhookReceiver({ script: [204] })
    const { WEBHOOK_ID, WEBHOOK_SECRET } = yield* subscribe(reader, receiver.port)
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "guide-"))),
      (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
    )
    yield* reader.next({ WEBHOOK_ID })
    const [delivery] = yield* receiver.received(1)
    const header = (name: string) => delivery?.headers[name] ?? ""
    const check = (body: string) =>
      Effect.suspend(() => {
        NodeFs.writeFileSync(NodePath.join(folder, "body.json"), body)
        const env = {
          WEBHOOK_SECRET,
          WEBHOOK_ID: header("webhook-id"),
          WEBHOOK_TIMESTAMP: header("webhook-timestamp"),
          WEBHOOK_SIGNATURE: header("webhook-signature")
        }
        return run({ language: "sh", code: receiverIn("sh"), folder, env })
      })
    const body = String(delivery?.body)
    assert.strictEqual((yield* check(body)).stdout, "verified\n")
    assert.deepInclude(yield* check(`${body} `), { stdout: "not authentic\n", code: 1 })
  })

describe("docs/guides", () => {
  for (const guide of guides) {
    it(`${guide} shows each request in curl, Node and Python, in this order`, () => {
      const code = fences(guide).filter((fence) => isCode(fence) && fence.kind === undefined).map(({ language }) =>
        language
      )
      assert.deepStrictEqual(code, Array.from({ length: code.length / 3 }).flatMap(() => [...languages]))
      for (const text of blocks(read(guide), "bash")) assert.notInclude(text, "curl")
    })

    it(`${guide} names only existing settings`, () => {
      for (const text of blocks(read(guide), "ini")) {
        for (const [, name = ""] of text.matchAll(/^(\w+)=/gm)) {
          assert.include(read("docs/settings.md"), `| \`${name}\` |`)
        }
      }
    })
  }

  it("every guide with requests is run by this file", () => {
    const withCode = guides.filter((guide) => fences(guide).some(isCode)).map((guide) =>
      NodePath.basename(guide, ".md")
    )
    assert.deepStrictEqual(withCode.toSorted(), Object.keys(readings).toSorted())
  })

  it("the guide of errors has one section for each error type of the contract and the sandbox, and no other", () => {
    const sections = [...read("docs/guides/errors.md").matchAll(/^### (.*)$/gm)].map(([, title]) => title)
    const types = [...knownErrors.map(({ type }) => type), "sandbox_not_allowed"]
    assert.deepStrictEqual(sections.toSorted(), types.toSorted())
  })
})

layer(Nodes, { excludeTestServices: true })("the code of the guides", (it) => {
  for (const [guide, reading] of Object.entries(readings)) {
    for (const language of languages) {
      it.effect.skipIf(!isInstalled(language))(
        `docs/guides/${guide}.md works as shown in ${names[language]}`,
        () =>
          Effect.gen(function*() {
            const { key } = yield* makeAccount()
            const reader = new Reader(yield* Service, key, language, guide)
            yield* reading(reader)
            assert.deepStrictEqual(reader.steps, [])
          })
      )
    }
  }
})
