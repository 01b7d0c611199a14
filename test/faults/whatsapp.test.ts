import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { eventually, makeAccount, type RequestOptions, type RunningNode, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { unpaced } from "../support/whatsAppMessages.ts"
import { hasSession, makeCluster, now, randomPause } from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"
import { checkPhones, makePeople, people, settled, textsOf } from "./whatsAppPeople.ts"

const layerOptions = { excludeTestServices: true, timeout: "10 minutes" } as const

/** Seconds until another node has the session's connection after its node died. */
const longestTakeover = 15

/** Asks nodes until one accepts the message; the idempotency key makes it one message whichever node accepted it. */
const sendUntilAccepted = (any: (index: number) => RunningNode, index: number, options: RequestOptions) =>
  eventually(
    Effect.exit(Effect.suspend(() => any(index).request("POST", "/v1/whatsapp/send", options))),
    (answer) => Exit.isSuccess(answer) && answer.value.status === 202,
    longer.takeover
  )

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), layerOptions)(
  "kill -9 of a node with a WhatsApp session",
  (it) => {
    it.effect(
      "a kill during 100 WhatsApp messages loses none, and repeats keep their ids",
      () =>
        Effect.gen(function*() {
          const { env } = yield* WhatsApp
          const cluster = makeCluster({ env: { ...env, ...unpaced } })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          const session = yield* pairedSession(cluster.any(0), key)
          const phones = yield* makePeople
          for (let round = 0; round < rounds; round++) {
            const texts = textsOf(100, `kill${round}`)
            const sending = yield* Effect.forkChild(Effect.forEach(texts, (content, index) => {
              const json = { session_id: session.id, to: phones[index % people], content }
              return sendUntilAccepted(cluster.any, index, { key, json, headers: { "idempotency-key": content } })
            }, { concurrency: 4 }))
            const pause = yield* randomPause(100, 800)
            const owner = yield* cluster.ownerOf(hasSession(session.id))
            const killedAt = yield* cluster.kill(owner.node)
            const sql = yield* SqlClient.SqlClient
            const [left] = yield* sql`select count(*) filter (where status = 'queued') as queued,
          count(*) filter (where status = 'written') as written from whatsapp_outbox`
            const { at } = yield* cluster.ownerOf(hasSession(session.id))
            const takeover = (at - killedAt) / 1000
            yield* Fiber.join(sending)
            yield* settled(cluster.any(0), key)
            const twice = yield* checkPhones(phones, { from: session.number, texts })
            yield* Effect.log(
              `killed after ${pause} ms with ${String(left?.["queued"])} queued and ${
                String(left?.["written"])
              } written: `
                + `taken over in ${takeover.toFixed(1)} s, ${twice} twice under their name`
            )
            assert.isBelow(takeover, inTime(longestTakeover))
            const failed = yield* cluster.any(0).request("GET", "/v1/whatsapp/messages?status=failed", { key })
            assert.strictEqual(failed.at("meta", "total"), 0)
            yield* cluster.start
          }
        }),
      120_000 + rounds * 60_000
    )
  }
)

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), layerOptions)("WhatsApp connection that dies", (it) => {
  it.effect(
    "a connection that dies between write and acknowledgement loses none of 100 messages, and repeats keep their ids",
    () =>
      Effect.gen(function*() {
        const { env, simulator: { controls } } = yield* WhatsApp
        // However many connections die in a row, the next one follows within a second.
        const shortRetries = { WHATSAPP_RETRIES: "1000", WHATSAPP_RETRY_LONGEST_SECONDS: "1" }
        const node = yield* startNode({ env: { ...env, ...unpaced, ...shortRetries } })
        const { key } = yield* makeAccount()
        const session = yield* pairedSession(node, key)
        const phones = yield* makePeople
        const dying = [
          // With the stanza it received, with the acknowledgement of one it delivered, or at any time.
          () => controls.setFault(session.number, { kind: "drop-before-ack" }),
          () => controls.setFault(session.number, { kind: "drop-after-ack" }),
          () => controls.dropConnection(session.device)
        ]
        const logins = Effect.sync(() =>
          controls.sessions().find(({ number }) => number === session.number)?.logins ?? 0
        )
        for (let round = 0; round < rounds; round++) {
          const texts = textsOf(100, `dead${round}`)
          const recipients = texts.map((text, index) => ({ to: phones[index % people], variables: { text } }))
          const json = { session_id: session.id, recipients, content: "{{text}}" }
          assert.strictEqual((yield* node.request("POST", "/v1/whatsapp/send-bulk", { key, json })).status, 202)
          const before = yield* logins
          for (const [index, die] of dying.entries()) {
            yield* randomPause(10, 200)
            die()
            yield* eventually(logins, (count) => count > before + index, longer.takeover)
          }
          yield* settled(node, key)
          const twice = yield* checkPhones(phones, { from: session.number, texts })
          yield* Effect.log(`three connections died: ${twice} of 100 twice under their name`)
          const failed = yield* node.request("GET", "/v1/whatsapp/messages?status=failed", { key })
          assert.strictEqual(failed.at("meta", "total"), 0)
          controls.clearFaults(session.number)
        }
      }),
    120_000 + rounds * 30_000
  )
})

/** One database role for each node; a trigger records which role wrote credentials in which epoch. */
const watchedRoles = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { url } = yield* TestDatabase
  const name = `node_${NodeCrypto.randomBytes(4).toString("hex")}`
  const roles = [`${name}_a`, `${name}_b`]
  for (const role of roles) yield* sql.unsafe(`create role ${role} superuser login`)
  yield* sql`create table key_writes (id bigint generated always as identity, who text, epoch bigint)`
  yield* sql.unsafe(`create function note_key_write() returns trigger language plpgsql as $$
    begin
      insert into key_writes (who, epoch)
        select session_user, epoch from whatsapp_sessions where id = coalesce(new.session_id, old.session_id);
      return null;
    end $$`)
  return {
    envs: roles.map((role) => {
      const own = new URL(url)
      own.username = role
      return { DATABASE_URL: own.href }
    }),
    /** To be run once the nodes have created the table. */
    watch: sql.unsafe(
      `create trigger key_write after insert or update or delete on whatsapp_keys for each row execute function note_key_write()`
    ),
    writers: Effect.map(
      sql`select epoch, count(distinct who) as who, count(*) as writes from key_writes group by epoch order by epoch`,
      (rows) => rows.map((row) => ({ who: Number(row["who"]), writes: Number(row["writes"]) }))
    )
  }
})

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), layerOptions)(
  "frozen node with a WhatsApp session",
  (it) => {
    it.effect(
      "a node that thaws during 100 WhatsApp messages writes no credentials, none is lost, and repeats keep their ids",
      () =>
        Effect.gen(function*() {
          const { env, phone, simulator: { controls } } = yield* WhatsApp
          const { envs, watch, writers } = yield* watchedRoles
          const cluster = makeCluster({ env: { ...env, ...unpaced } }, envs)
          yield* cluster.start
          yield* cluster.start
          yield* watch
          const { key } = yield* makeAccount()
          const session = yield* pairedSession(cluster.any(0), key)
          const phones = yield* makePeople
          const writer = yield* phone
          for (let round = 0; round < rounds; round++) {
            const { node: frozen } = yield* cluster.ownerOf(hasSession(session.id))
            const survivor = cluster.any(0) === frozen ? cluster.any(1) : cluster.any(0)
            const texts = textsOf(100, `frozen${round}`)
            const recipients = texts.map((text, index) => ({ to: phones[index % people], variables: { text } }))
            const json = { session_id: session.id, recipients, content: "{{text}}" }
            const sent = yield* eventually(
              survivor.request("POST", "/v1/whatsapp/send-bulk", { key, json }),
              ({ status }) => status !== 409,
              longer.takeover
            )
            assert.strictEqual(sent.status, 202, sent.text)
            const pause = yield* randomPause(50, 600)
            const frozenAt = yield* now
            yield* frozen.signal("SIGSTOP")
            const { at } = yield* cluster.ownerOf(hasSession(session.id), frozenAt)
            // Inbound messages belong to the next owner's connection, and so do their ratchet steps.
            yield* Effect.promise(() => controls.sendText(writer, session.number, { text: `in${round}` }))
            yield* randomPause(0, 500)
            yield* frozen.signal("SIGCONT")
            yield* settled(survivor, key)
            const twice = yield* checkPhones(phones, { from: session.number, texts })
            const epochs = yield* writers
            yield* Effect.log(
              `frozen after ${pause} ms, taken over in ${
                ((at - frozenAt) / 1000).toFixed(1)
              } s, ${twice} twice under their `
                + `name, ${epochs.length} epochs with ${epochs.reduce((sum, { writes }) => sum + writes, 0)} writes`
            )
            assert.deepStrictEqual(epochs.filter(({ who }) => who !== 1), [], "two nodes have written in one epoch")
            const failed = yield* survivor.request("GET", "/v1/whatsapp/messages?status=failed", { key })
            assert.strictEqual(failed.at("meta", "total"), 0)
          }
        }),
      120_000 + rounds * 60_000
    )
  }
)

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), layerOptions)("node that has just joined", (it) => {
  it.effect(
    "a joining node takes sessions over, and requests that wait for a code still succeed",
    () =>
      Effect.gen(function*() {
        const { env } = yield* WhatsApp
        const cluster = makeCluster({ env })
        yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
        const { key } = yield* makeAccount()
        for (let round = 0; round < rounds; round++) {
          const making = (index: number) =>
            eventually(
              cluster.any(index).request("POST", "/v1/whatsapp/sessions", { key, json: {} }),
              ({ status }) => status !== 503,
              longer.start
            )
          const answers = yield* Effect.forEach(Array.from({ length: 6 }, (_, index) => index), making, {
            concurrency: 6
          })
          assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 201, 201, 201, 201])
          yield* cluster.stop(cluster.any(0))
          yield* cluster.start
        }
      }),
    120_000 + rounds * 60_000
  )
})
