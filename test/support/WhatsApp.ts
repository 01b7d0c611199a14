import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { WhatsAppSimulator } from "../../src/sandbox/whatsapp/WhatsAppSimulator.ts"
import { readQr } from "./readQr.ts"
import { type Answer, eventually, makeAccount, type NodeOptions, type RunningNode, Service } from "./Service.ts"
import { makeSimulator } from "./simulatedSession.ts"
import { longer } from "./waiting.ts"
import { makeWebhookReceiver } from "./WebhookReceiver.ts"
import { create } from "./webhookStories.ts"

/** The simulated WhatsApp of a test file, in the test's process. */
export class WhatsApp extends Context.Service<WhatsApp, {
  readonly simulator: WhatsAppSimulator
  /** Environment that connects further nodes to it. */
  readonly env: Readonly<Record<string, string>>
  /** The number of a new phone. */
  readonly phone: Effect.Effect<string>
}>()("messaging-service/test/support/WhatsApp") {
  /** One node connected to it, with everything that `Service` provides. */
  static readonly layer = ({ env = {} }: NodeOptions = {}) =>
    Layer.unwrap(Effect.map(WhatsApp, (whatsapp) => Service.layer({ env: { ...whatsapp.env, ...env } }))).pipe(
      Layer.provideMerge(WhatsApp.simulated)
    )

  static readonly simulated = Layer.effect(
    WhatsApp,
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      let last = 15_550_100_000
      return WhatsApp.of({
        simulator,
        env: { WHATSAPP_URL: simulator.url, LOG_LEVEL: "debug" },
        phone: Effect.sync(() => simulator.controls.createPhone(String(++last), "Person").number)
      })
    })
  )
}

/** Creates a session and returns the answer with its id and QR code. While a starved node answers 503, it asks again. */
export const createSession = Effect.fnUntraced(function*(node: RunningNode, key: string, name?: string) {
  const json = name === undefined ? {} : { name }
  const asked = node.request("POST", "/v1/whatsapp/sessions", { key, json })
  const answer = yield* eventually(asked, ({ status }) => status !== 503, longer.start)
  assert.strictEqual(answer.status, 201, answer.text)
  return { answer, id: Number(answer.at("id")), qr: readQr(String(answer.at("qr_code"))) }
})

/** The session as the API shows it. */
export const sessionOf = (node: RunningNode, key: string, id: number) =>
  node.request("GET", `/v1/whatsapp/sessions/${id}`, { key })

/** Waits until the session has this status. */
export const untilStatus = (
  node: RunningNode,
  key: string,
  id: number,
  status: string,
  within: `${number} seconds` = longer.turn
): Effect.Effect<Answer> => eventually(sessionOf(node, key, id), ({ at }) => at("status") === status, within)

/**
 * Waits until a session is connected after a scan. A code dies with its connection, for example when a starved node loses
 * its shards for a moment. Like a person, the phone then scans the code shown next.
 */
export const untilConnected = Effect.fnUntraced(function*<E, R>(
  node: RunningNode,
  key: string,
  id: number,
  scanAgain: (qr: string) => Effect.Effect<unknown, E, R>
) {
  const scanned = yield* Effect.exit(untilStatus(node, key, id, "connected", "20 seconds"))
  if (Exit.isSuccess(scanned)) return scanned.value
  const shown = yield* node.request("GET", `/v1/whatsapp/sessions/${id}/qr`, { key })
  // The session may have connected meanwhile.
  if (shown.status === 200) yield* scanAgain(readQr(String(shown.at("qr_code"))))
  return yield* untilStatus(node, key, id, "connected")
})

/** Creates a session, scans its code with a new phone and waits until it is connected. */
export const pairedSession = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const { phone, simulator } = yield* WhatsApp
  const { id, qr } = yield* createSession(node, key)
  const number = yield* phone
  let device = simulator.controls.scan(qr, number)
  yield* untilConnected(node, key, id, (next) =>
    Effect.sync(() => {
      device = simulator.controls.scan(next, number)
    }))
  return { id, number, device }
})

/** An account with a webhook for session events, and the events received in order. */
export const listeningAccount = Effect.fnUntraced(function*(node: RunningNode) {
  const account = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver({ script: [200] })
  yield* create(node, account.key, { url: `${receiver.url}/hook`, events: ["session.*"] })
  const parse = (body: Buffer) =>
    JSON.parse(body.toString("utf8")) as {
      readonly event: string
      readonly timestamp: string
      readonly data: Readonly<Record<string, unknown>>
    }
  /** Deliveries may overtake each other. */
  const events = (id: number) =>
    receiver.requests.map(({ body }) => parse(body)).filter(({ data }) => data["session_id"] === id)
      .toSorted((one, other) => one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0)
  return {
    ...account,
    events,
    /** A session's events, once there are `n`. */
    published: (id: number, n: number) => eventually(Effect.sync(() => events(id)), (all) => all.length >= n)
  }
})

/** Numbers of stored credentials and rows of a session, with its epoch. */
export const storedOf = Effect.fnUntraced(function*(id: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql`select
    (select count(*) from whatsapp_keys where session_id = ${id}) as keys,
    (select count(*) from whatsapp_sessions where id = ${id}) as rows,
    (select epoch from whatsapp_sessions where id = ${id}) as epoch`)
  return { keys: Number(row?.["keys"]), rows: Number(row?.["rows"]), epoch: Number(row?.["epoch"] ?? 0) }
})
