import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { afterCommit, inTransaction, transaction } from "../../platform/database/transaction.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { dollars } from "../../pricing/SmsPrice.ts"
import { Quotas } from "../../usage/Quotas.ts"
import { Usage } from "../../usage/Usage.ts"
import type { MessageId } from "../../values/Ids.ts"
import { SmsOutlet } from "./parts/SmsOutlet.ts"
import { makeSmsRepo, type SmsRequest, type StoredSms } from "./SmsRepo.ts"

/** What was written down of one request. */
export interface Acceptance {
  readonly ids: ReadonlyArray<MessageId>
  readonly segments: number
  readonly cost_usd: number
}

const sumOf = (messages: ReadonlyArray<StoredSms>, read: (message: StoredSms) => number) =>
  messages.reduce((sum, message) => sum + read(message), 0)

const costOf = ({ messages }: SmsRequest) => sumOf(messages, (message) => message.cost_micros)

const segmentsOf = ({ messages }: SmsRequest) => sumOf(messages, ({ segments }) => segments)

const accepted = (request: SmsRequest, ids: ReadonlyArray<MessageId>): Acceptance => ({
  ids,
  segments: segmentsOf(request),
  cost_usd: dollars(costOf(request))
})

const counted = (request: SmsRequest) => ({
  accountId: request.accountId,
  metric: "sms_segments" as const,
  count: segmentsOf(request),
  costMicros: costOf(request)
})

/** Short holds of an account's row are over by then; what holds it for longer is waited for alone. */
const patience = { times: 3, schedule: Schedule.spaced("10 millis") } as const

/**
 * Commits requests with their prices and parts and counts them, and only then says yes. Messages of their own that are
 * asked for at the same time share a transaction, whoever they are of: a commit and its statements cost as much for a
 * hundred as for one. Each fits into its quota or not for itself. Alone goes what has a transaction already, with which
 * it has to be committed, a batch, and what has to wait for its account, as others must not wait for that.
 */
export const makeAcceptance = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const outlet = yield* SmsOutlet
  const quotas = yield* Quotas
  const usage = yield* Usage
  const repo = yield* makeSmsRepo

  const committed = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    Effect.provideService(transaction(effect), SqlClient.SqlClient, sql)

  /** Gives the ids of all messages, in the order of the requests. */
  const put = Effect.fnUntraced(function*(requests: ReadonlyArray<SmsRequest>) {
    const rows = yield* Effect.orDie(repo.insert(requests))
    yield* usage.count(requests.map(counted))
    yield* afterCommit(outlet.wake)
    return rows.map(({ id }) => id)
  })

  const alone = (request: SmsRequest) =>
    committed(Effect.gen(function*() {
      const { accountId: account_id, batchId: id, messages } = request
      yield* quotas.reserve(account_id, "sms", messages.length)
      if (id !== null) yield* Effect.orDie(repo.insertBatch({ id, account_id, total: messages.length }))
      return accepted(request, yield* put([request]))
    }))

  const together = yield* GroupCommit.make({
    maxSize: 100,
    // Two would find the same accounts held by each other.
    concurrency: 1,
    run: (requests: ReadonlyArray<SmsRequest>) =>
      committed(Effect.gen(function*() {
        const wanted = requests.map(({ accountId, messages }) => ({ accountId, count: messages.length }))
        const refusals = yield* quotas.reserveEach("sms", wanted)
        const taken = requests.filter((_, index) => refusals[index] === undefined)
        const ids = taken.length === 0 ? [] : [...yield* put(taken)]
        return requests.map((request, index) =>
          refusals[index] ?? accepted(request, ids.splice(0, request.messages.length))
        )
      }))
  })

  return Effect.fnUntraced(function*(request: SmsRequest) {
    if (request.batchId !== null || (yield* inTransaction)) return yield* alone(request)
    const answer = yield* Effect.repeat(together(request), { ...patience, until: (given) => given !== "busy" })
    if (answer === "busy") return yield* alone(request)
    return "ids" in answer ? answer : yield* answer
  })
})
