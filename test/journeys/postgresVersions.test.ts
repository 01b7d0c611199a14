/**
 * A short journey through every channel on each version of PostgreSQL that the service supports. The other tests run on
 * the embedded version. npm has the servers for Linux on x64; on another system this file is skipped.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { prune } from "../../src/app/server/Pruning.ts"
import { retain } from "../../src/app/server/Retention.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { guarded } from "../contract/contract.ts"
import { isList } from "../contract/document.ts"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { checkCode, codeFor, sendCode } from "../support/codes.ts"
import { foreignServer } from "../support/foreignServer.ts"
import { runProgram, temporaryFolder } from "../support/sdkPackage.ts"
import { eventually, type RunningNode, startNode } from "../support/Service.ts"
import { makeListener, reaching, sendEmail } from "../support/singleMail.ts"
import { freshNumber, phoneOf, sendSms, smsReaching } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"

const versions = [14, 15, 16, 17, 18] as const
const canRun = process.platform === "linux" && process.arch === "x64"

/** Installs the servers where PostgreSQL's account can read them, because it is not root. */
class Servers
  extends Context.Service<Servers, string>()("messaging-service/test/journeys/postgresVersions.test/Servers")
{
  static readonly layer = Layer.effect(
    Servers,
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      if (!canRun) return folder
      NodeFs.chmodSync(folder, 0o755)
      NodeFs.cpSync(NodePath.join(import.meta.dirname, "postgres"), folder, { recursive: true })
      const npm = yield* runProgram("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder })
      assert.strictEqual(npm.code, 0, npm.output)
      for (const version of versions) {
        // npm packs no symbolic links. The servers find their libraries by them.
        const cwd = NodePath.join(folder, `node_modules/pg${version}`)
        const links = yield* runProgram(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd })
        assert.strictEqual(links.code, 0, links.output)
      }
      return NodePath.join(folder, "node_modules")
    })
  )
}

/** An empty database on a new server of this version. */
const databaseOn = (version: number) =>
  TestDatabase.layerClient.pipe(Layer.provideMerge(Layer.effect(
    TestDatabase,
    Effect.gen(function*() {
      const programs = NodePath.join(yield* Servers, `pg${version}/native/bin`)
      const host = NodePath.dirname(yield* foreignServer(programs))
      const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(host)}`
      return { host, port: 5432, username: "postgres", database: "postgres", url }
    })
  )))

const mails = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const id = yield* sendEmail(node, key, { to: "ada@people.example", subject: "Hello", text: "Hello" })
  yield* reaching(node, { id, key, statuses: ["sent", "delivered"] })
  const recipients = ["ann@people.example", "bob@people.example", "cid@people.example"]
  const batch = yield* sendBulk(node, key, { subject: "Hello", html: "Hello", recipients })
  const { at } = yield* ended(node, key, batch)
  assert.deepInclude(at("data"), { total: 3, sent: 3, failed: 0 })
  return id
})

const code = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const to = "code@people.example"
  const { id } = yield* sendCode(node, { key, json: { to, channel: "email" } })
  const right = yield* checkCode(node, { key, json: { id, code: yield* codeFor(node, to) } })
  assert.deepInclude(right.at("data"), { id, valid: true })
})

const failover = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const json = {
    // The sandbox fails every SMS to this number.
    to: { phone: "+15005550002", email: "diner@people.example" },
    steps: [
      { channel: "sms", content: "Your table is ready." },
      { channel: "email", subject: "Your table is ready", text: "See you soon.", until: "sent" }
    ]
  }
  const accepted = yield* node.request("POST", "/v1/messages", { key, json })
  assert.strictEqual(accepted.status, 202, accepted.text)
  const { at } = yield* eventually(
    node.request("GET", `/v1/messages/${String(accepted.at("data", "id"))}`, { key }),
    (message) => typeof message.at("data", "completed_at") === "string",
    longer.load
  )
  assert.include(["sent", "delivered"], at("data", "status"))
  assert.strictEqual(at("data", "steps", 0, "status"), "failed")
})

const sms = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const to = freshNumber()
  const id = yield* sendSms(node, key, { to, content: "Hello" })
  yield* smsReaching(node, { id, key, statuses: ["delivered"] })
  assert.lengthOf(yield* phoneOf(node, to), 1)
})

const lists = guarded.filter((endpoint) =>
  isList(endpoint) && endpoint.rule.mode !== "test" && !endpoint.path.includes(":")
)

/** Every list, searches and statistics, and a round of retention. */
const readings = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const further = ["/v1/messages?q=hello&to=ada", "/v1/account/stats?granularity=hour&timezone=Africa/Kigali"]
  for (const path of [...lists.map((list) => list.path), ...further]) {
    const { status, text } = yield* node.request("GET", path, { key })
    assert.strictEqual(status, 200, `${path}: ${text}`)
  }
  const logged: Array<string> = []
  const logger = Logger.make(({ message }) => void logged.push(String(message)))
  yield* Effect.provide(Effect.andThen(retain, prune), [AppConfig.layer, Logger.layer([logger])])
  assert.deepStrictEqual(logged.filter((line) => line.includes("failed")), [])
})

layer(Layer.merge(Servers.layer, WhatsApp.simulated), { excludeTestServices: true })(
  "the service on each PostgreSQL",
  (it) => {
    for (const version of versions) {
      it.effect.skipIf(!canRun)(
        `PostgreSQL ${version} carries every channel, a signed event, lists, searches, statistics and a round of retention`,
        () =>
          Effect.gen(function*() {
            const sql = yield* SqlClient.SqlClient
            const [server] = yield* sql`select current_setting('server_version_num')::int / 10000 as major`
            assert.strictEqual(server?.["major"], version)
            const node = yield* startNode({ env: { ...(yield* WhatsApp).env, SANDBOX_SMS_DELAY_MS: "50" } })
            const { key, received } = yield* makeListener(node, ["email.sent"])
            const [mail] = yield* Effect.all(
              [mails(node, key), sms(node, key), code(node, key), failover(node, key), pairedSession(node, key)],
              { concurrency: 2 }
            )
            // The code and the failover send mails, too.
            yield* eventually(received(1), (events) => events.some(({ data }) => data["id"] === mail), longer.load)
            yield* readings(node, key)
          }).pipe(Effect.provide(databaseOn(version)))
      )
    }
  }
)
