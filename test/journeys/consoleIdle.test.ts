/** A node does nothing for the console while no page of it is open. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodePath from "node:path"
import { bundleOf } from "../../src/app/shell/bundle.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const root = NodePath.resolve(import.meta.dirname, "../..")

/** Names each module that a node loads. It runs the sources, because a part of the bundle does not tell what is in it. */
const naming = `data:text/javascript,${
  encodeURIComponent(`import { registerHooks } from "node:module"
registerHooks({
  resolve: (name, context, next) => next(name === ${
    JSON.stringify(NodePath.join(bundleOf(root), "messaging-service.mjs"))
  } ? ${JSON.stringify(NodePath.join(root, "src/app/cli/Cli.ts"))} : name, context),
  load: (url, context, next) => (console.log("loads " + url), next(url, context))
})`)
}`

/** Modules of the console, and the libraries that only people in a browser need. */
const ofConsole = /\/src\/console\/|\/node_modules\/(?:intl-messageformat|@simplewebauthn|otpauth|qrcode|@zxcvbn-ts)\//

/** The part of the console that the server knows: it loads the others. */
const door = /\/src\/console\/ConsoleLayer\.ts$/

/** Statements of the background that pass while a page would have loaded itself again, were it open. */
const meanwhile = 25

/** How often the pages are opened. */
const looks = 3

const totalOf = (executions: ReadonlyMap<string, number>) =>
  [...executions.values()].reduce((sum, count) => sum + count, 0)

layer(TestDatabase.layer, { excludeTestServices: true })("a node whose console is closed", (it) => {
  it.effect("has loaded nothing of it before its first page, and executes nothing and connects to nothing after its last", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const proxy = yield* makeDatabaseProxy()
      const node = yield* startNode({ env: { DATABASE_URL: proxy.url, NODE_OPTIONS: `--import=${naming}` } })
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      const loaded = () => node.logs.filter((line) => line.startsWith("loads ") && ofConsole.test(line))
      const connections = Effect.map(
        sql`select count(*)::integer as count from pg_stat_activity
          where datname = current_database() and application_name = 'messaging-service'`,
        ([row]) => Number(row?.["count"])
      )
      const passed = (since: ReadonlyMap<string, number>) =>
        eventually(proxy.executions, (now) => totalOf(now) >= totalOf(since) + meanwhile)
      assert.strictEqual((yield* node.request("GET", "/v1/api-keys", { key })).status, 200)
      const before = yield* passed(yield* proxy.executions)
      const open = yield* connections
      assert.deepStrictEqual(loaded().filter((line) => !door.test(line)), [])

      const look = Effect.gen(function*() {
        for (const path of ["", "/messages", "/batches", "/keys"]) {
          const { status } = yield* node.request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
          assert.strictEqual(status, 200, path)
        }
      })
      yield* Effect.replicateEffect(look, looks, { discard: true })
      assert.isAbove(loaded().length, 50)
      const closed = yield* proxy.executions
      // A rare statement of the background is new too, and has not run as often.
      const own = [...closed].filter(([statement, count]) => !before.has(statement) && count >= looks).map(([text]) =>
        text
      )
      assert.isAbove(own.length, 5)
      const after = yield* passed(closed)
      assert.deepStrictEqual(own.filter((statement) => after.get(statement) !== closed.get(statement)), [])
      // An idle connection of the pool closes after one or two minutes.
      yield* eventually(connections, (count) => count <= open, "150 seconds")
    }))
})
