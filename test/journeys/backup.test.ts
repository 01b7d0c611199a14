import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { promisify } from "node:util"
import { cli, sandboxed } from "../support/cli.ts"
import { foreignPrograms, foreignServer } from "../support/foreignServer.ts"
import { encryptionKey, eventually, type RunningNode, startNode } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const run = (program: string, words: ReadonlyArray<string>) =>
  Effect.promise(() => promisify(NodeChildProcess.execFile)(program, words))

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "backup-"))
    // As root, the embedded server's account must be able to enter it.
    NodeFs.chmodSync(path, 0o711)
    return path
  }),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

/** An account with a webhook and a sent mail, and a check that a node has them and can open the sealed secret. */
const customer = Effect.fnUntraced(function*(node: RunningNode, environment: Readonly<Record<string, string>>) {
  const words = ["account", "create", "--email", "ada@example.com", "--name", "Ada", "--json"]
  const { stderr, stdout } = yield* cli(words, { ...sandboxed, ...environment })
  assert.strictEqual(stderr, "")
  const key = String(Object(JSON.parse(stdout)).api_key)
  const receiver = yield* makeWebhookReceiver()
  const hook = yield* node.request("POST", "/v1/webhooks", { key, json: { url: receiver.url, events: ["email.sent"] } })
  assert.strictEqual(hook.status, 201, hook.text)
  const secret = String(hook.at("data", "secret"))
  const id = yield* sendEmail(node, key, { to: "user@example.com", subject: "Hello", text: "Hello" })
  yield* reaching(node, { id, key, statuses: ["sent", "delivered"] })
  yield* receiver.received(1)
  let count = 1
  return Effect.fnUntraced(function*(restored: RunningNode) {
    const mail = yield* restored.request("GET", `/v1/email/messages/${id}`, { key })
    assert.strictEqual(mail.at("data", "subject"), "Hello")
    const tested = yield* restored.request("POST", `/v1/webhooks/${String(hook.at("data", "id"))}/test`, {
      key,
      json: { event: "email.sent" }
    })
    assert.strictEqual(tested.status, 200, tested.text)
    const requests = yield* receiver.received(++count)
    for (const request of requests) signedEvent(request, secret)
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("a backup", (it) => {
  it.effect("of DATA_DIR, copied while no node runs, restores the embedded database, which two nodes can share", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      const DATA_DIR = NodePath.join(directory, "data")
      const env = { DATABASE_URL: undefined, ENCRYPTION_KEY: undefined, DATA_DIR }
      const first = yield* startNode({ env })
      const second = yield* startNode({ env })
      const check = yield* customer(second, { DATA_DIR })
      yield* check(first)
      yield* first.stop()
      yield* check(second)
      yield* second.stop()
      const pid = NodePath.join(DATA_DIR, "db/pg18/postmaster.pid")
      yield* eventually(Effect.sync(() => NodeFs.existsSync(pid)), (runs) => !runs, longer.start)
      const copy = NodePath.join(directory, "copy")
      yield* run("cp", ["-a", DATA_DIR, copy])
      NodeFs.rmSync(DATA_DIR, { recursive: true })
      yield* run("cp", ["-a", copy, DATA_DIR])
      const restored = yield* startNode({ env })
      yield* check(restored)
      yield* restored.stop()
    }))

  it.effect.skipIf(foreignPrograms === undefined)(
    "by pg_dump, made while a node runs, restores the service on a PostgreSQL of its owner, even an older one",
    () =>
      Effect.gen(function*() {
        const programs = foreignPrograms ?? ""
        const socket = NodePath.dirname(yield* foreignServer(programs))
        const environment = (database: string) => ({
          DATABASE_URL: `postgres://postgres@localhost/${database}?host=${encodeURIComponent(socket)}`,
          ENCRYPTION_KEY: encryptionKey
        })
        const client = (program: string, ...words: ReadonlyArray<string>) =>
          run(NodePath.join(programs, program), ["-h", socket, "-U", "postgres", ...words])
        const node = yield* startNode({ env: environment("postgres") })
        const check = yield* customer(node, environment("postgres"))
        const file = NodePath.join(yield* folder, "dump.sql")
        yield* client("pg_dump", "-f", file, "postgres")
        yield* node.stop()
        yield* client("createdb", "copy")
        yield* client("psql", "-v", "ON_ERROR_STOP=1", "-q", "-f", file, "copy")
        const paused = yield* startNode({ env: { ...environment("copy"), PAUSED: "true" } })
        const words = ["restored", "--before", "2099-01-01T00:00:00Z"]
        const ended = yield* cli(words, { ...sandboxed, ...environment("copy") })
        assert.strictEqual(ended.code, 0, ended.stderr)
        yield* paused.stop()
        const restored = yield* startNode({ env: environment("copy") })
        yield* check(restored)
        yield* restored.stop()
      })
  )
})
