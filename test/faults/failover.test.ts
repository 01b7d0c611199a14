import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, type RunningNode } from "../support/Service.ts"
import { signedEvent } from "../support/signedEvent.ts"
import { freshNumber } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { listen, makeCluster, randomPause } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

const messages = 60

/** What the first two steps do with each kind of number: the second is mail, which arrives. */
const phones = [
  () => freshNumber(),
  () => "+15005550001",
  () => "+15005550002",
  () => "+15005550003"
]

const sendOne = Effect.fnUntraced(
  function*(node: RunningNode, key: string, { email, phone }: { phone: string; email: string }) {
    const steps = [
      { channel: "sms", content: `For ${email}`, within_seconds: 2 },
      { channel: "email", subject: "Your table", text: "It is ready.", until: "sent" }
    ]
    const json = { to: { phone, email }, steps }
    // A node that is busy answers 503, and the caller repeats the request.
    const answer = yield* eventually(
      node.request("POST", "/v1/messages", { key, json, headers: { "idempotency-key": email } }),
      ({ status }) => status !== 503,
      longer.takeover
    )
    assert.strictEqual(answer.status, 202, answer.text)
    return { id: String(answer.at("data", "id")), email, isReachable: phone.startsWith("+25078") }
  }
)

/** Only nodes are killed, so the shared test server without fsync is enough. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })("kill -9 during failovers", (it) => {
  it.effect(
    "a killed node loses no message with failover, begins no step twice, and reports each end once",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const sink = yield* sinkProcess
        const cluster = makeCluster({ smtpPort: sink.port, env: { SANDBOX_SMS_DELAY_MS: "200" } })
        yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
        for (let round = 0; round < rounds; round++) {
          const { accountId: account_id, key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver()
          const { secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["message.*"] })
          const node = cluster.any(round)
          const sent = yield* Effect.forEach(
            Array.from({ length: messages }, (_, index) => ({
              phone: phones[index % phones.length]?.() ?? "",
              email: `diner-${round}-${index}@people.example`
            })),
            (to) => sendOne(node, key, to),
            { concurrency: 8 }
          )
          const pause = yield* randomPause(0, 4_000)
          yield* cluster.kill(node)
          yield* eventually(
            sql`select count(*)::int as open from failovers where account_id = ${account_id} and completed_at is null`,
            ([row]) => row?.["open"] === 0,
            longer.takeover
          )
          const steps = yield* sql`select s.failover_id, s.channel, s.begun_at is not null as begun, s.message_id from
            failover_steps s join failovers f on f.id = s.failover_id where f.account_id = ${account_id}`
          for (const { id, isReachable } of sent) {
            const mail = steps.find((step) => step["failover_id"] === id && step["channel"] === "email")
            // The receipt of a number that is reachable may come after the step's time, when its node dies.
            if (!isReachable) assert.strictEqual(mail?.["begun"], true, id)
          }
          const [doubled] = yield* sql`select count(*)::int as doubled from (
              select failover_id from messages where account_id = ${account_id} group by failover_id having count(*) > 1
              union all
              select failover_id from email_messages where account_id = ${account_id} group by failover_id having count(*) > 1
            ) t`
          assert.strictEqual(doubled?.["doubled"], 0)
          const own = new Set(sent.map(({ id }) => id))
          // A repeated delivery has the id of its event.
          const ends = Effect.sync(() =>
            new Map(receiver.requests.flatMap((request) => {
              const { data, id } = signedEvent(request, secret)
              return own.has(String(data["id"])) ? [[id, String(data["id"])] as const] : []
            }))
          )
          const reported = yield* eventually(
            ends,
            (found) => new Set(found.values()).size === own.size,
            longer.takeover
          )
          assert.strictEqual(reported.size, own.size)
          yield* Effect.log(`killed after ${pause} ms: ${reported.size} messages ended once`)
          yield* cluster.start
        }
      }),
    120_000 + rounds * 60_000
  )
})
