/**
 * The guides for operators: their SQL runs on the current schema, and each block of `shell` runs as shown, with the
 * variables that the guide names. Blocks of `console` need Docker, systemd, Kubernetes or another checkout, and are not
 * run.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { systemDirectory } from "../../src/platform/database/embedded/EmbeddedAccount.ts"
import { cli } from "../support/cli.ts"
import { foreignPrograms } from "../support/foreignServer.ts"
import { freePort } from "../support/freePort.ts"
import { blocksOf, installation, runs, textOf } from "../support/guideBlocks.ts"
import { isInstalled } from "../support/guideReader.ts"
import { temporaryFolder } from "../support/sdkPackage.ts"
import { encryptionKey, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { hasProxy, makeProxy } from "../support/TlsProxy.ts"
import { read } from "./documents.ts"

const names = ["production", "three-nodes", "upgrade", "backup", "monitoring", "alerts", "capacity"]

describe("guides for operators", () => {
  it("every block of commands is run by this file, or says that it needs more than this machine", () => {
    for (const name of names) {
      const languages = [...textOf(name).matchAll(/^ *```(\w+)$/gm)].map(([, language]) => language)
      for (const language of languages) assert.include(["shell", "console", "sql", "ini"], language)
    }
    assert.deepStrictEqual(names.map((name) => blocksOf(name, "shell").length), [3, 1, 2, 3, 0, 0, 0])
  })

  it("the pages about backups name the directory of an embedded database that is not in DATA_DIR", () => {
    const directory = systemDirectory("data").replace(/[^-]+$/, "…")
    for (const page of ["docs/guides/backup.md", "docs/operations.md"]) assert.include(read(page), `\`${directory}\``)
  })

  it("docs/guides/capacity.md repeats no figure of docs/benchmarks.md, which changes with each run", () => {
    const [, results = ""] = read("docs/benchmarks.md").split("## Results")
    const figures = new Set<string>(results.match(/\b\d+\.\d+\b/g))
    assert.isAtLeast(figures.size, 50)
    // The share of the event loop is no measurement.
    const repeated = textOf("capacity").replace("stays above 0.7", "").match(/\b\d+\.\d+\b/g) ?? []
    assert.deepStrictEqual(repeated.filter((figure) => figures.has(figure)), [])
    assert.include(textOf("capacity"), "](../benchmarks.md#results)")
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("guides for operators", (it) => {
  it.effect("config takes each value of the settings of production, of three nodes and of monitoring from the file", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      for (const name of names) {
        const [block] = blocksOf(name, "ini")
        if (block === undefined) continue
        const secret = block.includes("ENCRYPTION_KEY=") ? "" : `ENCRYPTION_KEY=${encryptionKey}\n`
        const text = block.replace(/^ENCRYPTION_KEY=$/m, `ENCRYPTION_KEY=${encryptionKey}`)
        NodeFs.writeFileSync(NodePath.join(folder, ".env"), secret + text)
        const { code, stderr, stdout } = yield* cli(["config"], {}, { cwd: folder })
        assert.deepStrictEqual([code, stderr], [0, ""], name)
        const given = block.trim().split("\n").map((line) => line.split("=")[0])
        const taken = [...stdout.matchAll(/^\.env +(\w+)=./gm)].map(([, setting]) => setting)
        assert.includeMembers(taken, given, name)
      }
    }))

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
        const { env, key } = yield* installation
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

  it.effect.skipIf(foreignPrograms === undefined)(
    "the way back of the upgrade guide starts the old version on the backup, after the migrated database has refused it",
    () =>
      Effect.gen(function*() {
        const { env, key } = yield* installation
        const first = yield* startNode({ env: { DATABASE_URL: env.DATABASE_URL } })
        const mail = { to: "user@example.com", subject: "Hello", text: "Hello" }
        const kept = yield* sendEmail(first, key, mail)
        yield* reaching(first, { id: kept, key, statuses: ["sent", "delivered"] })
        const [backUp = "", restore = ""] = blocksOf("backup", "shell")
        yield* runs(backUp, env)
        const [, wait = ""] = blocksOf("upgrade", "shell")

        // What the next version's command `migrate` does, while a node of this version runs.
        yield* runs(
          `psql --no-psqlrc --single-transaction --set ON_ERROR_STOP=1 --file - "$DATABASE_URL" <<'SQL'
          create table from_the_next_version (id bigint primary key);
          insert into migrations (name, sha256) values ('9999_next_version.sql', '');
SQL`,
          env
        )
        const lost = yield* sendEmail(first, key, mail)
        yield* reaching(first, { id: lost, key, statuses: ["sent", "delivered"] })
        yield* first.stop()
        const refused = yield* runs("! npm run -s cli -- migrate", env)
        assert.include(refused.output, "The database is newer than this program")

        yield* runs(`createdb --maintenance-db="$DATABASE_URL" restored\n${restore}`, env)
        const back = yield* startNode({ env: { DATABASE_URL: env.RESTORED_URL } })
        yield* runs(wait, { NODE_URL: back.baseUrl })
        const statusOf = (id: number) =>
          Effect.map(back.request("GET", `/v1/email/messages/${id}`, { key }), ({ status }) => status)
        assert.deepStrictEqual([yield* statusOf(kept), yield* statusOf(lost)], [200, 404])
        const again = yield* sendEmail(back, key, mail)
        yield* reaching(back, { id: again, key, statuses: ["sent", "delivered"] })
      })
  )
})
