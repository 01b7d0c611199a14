/** Sessions of a service: paired with simulated phones, and the texts that one of them sends. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { remoteControls } from "../../../src/sandbox/whatsapp/control/ControlClient.ts"
import { readQr } from "../../../test/support/readQr.ts"
import { startPeer } from "./peer.ts"
import type { WhatsAppCount, WhatsAppOrder, WhatsAppServer } from "./whatsAppServer.ts"

/** Texts of a run. */
export const texts = 2_000
const connections = 16

/** Those who get the texts. */
export const people = Array.from({ length: 10 }, (_, index) => String(15_559_000_000 + index))

/** Settings that let texts leave at once. */
export const unpaced = { WHATSAPP_PER_MINUTE: "0", WHATSAPP_PER_DAY: "0", WHATSAPP_PAUSE_MAX_MS: "0" }

/** The simulated WhatsApp. */
export const startWhatsApp = startPeer<WhatsAppServer, WhatsAppOrder, WhatsAppCount>("whatsAppServer.ts", null)

interface Service {
  readonly port: number
  readonly key: string
  readonly controls: ReturnType<typeof remoteControls>
}

/** Pairs sessions of an account, and sends texts with the first one. */
export const sessionsOf = Effect.fnUntraced(function*({ controls, key, port }: Service) {
  const sql = yield* SqlClient.SqlClient
  const post = (path: string, json: unknown) =>
    Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/v1/whatsapp/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(json)
      }).then((answer) => answer.ok ? answer.json() : answer.text().then((text) => Promise.reject(new Error(text))))
    )
  let number = 15_552_000_000
  let first = 0

  const pair = Effect.gen(function*() {
    // The contract returns these fields.
    const session = (yield* post("sessions", {})) as { readonly id: number; readonly qr_code: string }
    if (first === 0) first = session.id
    const phone = yield* Effect.promise(() => controls.createPhone(String(++number), "Ours"))
    yield* Effect.promise(() => controls.scan(readQr(session.qr_code), phone.number))
    yield* Effect.repeat(Effect.orDie(sql`select status from whatsapp_sessions where id = ${session.id}`), {
      until: ([row]) => row?.["status"] === "connected",
      schedule: Schedule.spaced("20 millis")
    })
  })

  return {
    pair: (count: number) => Effect.replicateEffect(pair, count, { discard: true }),
    /** Texts per second, from the first request to the last acknowledgement. */
    send: Effect.gen(function*() {
      const startedAt = performance.now()
      yield* Effect.forEach(
        Array.from({ length: texts }, (_, index) => index),
        (index) => post("send", { session_id: first, to: people[index % people.length], content: `Hello ${index}` }),
        { concurrency: connections, discard: true }
      )
      const left = sql`select from whatsapp_outbox where status in ('queued', 'written') limit 1`
      yield* Effect.repeat(Effect.orDie(left), {
        until: (rows) => rows.length === 0,
        schedule: Schedule.spaced("20 millis")
      })
      return texts / ((performance.now() - startedAt) / 1000)
    })
  }
})
