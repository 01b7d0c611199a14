import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking } from "../support/bulkMail.ts"
import { eventually, makeAccount } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import { makeSmsc, receiptText } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeCluster } from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"

/** Log pattern of the node that has the bind. */
const hasBind = `"bind":"smpp"`

/** Seconds: a dead node's locks expire, assignments are checked again, and a new bind is made. */
const longestTakeover = 20

const window = 1_000

/** A fifth of the window is kept for codes and other single messages. */
const inFlight = 800

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of the node with the SMPP bind",
  (it) => {
    it.effect(
      "no SMS of 800 in flight is lost, and only these are submitted again, once each",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const smsc = yield* makeSmsc()
          const cluster = makeCluster({
            env: {
              SMS_PROVIDER: "smpp",
              SMPP_URL: smsc.url,
              SMPP_WINDOW: String(window),
              SMPP_MAX_PER_SECOND: "100000"
            }
          })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const before = smsc.submits.length
            // The carrier never answers the first bind's submits: all of them are in flight when the node dies.
            smsc.answer(() => ({ never: true }))
            // A node unbinds before another gets the shard, so once all have their shards the one bind is stable.
            yield* smsc.until(({ bound }) => bound() === 1, longer.takeover)
            // A new account per round, so that its totals count this round only.
            const { key } = yield* makeAccount()
            const numbers = Array.from({ length: 1_200 }, freshNumber)
            const batches = yield* Effect.forEach([0, 400, 800], (from) =>
              cluster.any(from).request("POST", "/v1/sms/send-bulk", {
                key,
                json: { content: "Hello", recipients: numbers.slice(from, from + 400) }
              }))
            yield* smsc.until(({ submits }) =>
              submits.length - before >= inFlight, longer.takeover)
            const { node } = yield* cluster.ownerOf(hasBind)
            const killedAt = yield* cluster.kill(node)
            const rows = yield* sql`select m.recipient from sms_parts p join messages m on m.id = p.message_id
              where p.status = 'sending'`
            const doubtful = new Set(rows.map((row) =>
              String(row["recipient"])
            ))
            assert.isAtLeast(doubtful.size, inFlight)
            // Carriers reuse ids: these are the same in each round.
            smsc.answer((_, index) => ({ id: `${index - before}`, receipts: [receiptText(`${index - before}`)] }))
            // In every other round a new node starts before the survivor notices.
            if (round % 2 === 1) yield* cluster.start
            const { at: boundAt } = yield* cluster.ownerOf(hasBind)
            for (const batch of batches) {
              const path = `/v1/sms/batches/${String(batch.at("data", "batch_id"))}`
              const ended = yield* asking(
                cluster.any(0).request("GET", path, { key }),
                ({ at }) => typeof at("data", "completed_at") === "string"
              )
              assert.deepInclude(ended.at("data"), { status: "completed", total: 400, sent: 400, failed: 0, queued: 0 })
            }
            yield* eventually(
              cluster.any(0).request("GET", "/v1/sms/messages?status=delivered", { key }),
              ({ at }) => at("meta", "total") === numbers.length,
              longer.takeover
            )
            const counts = new Map<string, number>()
            for (const { to } of smsc.submits.slice(before)) counts.set(`+${to}`, (counts.get(`+${to}`) ?? 0) + 1)
            assert.deepStrictEqual(numbers.filter((number) => !counts.has(number)), [], "numbers were lost")
            const twice = [...counts].filter(([, count]) => count > 1)
            assert.isAtLeast(twice.length, inFlight)
            assert.deepStrictEqual(twice.filter(([number, count]) => count > 2 || !doubtful.has(number)), [])
            const takeover = (boundAt - killedAt) / 1000
            yield* Effect.log(
              `bound again in ${takeover.toFixed(1)} s, ${doubtful.size} in doubt, ${twice.length} twice`
            )
            assert.isBelow(takeover, inTime(longestTakeover))
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      120_000 + rounds * 60_000
    )
  }
)
