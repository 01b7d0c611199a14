/**
 * The guides for operators: their SQL runs on the current schema, and each block of `shell` runs as shown, with the variables that
 * the guide names. Blocks of `console` need Docker, systemd, Kubernetes or another checkout, and are not run.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { foreignPrograms, foreignServer } from "../support/foreignServer.ts"
import { freePort } from "../support/freePort.ts"
import { blocksOf, runs, textOf } from "../support/guideBlocks.ts"
import { isInstalled } from "../support/guideReader.ts"
import { startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasProxy, makeProxy } from "../support/TlsProxy.ts"

const names = ["production", "three-nodes", "upgrade", "backup", "monitoring", "alerts", "capacity"]

describe("guides for operators", () => {
  it("every block of commands is run by this file, or says that it needs more than this machine", () => {
    for (const name of names) {
      const languages = [...textOf(name).matchAll(/^ *```(\w+)$/gm)].map(([, language]) => language)
      for (const language of languages) assert.include(["shell", "console", "sql", "ini"], language)
    }
    assert.deepStrictEqual(names.map((name) => blocksOf(name, "shell").length), [3, 1, 2, 3, 0, 0, 0])
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("guides for operators", (it) => {
  it.effect("every statement runs on the current schema", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* startNode()
      const statements = names.flatMap((name) => blocksOf(name, "sql")).flatMap((block) => block.split(";\n"))
        .map((statement) => statement.trim()).filter((statement) => statement !== "")
      assert.isAtLeast(statements.length, 10)
      for (const statement of statements) yield* sql.unsafe(statement)
    }))

  it.effect.skipIf(!isInstalled("sh"))(
    "the commands of production, three nodes and upgrade work as shown",
    () =>
      Effect.gen(function*() {
        const { nodeUrl, url } = yield* TestDatabase
        const env = { DATABASE_URL: nodeUrl ?? url, MODE: "production" }
        const [prepare = "", ready = "", outside = ""] = blocksOf("production", "shell")
        yield* runs(prepare, env)
        const ports = [yield* freePort, yield* freePort]
        const nodes = yield* Effect.forEach(
          ports,
          (port) => startNode({ env: { METRICS_PORT: String(port), TRUSTED_PROXIES: "127.0.0.1" } })
        )
        const [first, second] = nodes
        yield* runs(ready, { NODE_URL: first?.baseUrl ?? "" })
        const [look = ""] = blocksOf("three-nodes", "shell")
        const shown = yield* runs(look, {
          NODE_URLS: nodes.map(({ baseUrl }) => baseUrl).join(" "),
          METRICS_URLS: ports.map((port) => `http://127.0.0.1:${port}`).join(" ")
        })
        assert.match(shown.output, /^effect_cluster_runners_healthy/m)
        const [migrate = "", wait = ""] = blocksOf("upgrade", "shell")
        yield* runs(migrate, env)
        yield* runs(wait, { NODE_URL: second?.baseUrl ?? "" })
        if (!hasProxy("nginx")) return
        const proxy = yield* makeProxy("nginx", nodes.map(({ port }) => port))
        yield* runs(outside, { SITE_URL: proxy.url, CURL_CA_BUNDLE: proxy.certificate })
      })
  )

  it.effect.skipIf(foreignPrograms === undefined)(
    "the drill of the backup restores what was sent, and ends what waited, so that nothing is sent again",
    () =>
      Effect.gen(function*() {
        const programs = foreignPrograms ?? ""
        const socket = encodeURIComponent(NodePath.dirname(yield* foreignServer(programs)))
        const urlOf = (database: string) => `postgres://postgres@localhost/${database}?host=${socket}`
        const folder = yield* Effect.acquireRelease(
          Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "drill-"))),
          (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
        )
        const env = {
          PATH: `${programs}:${process.env["PATH"]}`,
          DATABASE_URL: urlOf("postgres"),
          RESTORED_URL: urlOf("restored"),
          BACKUP: NodePath.join(folder, "messaging.dump"),
          MODE: "production"
        }
        const created = yield* runs(
          "npm run -s cli -- account create --email ada@example.com --name Ada --json",
          env
        )
        const key = String(JSON.parse(/^\{.*\}$/ms.exec(created.output)?.[0] ?? "{}").api_key)
        const node = yield* startNode({ env: { DATABASE_URL: env.DATABASE_URL } })
        const mail = { to: "user@example.com", subject: "Hello", text: "Hello" }
        const id = yield* sendEmail(node, key, mail)
        yield* reaching(node, { id, key, statuses: ["sent", "delivered"] })
        yield* node.stop()
        const paused = yield* startNode({ env: { DATABASE_URL: env.DATABASE_URL, PAUSED: "true" } })
        const waiting = yield* sendEmail(paused, key, mail)

        const [backUp = "", restore = "", drill = ""] = blocksOf("backup", "shell")
        yield* runs(backUp, env)
        yield* runs(`createdb --maintenance-db="$DATABASE_URL" restored\n${restore}`, env)
        const { output } = yield* runs(drill, env)
        const [accounts, , queued] = output.split("\n").map((line) => line.trim()).filter((line) => line !== "")
        assert.deepStrictEqual([accounts, queued], ["1", "0"])
        yield* paused.stop()
        const restored = yield* startNode({ env: { DATABASE_URL: env.RESTORED_URL } })
        const statusOf = (message: number) =>
          Effect.map(
            restored.request("GET", `/v1/email/messages/${message}`, { key }),
            ({ at }) => at("data", "status")
          )
        assert.include(["sent", "delivered"], yield* statusOf(id))
        assert.strictEqual(yield* statusOf(waiting), "canceled")
      })
  )
})
