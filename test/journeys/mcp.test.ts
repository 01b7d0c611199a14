/** `/mcp` by the official client of the Model Context Protocol. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import { meantBy, unknownArgument } from "../../src/app/mcp/toolArguments.ts"
import { toolTable } from "../../src/app/mcp/toolTable.ts"
import type { Scope } from "../../src/values/Permission.ts"
import { endpoints } from "../contract/contract.ts"
import { read } from "../docs/documents.ts"
import { readQr } from "../support/readQr.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

interface Content {
  readonly type: string
  readonly text?: string
  readonly data?: string
  readonly mimeType?: string
}

/** A connected client, and the result of a tool with its texts together. */
const connect = (key: string) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Service
    const client = new Client({ name: "test", version: "1.0.0" })
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), { requestInit })
    yield* Effect.acquireRelease(
      // The library's own class does not fit its own interface under exactOptionalPropertyTypes.
      Effect.promise(() => client.connect(transport as Parameters<Client["connect"]>[0])),
      () => Effect.promise(() => client.close())
    )
    const call = (name: string, values: Record<string, unknown> = {}) =>
      Effect.map(Effect.promise(() => client.callTool({ name, arguments: values })), (result) => {
        const content = result.content as ReadonlyArray<Content> // the protocol says so
        const text = content.map(({ text }) => text ?? "").join("")
        const json = () => {
          assert.match(text, /^\{/)
          return JSON.parse(text)
        }
        return { isError: result.isError === true, content, text, json }
      })
    return { client, call }
  })

type Call = Effect.Success<ReturnType<typeof connect>>["call"]

/** Waits until the status tool of a channel has this status or a later one, and its timeline the first and the last step. */
const storiesOf = (call: Call) =>
  Effect.fnUntraced(function*(channel: string, id: Record<string, unknown>, status: string) {
    const all = [status, "delivered", "read"]
    const shown = Effect.map(call(`${channel}_status`, id), ({ json }) => json().data)
    assert.include(all, (yield* eventually(shown, (data) => all.includes(data.status))).status)
    const kinds: Effect.Effect<ReadonlyArray<string>> = Effect.map(
      call(`${channel}_timeline`, id),
      ({ json }) => json().data.map(({ kind }: { readonly kind: string }) => kind)
    )
    const told = yield* eventually(kinds, (found) => found.includes("attempt") || channel === "code")
    assert.includeMembers([...told], ["accepted", "queued"], channel)
  })

const toolNames = (client: Client) =>
  Effect.map(Effect.promise(() => client.listTools()), ({ tools }) => tools.map(({ name }) => name))

const example = (endpoint: string) => ({ endpoint })

describe("the table of tools", () => {
  test("has an endpoint of the contract for each tool, none twice", () => {
    const known = new Set(endpoints.map(({ name }) => name.replaceAll(/:(\w+)/g, "{$1}")))
    const used = Object.values(toolTable).map(({ operation }) => operation)
    assert.deepStrictEqual(used.filter((operation) => !known.has(operation)).map(example), [])
    assert.deepStrictEqual([...new Set(used)], used)
  })
})

/** A pattern of the table in docs/sdk/cli.md: a method or any, and a path in which a star is anything. */
const matches = (pattern: string, operation: string) =>
  new RegExp(`^${pattern.replaceAll(/[.{}]/g, "\\$&").replaceAll("*", ".*")}$`).test(operation)

describe("the table of what agents have no tool for", () => {
  test("names every endpoint without a tool, and nothing that is not there", () => {
    const used = new Set(Object.values(toolTable).map(({ operation }) => operation))
    const [, table = ""] = /^\| Endpoints \| Why agents have no tool \|\n(.*)/ms.exec(read("docs/sdk/cli.md")) ?? []
    const patterns = table.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(.+?)`/g)])
      .map(([, pattern = ""]) => pattern)
    const all = endpoints.map(({ name }) => name.replaceAll(/:(\w+)/g, "{$1}"))
    const without = all.filter((name) => !used.has(name))
    assert.deepStrictEqual(without.filter((name) => !patterns.some((pattern) => matches(pattern, name))), [])
    assert.deepStrictEqual(patterns.filter((pattern) => !without.some((name) => matches(pattern, name))), [])
  })
})

describe("arguments of tools", () => {
  test("take what a model meant, and leave everything else to the endpoint", () => {
    const cases: ReadonlyArray<readonly [unknown, string, unknown]> = [
      ["5", "integer", 5],
      ["five", "integer", "five"],
      [250788123456, "string", "250788123456"],
      ["true", "boolean", true],
      ["email.*", "array", ["email.*"]],
      ["[\"a\",\"b\"]", "array", ["a", "b"]],
      ["{\"a\":1}", "object", { a: 1 }],
      ["{", "object", "{"],
      [null, "string", null]
    ]
    for (const [value, type, meant] of cases) assert.deepStrictEqual(meantBy(value, { type }), meant)
  })

  test("that a tool does not have are named with those that it has", () => {
    const input = { properties: { to: {}, content: {} }, required: ["to"], example: undefined }
    assert.isUndefined(unknownArgument(input, { to: "x" }))
    assert.strictEqual(
      unknownArgument(input, { recipient: "x" }),
      "recipient is no argument of this tool. Its arguments are to (required), content."
    )
  })
})

layer(Service.layer(), { excludeTestServices: true })("/mcp", (it) => {
  it.effect("lists to a full live key every tool of the table, with its arguments, and what a call does and costs", () =>
    Effect.gen(function*() {
      const { client } = yield* connect((yield* makeAccount()).key)
      const { tools } = yield* Effect.promise(() => client.listTools())
      const names = Object.keys(toolTable).filter((name) => !/^sandbox_(messages|fault)/.test(name))
      assert.sameMembers(tools.map(({ name }) => name), names)
      for (const { description = "", inputSchema, name } of tools) {
        assert.isAbove(description.length, 10, name)
        assert.notInclude(JSON.stringify(inputSchema), "$ref", name)
      }
      for (
        const [tool, says] of [
          ["email_send", /^SENDS REAL EMAIL.*quota of email/],
          ["whatsapp_send", /^SENDS A REAL WHATSAPP MESSAGE.*costs no money/],
          ["code_send", /^SENDS A ONE-TIME CODE.*By SMS it costs money/]
        ] as const
      ) assert.match(tools.find(({ name }) => name === tool)?.description ?? "", says)
      const sms = tools.find(({ name }) => name === "sms_send")
      assert.match(sms?.description ?? "", /^SENDS A REAL SMS.*COSTS MONEY/)
      assert.sameMembers([...sms?.inputSchema.required ?? []], ["to", "content"])
      assert.includeMembers(Object.keys(sms?.inputSchema.properties ?? {}), ["to", "content", "idempotency_key"])
      assert.isTrue(tools.find(({ name }) => name === "sms_list")?.annotations?.readOnlyHint)
      assert.strictEqual(client.getServerVersion()?.name, "messaging-service")
      assert.include(client.getInstructions() ?? "", "ask the person")
    }))

  it.effect("lists to a key with scopes and permissions only their tools, and refuses the others", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const names = Effect.fnUntraced(function*(scopes: ReadonlyArray<Scope>) {
        const { client } = yield* connect((yield* makeKey(accountId, { scopes })).key)
        return yield* toolNames(client)
      })
      const ofMail = yield* names(["email:write"])
      assert.isTrue(ofMail.every((name) => /^email_|^messages_search$|^sms_prices$/.test(name)), String(ofMail))
      assert.includeMembers(yield* names(["account:read"]), ["usage_get", "usage_daily", "usage_billing"])
      assert.notInclude(yield* names(["whatsapp:read"]), "whatsapp_send")
      const reader = yield* connect((yield* makeKey(accountId, { permissions: ["sms:read"] })).key)
      assert.includeMembers(yield* toolNames(reader.client), ["sms_list"])
      assert.notInclude(yield* toolNames(reader.client), "sms_send")
      const refused = yield* Effect.flip(
        Effect.tryPromise(() => reader.client.callTool({ name: "sms_send", arguments: { to: "+250788123456" } }))
      )
      assert.match(String(refused.cause), /sms_send is no tool of this key/)
    }))

  it.effect("sends by every channel, and repeats nothing that has the same idempotency key", () =>
    Effect.gen(function*() {
      const { call } = yield* connect((yield* makeAccount()).key)
      const mail = { to: "ada@example.com", subject: "Hello", text: "Hello Ada", idempotency_key: "mail-1" }
      const [first, second] = [yield* call("email_send", mail), yield* call("email_send", mail)]
      assert.strictEqual(first.json().data.id, second.json().data.id)
      const status = yield* call("email_status", { id: String(first.json().data.id) })
      assert.strictEqual(status.json().data.subject, "Hello")
      const sms = yield* call("sms_send", { to: 250788123456, content: "Ready" })
      assert.strictEqual(sms.json().data.to, "+250788123456")
      assert.isAbove(sms.json().data.cost_usd, 0)
      const code = yield* call("code_send", { to: "250788123457" })
      assert.strictEqual(code.json().data.channel, "sms")
      const found = yield* call("messages_search", { per_page: 1, channel: "email" })
      assert.strictEqual(found.json().data.length, 1)
      assert.isFalse([first, sms, code, found].some(({ isError }) => isError))
    }))

  it.effect("the status and the timeline of an email, an SMS and a code say what was sent", () =>
    Effect.gen(function*() {
      const { call } = yield* connect((yield* makeAccount()).key)
      const story = storiesOf(call)
      const mail = yield* call("email_send", { to: "ada@example.com", subject: "Hello", text: "Hello" })
      yield* story("email", { id: mail.json().data.id }, "sent")
      const sms = yield* call("sms_send", { to: "+250788123458", content: "Ready" })
      yield* story("sms", { id: sms.json().data.message_id }, "sent")
      const code = yield* call("code_send", { to: "+250788123459" })
      yield* story("code", { verification_id: code.json().data.id }, "pending")
    }))

  it.effect("shows the QR code as an image, and sends texts and lat,long from the paired session", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { call } = yield* connect((yield* makeAccount()).key)
      const created = yield* call("whatsapp_session_create", { name: "Shop" })
      const [image] = created.content
      assert.deepInclude(image, { type: "image", mimeType: "image/png" })
      assert.notInclude(created.text, "data:image")
      assert.isAbove(readQr(`data:image/png;base64,${image?.data ?? ""}`).length, 50)
      const { id } = created.json()
      yield* node.request("POST", "/sandbox/phones/scan", {
        body: `session=${id}&number=15550109${String(id).padStart(4, "0")}`,
        headers: { "content-type": "application/x-www-form-urlencoded" }
      })
      const state = Effect.map(call("whatsapp_session_get", { id }), ({ json }) => json().status)
      yield* eventually(state, (status) => status === "connected")
      const paired = yield* call("whatsapp_session_qr", { id })
      assert.isTrue(paired.isError)
      assert.match(paired.text, /^409 /)
      const text = yield* call("whatsapp_send", { session_id: String(id), to: "15550100301", content: "Hello" })
      assert.strictEqual(text.json().data.type, "text", text.text)
      const place = { session_id: id, to: "+15550100301", type: "location", content: "-1.95,30.06" }
      const location = yield* call("whatsapp_send", place)
      yield* storiesOf(call)("whatsapp", { id: text.json().data.message_id }, "sent")
      const sent = yield* call("whatsapp_status", { id: location.json().data.id })
      assert.deepInclude(sent.json().data.content, { latitude: -1.95, longitude: 30.06 })
    }))

  it.effect("answers wrong arguments with a sentence and an example that the endpoint accepts", () =>
    Effect.gen(function*() {
      const { call } = yield* connect((yield* makeAccount()).key)
      const local = yield* call("sms_send", { to: "0788123456", content: "Ready" })
      assert.isTrue(local.isError)
      assert.match(local.text, /^422 validation_error: to: must begin/)
      const [, example = "{}"] = /Example of arguments: (.*)/.exec(local.text) ?? []
      assert.isFalse((yield* call("sms_send", JSON.parse(example))).isError)
      const stray = yield* call("sms_send", { phone: "+250788123456", message: "Ready" })
      assert.match(
        stray.text,
        /phone is no argument of this tool\. Its arguments are to \(required\), content \(required\)/
      )
      assert.match(stray.text, /Example of arguments/)
      const missing = yield* call("email_status")
      assert.match(missing.text, /needs a text or a number as id/)
      const absent = yield* call("email_status", { id: 999_999 })
      assert.match(absent.text, /^404 not_found: .*\nWhat to do: .*#not_found/s)
      // A lone surrogate, and a character that no header has.
      assert.match((yield* call("email_status", { id: "\ud800" })).text, /^404 not_found: /)
      const keyed = yield* call("sms_send", { ...JSON.parse(example), idempotency_key: "cl\u00e9 \u2713" })
      assert.match(keyed.text, /^422 validation_error: Idempotency-Key: must be 1 to 255 visible ASCII characters/)
    }))

  it.effect("takes as many large calls at once as the memory for bodies of an account has room for", () =>
    Effect.gen(function*() {
      const { call } = yield* connect((yield* makeAccount()).key)
      const large = { to: "ada@example.com", subject: "Large", text: "t".repeat(9.9 * 1024 * 1024) }
      const called = yield* Effect.forEach([1, 2, 3], () => call("email_send", large), { concurrency: 3 })
      for (const { text } of called) assert.match(text, /^422 validation_error: text: /)
    }))

  it.effect("manages domains, templates, suppressions, webhooks and their deliveries", () =>
    Effect.gen(function*() {
      const { call } = yield* connect((yield* makeAccount()).key)
      const receiver = yield* makeWebhookReceiver()
      const domain = (yield* call("email_domain_add", { domain: "mcp.example.org" })).json().data
      assert.include((yield* call("email_domain_verify", { id: domain.id })).json().data.status, "pending")
      const template = (yield* call("email_template_create", { name: "T", subject: "S", html: "<p>{{n}}</p>" })).json()
      yield* call("email_template_update", {
        template_id: template.data.template_id ?? template.data.id,
        subject: "S2"
      })
      assert.include((yield* call("email_templates_list")).text, "S2")
      yield* call("email_suppression_add", { email: "gone@example.com" })
      assert.strictEqual((yield* call("email_suppression_remove", { email: "gone@example.com" })).text, "Done.")
      const webhook = (yield* call("webhook_create", { url: receiver.url, events: "email.*" })).json().data
      assert.deepStrictEqual(webhook.events, ["email.*"])
      yield* call("email_send", { to: "ada@example.com", subject: "Hello", text: "Hello" })
      const deliveries = Effect.map(call("webhook_deliveries_list", { id: webhook.id }), ({ json }) => json().data)
      const [delivery] = yield* eventually(deliveries, (rows) => rows.length > 0)
      const shown = yield* call("webhook_delivery_get", { id: webhook.id, delivery_id: delivery.id })
      assert.strictEqual(shown.json().data.id, delivery.id)
      assert.strictEqual((yield* call("usage_get")).json().data.plan, "enterprise")
    }))

  it.effect("offers the guides as resources and as prompts", () =>
    Effect.gen(function*() {
      const { client } = yield* connect((yield* makeAccount()).key)
      const { resources } = yield* Effect.promise(() => client.listResources())
      const { prompts } = yield* Effect.promise(() => client.listPrompts())
      assert.includeMembers(resources.map(({ name }) => name), ["first-real-mail", "errors", "agents"])
      assert.deepStrictEqual(prompts.map(({ name }) => name), resources.map(({ name }) => name))
      const read = yield* Effect.promise(() => client.readResource({ uri: "messaging://guides/errors" }))
      assert.match(JSON.stringify(read.contents), /# Errors/)
      const prompt = yield* Effect.promise(() =>
        client.getPrompt({ name: "own-domain", arguments: { goal: "Send from example.org" } })
      )
      assert.match(
        JSON.stringify(prompt.messages),
        /Send from your own domain.*Send from example\.org.*text\/markdown/s
      )
      const unknown = yield* Effect.flip(
        Effect.tryPromise(() => client.readResource({ uri: "messaging://guides/../settings" }))
      )
      assert.match(String(unknown.cause), /No resource has this URI/)
    }))

  it.effect("tells a test key that nothing leaves the service, and shows it what it has sent", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount()
      const { call, client } = yield* connect((yield* makeKey(accountId, { mode: "test" })).key)
      assert.include(client.getInstructions() ?? "", "nothing leaves the service")
      yield* call("sms_send", { to: "+250788123456", content: "For the sandbox" })
      const texts = Effect.map(call("sandbox_messages_list"), ({ text }) => text)
      yield* eventually(texts, (text) => text.includes("For the sandbox"))
    }))

  it.effect("refuses callers without a key, other methods, other protocols and what is no message", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
      assert.strictEqual((yield* request("POST", "/mcp", { json: ping })).status, 401)
      const got = yield* request("GET", "/mcp", { key })
      assert.deepStrictEqual([got.status, got.headers["allow"]], [405, "POST, OPTIONS"])
      const post = (json: unknown, headers = {}) => request("POST", "/mcp", { key, json, headers })
      assert.deepStrictEqual((yield* post(ping)).json, { jsonrpc: "2.0", id: 1, result: {} })
      assert.strictEqual((yield* post({ jsonrpc: "2.0", method: "notifications/initialized" })).status, 202)
      assert.strictEqual((yield* post(ping, { "mcp-protocol-version": "1999-01-01" })).status, 400)
      assert.strictEqual((yield* post([ping])).at("error", "code"), -32_600)
      assert.strictEqual((yield* post({ ...ping, method: "sampling/x" })).at("error", "code"), -32_601)
      const old = { ...ping, method: "initialize", params: { protocolVersion: "2024-11-05" } }
      assert.strictEqual((yield* post(old)).at("result", "protocolVersion"), "2025-11-25")
    }))
})
