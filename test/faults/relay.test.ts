/** One fault of the relay for each of some recipients, once, in one batch with many who have none. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const others = Array.from({ length: 60 }, (_, index) => `fine${index}@people.example`)

/** `once`: the first attempt alone. A refusal for good is given at each attempt, so that a second one would be seen. */
const atRcpt: Readonly<Record<string, { readonly answer: ScriptedSmtp.ScriptedAnswer; readonly once: boolean }>> = {
  "silence-after-mail": { answer: "silence", once: true },
  "code421": { answer: "421 4.3.2 shutting down", once: true },
  "code451": { answer: "451 4.7.1 later", once: true },
  "code550": { answer: "550 5.1.1 no such user", once: false },
  "slow-bytes": { answer: { slowly: "250 2.1.5 ok", millis: 1_000 }, once: true }
}
const afterDot: Readonly<Record<string, { readonly answer: ScriptedSmtp.ScriptedAnswer; readonly once: boolean }>> = {
  "code552": { answer: "552 5.2.2 mailbox full", once: false },
  "later-after-dot": { answer: "450 4.2.0 later", once: true },
  "drop-after-dot": { answer: "close", once: true }
}
const words = ["drop-in-data", ...Object.keys(atRcpt), ...Object.keys(afterDot)]

const wordIn = (text: string) => /(?:^To: |RCPT TO:<)([a-z0-9-]+)@/m.exec(text)?.[1] ?? ""

const makeRelay = () => {
  const seen = new Map<string, number>()
  const first = (what: string) => {
    const before = seen.get(what) ?? 0
    seen.set(what, before + 1)
    return before === 0
  }
  const faultOf = (faults: typeof atRcpt, word: string) => {
    const fault = faults[word]
    return fault !== undefined && (first(word) || !fault.once) ? fault.answer : undefined
  }
  const server = ScriptedSmtp.make({
    extensions: [],
    greeting: (connection) => connection === 1 ? "silence" : "220 relay.example",
    command: (line) => line.startsWith("RCPT") ? faultOf(atRcpt, wordIn(line)) : undefined,
    body: (text) => wordIn(text) === "drop-in-data" && first("drop-in-data") ? "close" : undefined,
    message: (_, text) => faultOf(afterDot, wordIn(text))
  })
  return { server, attempts: seen }
}

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "4 minutes" })(
  "a relay that stalls, refuses, drops and dribbles",
  (it) => {
    it.effect("costs its recipients a retry or a bounce, and the others nothing", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { attempts, server } = makeRelay()
        const relay = yield* server
        const node = yield* startNode({
          smtpPort: relay.port,
          env: { SMTP_CONNECTIONS: "6", SMTP_TIMEOUT_SECONDS: "8" }
        })
        const { key } = yield* makeAccount()
        const recipients = [...words.map((word) => `${word}@people.example`), ...others]
        const batch = yield* sendBulk(node, key, { subject: "s", html: "<p>h</p>", recipients })
        const bodies = (word: string) => relay.bodies.filter((text) => wordIn(text) === word).length
        const least = { open: 0 }
        // The others do not wait for the one that is met with silence.
        yield* relay.until(() => {
          least.open = Math.max(least.open, relay.connections.open)
          return others.every((to) => bodies(to.slice(0, to.indexOf("@"))) === 1)
        })
        assert.isAtMost(least.open, 6)
        const rows = sql`select recipient, status, error, attempt_count,
            extract(epoch from due_at - now())::float8 as wait from email_messages where batch_id = ${batch}
              and status in ('queued', 'sending')`
        const waiting = yield* eventually(
          rows,
          (found) => found.filter((row) => row["error"] !== null).length >= 4 && found.length <= 5
        )
        for (
          const row of waiting.filter(({ status }) => status === "queued")
        ) {
          const wait = Number(row["wait"])
          assert.isTrue(row["error"] === null || (wait > 0 && wait <= 30), JSON.stringify(row))
        }
        // Nobody waits for the schedule here: the rows say when they are due.
        yield* Effect.forkChild(
          Effect.forever(Effect.delay(
            sql`update email_messages set due_at = now() where batch_id = ${batch} and status = 'queued'`,
            "2 seconds"
          ))
        )
        const done = yield* ended(node, key, batch)
        const failed = ["code550", "code552"]
        assert.deepInclude(done.at("data"), { sent: recipients.length - failed.length, failed: failed.length })
        assert.strictEqual(attempts.get("code550"), 1)
        assert.strictEqual(attempts.get("code552"), 1)
        const copies = Object.fromEntries(words.map((word) => [word, bodies(word)]))
        assert.deepStrictEqual(copies, {
          "drop-in-data": 1,
          "silence-after-mail": 1,
          code421: 1,
          code451: 1,
          code550: 0,
          "slow-bytes": 1,
          code552: 1,
          "later-after-dot": 2,
          "drop-after-dot": 2
        })
        assert.isTrue(others.every((to) => bodies(to.slice(0, to.indexOf("@"))) === 1))
        const twice = relay.bodies.filter((text) => wordIn(text) === "drop-after-dot")
        assert.strictEqual(new Set(twice).size, 1)
      }), 180_000)
  }
)
