/** Upstreams that a node cannot reach, as every node shows them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { signedInAs } from "../support/consolePeople.ts"
import { freePort } from "../support/freePort.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { eventually, makeAccount, type RunningNode, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { makeSmsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const awayOn = (node: RunningNode, key: string) =>
  Effect.map(
    node.request("GET", "/v1/account/attention", { key }),
    ({ at }) =>
      (at("data") as ReadonlyArray<{ readonly code: string; readonly since: string }>)
        .filter(({ code }) => code.endsWith("_away"))
  )

layer(TestDatabase.layer, { excludeTestServices: true })("relay and carrier away", (it) => {
  it.effect(
    "every node names a relay and a carrier that another node cannot reach, since when, until they are back",
    () =>
      Effect.gen(function*() {
        const smtpPort = yield* freePort
        const smsc = yield* makeSmsc()
        smsc.refuseBinds(0x0d)
        const options = {
          smtpPort,
          env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url }
        }
        const nodes = [yield* startNode(options), yield* startNode(options)]
        const [first] = nodes
        assert.isDefined(first)
        const { accountId, key } = yield* makeAccount()
        const test = yield* first.request("POST", "/v1/api-keys", { key, json: { name: "Test", mode: "test" } })
        const id = yield* sendEmail(first, key, { to: "ada@example.com", subject: "s", text: "t" })
        for (const node of nodes) {
          const found = yield* eventually(awayOn(node, key), ({ length }) => length === 2, longer.turn)
          assert.sameMembers(found.map(({ code }) => code), ["relay_away", "carrier_away"])
          for (const { since } of found) assert.isAbove(Date.parse(since), Date.now() - 600_000)
        }
        const { cookie } = yield* signedInAs(accountId, "owner")
        const page = yield* first.request("GET", `/console/${accountId}/messages/email/${id}`, { headers: { cookie } })
        assert.include(page.text, "The mail relay is away. Nothing is lost")
        assert.deepStrictEqual(yield* awayOn(first, String(test.at("data", "key"))), [])
        // One node keeps the bind, so the other one knows of it from the database alone.
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`select from upstream_outages where upstream = 'carrier'`
        assert.strictEqual(rows.length, 1)
        yield* ScriptedSmtp.make({ port: smtpPort })
        smsc.refuseBinds(0)
        yield* reaching(first, { id, key, statuses: ["sent"] })
        for (const node of nodes) yield* eventually(awayOn(node, key), ({ length }) => length === 0, longer.turn)
      })
  )
})
