/**
 * The limit of deliveries from one process: undici's dispatch in a loop, with as many in flight as the webhooks' actors
 * have, and without durability. `ready` sends the same bytes and headers every time. `signed` serialises and signs each
 * event, the least that a sender of signed webhooks must do.
 */
import { Redacted } from "effect"
import { sign, signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"
import { makePost, perOrigin } from "./dispatch.ts"
import { answerQuestions } from "./peer.ts"
import { inputOf } from "./script.ts"
import { dataOf } from "./webhookEvent.ts"

/** A request to the loop. */
export interface Loop {
  readonly kind: "ready" | "signed"
  readonly count: number
}

const { ports } = inputOf<{ readonly ports: ReadonlyArray<number> }>()
const origins = ports.map((port) => `http://127.0.0.1:${port}`)
const key = signingKey(Redacted.make("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
const post = makePost()

const signedRequest = (index: number) => {
  const id = `evt_${index.toString().padStart(26, "0")}`
  const now = Date.now()
  const timestamp = new Date(now).toISOString()
  const body = Buffer.from(JSON.stringify({ id, event: "email.sent", timestamp, data: dataOf(index) }))
  const attempt = { event: "email.sent", event_id: id, delivery_id: index, attempt: 1, body, key }
  return { body, headers: sign({ ...attempt, timestamp: Math.floor(now / 1000) }) }
}

const ready = signedRequest(0)

const run = async ({ count, kind }: Loop) => {
  let next = 0
  const lane = async (origin: string) => {
    while (next < count) {
      const index = next++
      await post(origin, kind === "ready" ? ready : signedRequest(index))
    }
  }
  const startedAt = performance.now()
  await Promise.all(origins.flatMap((origin) => Array.from({ length: perOrigin }, () => lane(origin))))
  return { perSecond: count / ((performance.now() - startedAt) / 1000) }
}

answerQuestions<Loop>({}, run)
