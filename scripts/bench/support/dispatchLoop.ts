/**
 * What bounds deliveries from one process: undici's dispatch in a loop, with the bodies and headers of real deliveries
 * made once, as many in flight as the webhooks' actors have, and nothing kept.
 */
import { Redacted } from "effect"
import { Agent } from "undici"
import { sign, signingKey } from "../../../src/webhooks/sign.ts"
import { inputOf } from "./script.ts"
import { dataOf } from "./webhookEvent.ts"

const perOrigin = 8

const { events: count, ports, rounds, warmUp } = inputOf<{
  readonly ports: ReadonlyArray<number>
  readonly warmUp: number
  readonly events: number
  readonly rounds: number
}>()

const eventId = "evt_01J8ZQ5V3KXW2T4N6M8P0R2S4T"
const body = Buffer.from(
  JSON.stringify({ id: eventId, event: "email.sent", timestamp: "2026-01-31T08:05:09.000Z", data: dataOf(0) })
)
const headers = sign({
  event: "email.sent",
  event_id: eventId,
  delivery_id: 1,
  attempt: 1,
  timestamp: 1_700_000_000,
  body,
  key: signingKey(Redacted.make("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
})

const agent = new Agent({ connections: perOrigin, pipelining: 1 })

const post = (origin: string) =>
  new Promise<void>((resolve, reject) => {
    agent.dispatch({ origin, path: "/hook", method: "POST", headers, body }, {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => {},
      onResponseEnd: () => resolve(),
      onResponseError: (_, error) => reject(error)
    })
  })

const run = async (total: number) => {
  let left = total
  const lane = async (port: number) => {
    while (left-- > 0) await post(`http://127.0.0.1:${port}`)
  }
  await Promise.all(ports.flatMap((port) => Array.from({ length: perOrigin }, () => lane(port))))
}

await run(warmUp)
const perSecond: Array<number> = []
for (let round = 0; round < rounds; round++) {
  const startedAt = performance.now()
  await run(count)
  perSecond.push(count / ((performance.now() - startedAt) / 1000))
}
console.log(JSON.stringify({ perSecond }))
await agent.close()
