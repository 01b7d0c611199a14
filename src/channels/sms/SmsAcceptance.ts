import { Effect, Schedule } from "effect"
import { domainEvent, Events } from "../../events/Events.ts"
import { Database } from "../../platform/database/Database.ts"
import { MessageMetrics } from "../../platform/observability/MessageMetrics.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { dollars } from "../../pricing/SmsPrice.ts"
import { Quotas } from "../../usage/Quotas.ts"
import { Usage } from "../../usage/Usage.ts"
import type { MessageId } from "../../values/Ids.ts"
import { isTest } from "../../values/TestMode.ts"
import { smsData } from "./parts/smsData.ts"
import { SmsOutlet } from "./parts/SmsOutlet.ts"
import { SmsRepo, type SmsRequest, type StoredSms } from "./SmsRepo.ts"

/** The stored messages of one request. */
export interface Acceptance {
  readonly ids: ReadonlyArray<MessageId>
  readonly segments: number
  readonly cost_usd: number
}

const sumOf = (messages: ReadonlyArray<StoredSms>, read: (message: StoredSms) => number) =>
  messages.reduce((sum, message) => sum + read(message), 0)

const costOf = ({ messages }: SmsRequest) => sumOf(messages, (message) => message.cost_micros)

const segmentsOf = ({ messages }: SmsRequest) => sumOf(messages, ({ segments }) => segments)

const acceptanceOf = (request: SmsRequest, ids: ReadonlyArray<MessageId>): Acceptance => ({
  ids,
  segments: segmentsOf(request),
  cost_usd: dollars(costOf(request))
})

const queuedEvent = (
  id: MessageId,
  { accountId, sending, to, ...message }: Omit<SmsRequest, "messages"> & StoredSms
) =>
  domainEvent({
    accountId,
    event: "message.queued",
    channel: "sms",
    data: { ...smsData({ ...message, ...sending, id }), to, type: "text", status: "queued" }
  })

const counted = (request: SmsRequest) => ({
  accountId: request.accountId,
  metric: "sms_segments" as const,
  count: segmentsOf(request),
  costMicros: costOf(request)
})

/** Short locks of an account's row end within this time. A request that still finds it locked waits for it alone. */
const lockRetries = { times: 3, schedule: Schedule.spaced("10 millis") } as const

/**
 * Commits messages with their prices and parts, counts them against the quota, and only then accepts them. Concurrent
 * single messages of all accounts share a transaction, because a commit costs as much for a hundred as for one. The quota
 * decides about each request. Three kinds go alone: a batch, a request within the caller's transaction, and a request whose
 * account is locked, so that no other one waits for that lock.
 */
export const make = Effect.gen(function*() {
  const { afterCommit, inTransaction, transaction } = yield* Database
  const events = yield* Events
  const outlet = yield* SmsOutlet
  const quotas = yield* Quotas
  const usage = yield* Usage
  const repo = yield* SmsRepo

  /** Stores the messages; returns their ids in the order of the requests. */
  const store = Effect.fnUntraced(function*(requests: ReadonlyArray<SmsRequest>) {
    const rows = yield* repo.insert(requests)
    const liveCount = requests.reduce(
      (sum, { accountId, messages }) => isTest(accountId) ? sum : sum + messages.length,
      0
    )
    const messages = requests.flatMap((request) => request.messages.map((message) => ({ ...request, ...message })))
    yield* events.publish(messages.flatMap((message, index) => {
      const row = rows[index]
      return row?.is_wanted === true ? [queuedEvent(row.id, message)] : []
    }))
    yield* usage.count(requests.map(counted))
    yield* afterCommit(
      Effect.andThen(Effect.sync(() => MessageMetrics.accepted("sms", liveCount)), outlet.wake)
    )
    return rows.map(({ id }) => id)
  })

  const alone = (request: SmsRequest) =>
    transaction(Effect.gen(function*() {
      const { accountId, batchId, messages } = request
      yield* quotas.reserve(accountId, "sms", messages.length)
      if (batchId !== null) yield* repo.insertBatch(batchId, request)
      return acceptanceOf(request, yield* store([request]))
    }))

  const together = yield* GroupCommit.make({
    maxSize: 100,
    // Two concurrent transactions would lock the same accounts.
    concurrency: 1,
    run: (requests: ReadonlyArray<SmsRequest>) =>
      transaction(Effect.gen(function*() {
        const wanted = requests.map(({ accountId, messages }) => ({ accountId, count: messages.length }))
        const refusals = yield* quotas.reserveEach("sms", wanted)
        const accepted = requests.filter((_, index) => refusals[index] === undefined)
        const ids = accepted.length === 0 ? [] : [...yield* store(accepted)]
        return requests.map((request, index) =>
          refusals[index] ?? acceptanceOf(request, ids.splice(0, request.messages.length))
        )
      }))
  })

  return Effect.fnUntraced(function*(request: SmsRequest) {
    if (request.batchId !== null || (yield* inTransaction)) return yield* alone(request)
    const answer = yield* Effect.repeat(together(request), { ...lockRetries, until: (given) => given !== "busy" })
    if (answer === "busy") return yield* alone(request)
    return "ids" in answer ? answer : yield* answer
  })
})
