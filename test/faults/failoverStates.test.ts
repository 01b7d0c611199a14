import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { secondsAhead } from "../support/scheduled.ts"
import { eventually, makeAccount, type RunningNode } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"
import { makeSmsc, receiptText, type Smsc } from "../support/Smsc.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { between, listen, makeCluster, randomPause } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Messages of each case. */
const ofCase = 6

const hasBind = `"bind":"smpp"`

/** What the carrier does with a number. */
type Manner = "delivers" | "never reports" | "answers late" | "refuses"

interface StepPlan {
  /** Undefined: an email, which counts as sent when the relay has it. */
  readonly manner?: Manner
  readonly within: number
}

const email: StepPlan = { within: 300 }

/**
 * The states in which a kill finds messages, with their steps and what the steps come to. `late` gets the receipt of its
 * first step after the kill, while its second one waits for its own.
 */
const cases: Readonly<
  Record<string, { readonly steps: ReadonlyArray<StepPlan>; readonly ends: ReadonlyArray<string> }>
> = {
  "not begun": { steps: [{ manner: "delivers", within: 300 }, email], ends: ["delivered", "waiting"] },
  "being handed over": { steps: [{ manner: "answers late", within: 300 }, email], ends: ["delivered", "waiting"] },
  "handed over": { steps: [{ manner: "never reports", within: 10 }, email], ends: ["sent", "sent"] },
  "refused": { steps: [{ manner: "refuses", within: 300 }, email], ends: ["failed", "sent"] },
  "late": {
    steps: [{ manner: "never reports", within: 10 }, { manner: "never reports", within: 3_000 }, email],
    ends: ["delivered", "sent", "waiting"]
  },
  "canceled": { steps: [{ manner: "delivers", within: 300 }, email], ends: [] }
}

interface Sent {
  readonly id: string
  readonly state: string
  readonly to: ReadonlyArray<string>
}

const carrier = () => {
  const manners = new Map<string, Manner>()
  const answer: Parameters<Smsc["answer"]>[0] = ({ to }, index) => {
    const id = `${index}`
    const receipts = [receiptText(id)]
    switch (manners.get(`+${to}`)) {
      case "never reports":
        return { id }
      case "answers late":
        return { id, receipts, afterMillis: 4_000 }
      case "refuses":
        return { status: 0x0b }
      default:
        return { id, receipts, afterMillis: between(5, 60) }
    }
  }
  return { manners, answer }
}

const send = Effect.fnUntraced(function*(
  node: RunningNode,
  { key, manners, name, state }: {
    readonly key: string
    readonly manners: Map<string, Manner>
    readonly name: string
    readonly state: string
  }
) {
  const steps = (cases[state]?.steps ?? []).map(({ manner, within: within_seconds }) => {
    if (manner === undefined) {
      const to = `${name}@people.example`
      return { channel: "email", subject: "Hello", text: "Hello", until: "sent", within_seconds, to }
    }
    const to = freshNumber()
    manners.set(to, manner)
    return { channel: "sms", content: "Hello", within_seconds, to }
  })
  const send_at = state === "not begun" ? { send_at: yield* secondsAhead(3_600) } : {}
  // A node that is busy answers 503, and the caller repeats the request.
  const answer = yield* eventually(
    node.request("POST", "/v1/messages", {
      key,
      json: { to: {}, steps, ...send_at },
      headers: { "idempotency-key": name }
    }),
    ({ status }) => status !== 503,
    longer.takeover
  )
  assert.strictEqual(answer.status, 202, answer.text)
  return { id: String(answer.at("data", "id")), state, to: steps.map(({ to }) => to) } satisfies Sent
})

/** Cancels at a random moment around the hand-over. A node that dies meanwhile gives no answer. */
const cancel = Effect.fnUntraced(function*(node: RunningNode, key: string, id: string) {
  yield* randomPause(0, 40)
  return yield* Effect.exit(node.request("POST", `/v1/messages/${id}/cancel`, { key }))
})

/** Checks what the end of a canceled message says: it was withdrawn, or its first step was sent and no other one begins. */
const checkCanceled = (
  answer: Effect.Success<ReturnType<typeof cancel>>,
  { copies, status, steps }: { readonly copies: number; readonly status: string; readonly steps: ReadonlyArray<string> }
) => {
  assert.strictEqual(copies > 0, status !== "canceled", `${copies} copies, but ${status}`)
  assert.strictEqual(steps[1], "waiting")
  if (Exit.isFailure(answer)) return
  const said = String(answer.value.at("data", "status"))
  assert.include([200, 409], answer.value.status, answer.value.text)
  if (answer.value.status === 409) assert.strictEqual(status, "delivered")
  // A message that is being handed over is neither yet.
  else if (said !== "processing") assert.strictEqual(said === "canceled", status === "canceled", answer.value.text)
}

/** Only nodes are killed, so the shared test server without fsync is enough. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 in each state of a failover",
  (it) => {
    it.effect(
      "a killed node begins no step twice or wrongly, a late receipt begins none, and a cancel wins or loses as its answer says",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const { answer, manners } = carrier()
          const smsc = yield* makeSmsc(answer)
          const env = { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url, SMPP_MAX_PER_SECOND: "100000" }
          const cluster = makeCluster({ smtpPort: sink.port, env })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            yield* smsc.until(({ bound }) => bound() === 1, longer.takeover)
            const { accountId: account, key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver()
            yield* listen(cluster.any(0), key, { url: receiver.url, events: ["message.*"] })
            const sendAll = (state: string) =>
              Effect.forEach(
                Array.from({ length: ofCase }, (_, index) => index),
                (index) =>
                  send(cluster.any(index), {
                    key,
                    manners,
                    state,
                    name: `${state.replaceAll(" ", "-")}-${round}-${index}`
                  }),
                { concurrency: 4 }
              )
            const submits = (number = "") => smsc.submits.filter(({ to }) => `+${to}` === number)

            const late = yield* sendAll("late")
            yield* smsc.until(() => late.every(({ to }) => submits(to[1]).length === 1), longer.takeover)
            const others = yield* Effect.forEach(["not begun", "handed over", "being handed over", "refused"], sendAll)
            const node = round % 2 === 0 ? (yield* cluster.ownerOf(hasBind)).node : cluster.any(round)
            const survivor = cluster.any(0) === node ? cluster.any(1) : cluster.any(0)
            const canceling = yield* Effect.forkChild(
              Effect.forEach(
                Array.from({ length: 2 * ofCase }, (_, index) => index),
                Effect.fnUntraced(function*(index) {
                  const name = `canceled-${round}-${index}`
                  const sent = yield* send(survivor, { key, manners, state: "canceled", name })
                  return [sent, yield* cancel(index % 2 === 0 ? node : survivor, key, sent.id)] as const
                }),
                { concurrency: 4 }
              )
            )
            const pause = yield* randomPause(0, round === 0 ? 200 : 3_000)
            yield* cluster.kill(node)
            const doubtful = new Set(
              (yield* sql`select recipient from email_messages where account_id = ${account} and status = 'sending'
                union all select m.recipient from sms_parts p join messages m on m.id = p.message_id
                where m.account_id = ${account} and p.status = 'sending'`).map((row) => String(row["recipient"]))
            )
            const canceled = new Map(yield* Fiber.join(canceling))
            yield* sql`update failovers set send_at = now(), due_at = now()
              where account_id = ${account} and status = 'scheduled'`
            yield* smsc.until(({ bound }) => bound() === 1, longer.takeover)
            for (const { to: [number = ""] } of late) {
              const id = smsc.submits.findIndex(({ to }) => `+${to}` === number)
              smsc.deliver({
                source_addr: number.slice(1),
                destination_addr: "1",
                data_coding: 0,
                ...receiptText(`${id}`)
              })
            }
            yield* eventually(
              sql`select id, status from failovers where account_id = ${account} and completed_at is null`,
              (rows) => rows.length === 0,
              longer.takeover
            )

            const mails = (yield* sink.messages).flatMap(({ to }) => to)
            const all = [...late, ...others.flat(), ...canceled.keys()]
            const ended = new Map<string, string>()
            for (const sent of all) {
              const { id, state, to } = sent
              const record = yield* cluster.any(0).request("GET", `/v1/messages/${id}`, { key })
              const steps = to.map((_, index) => String(record.at("data", "steps", index, "status")))
              const status = String(record.at("data", "status"))
              ended.set(id, status)
              const copies = to.map((recipient) =>
                recipient.includes("@") ? mails.filter((mail) => mail === recipient).length : submits(recipient).length
              )
              const about = `${state}: ${steps.join(", ")}; ${copies.join(", ")} copies`
              for (const [index, step] of steps.entries()) {
                const count = copies[index] ?? 0
                if (step === "waiting" || step === "canceled") assert.strictEqual(count, 0, about)
                else assert.isTrue(count === 1 || count === 2 && doubtful.has(to[index] ?? ""), about)
              }
              const result = canceled.get(sent)
              if (result === undefined) assert.deepStrictEqual(steps, cases[state]?.ends, about)
              else checkCanceled(result, { copies: copies[0] ?? 0, status, steps })
            }

            // One event for each end, and none for a cancellation.
            const bodies = yield* sql`select convert_from(body, 'UTF8')::jsonb as body from events
              where account_id = ${account} and name in ('message.delivered', 'message.sent', 'message.failed')`
            const told = bodies.map(({ body }) => String(Object(body).data.id)).filter((id) => ended.has(id))
            const expected = all.map(({ id }) => id).filter((id) => ended.get(id) !== "canceled")
            assert.deepStrictEqual(told.toSorted(), expected.toSorted())
            const withdrawn = all.filter(({ id }) => ended.get(id) === "canceled").length
            yield* Effect.log(
              `killed after ${pause} ms: ${all.length} ended, ${withdrawn} of ${canceled.size} withdrawn, ${doubtful.size} in doubt`
            )
            yield* cluster.start
          }
        }),
      120_000 + rounds * 90_000
    )
  }
)
