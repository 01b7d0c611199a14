import { Schema } from "effect"
import { AccountId, EmailBatchId } from "../../../values/Ids.ts"

/** A batch that has work and no worker. A small one has due recipients. */
export const WaitingBatch = Schema.Struct({
  id: EmailBatchId,
  account_id: AccountId,
  total: Schema.Int,
  is_small: Schema.Boolean
})
export type WaitingBatch = typeof WaitingBatch.Type

/** A batch that is being sent. */
export interface ActiveBatch {
  readonly id: EmailBatchId
  readonly account: AccountId
  readonly since: number
}

interface State {
  readonly active: ReadonlyArray<ActiveBatch>
  /** The oldest of each account first. */
  readonly waiting: ReadonlyArray<Pick<WaitingBatch, "id" | "account_id">>
  /** When a batch of the account began last. */
  readonly servedAt: ReadonlyMap<AccountId, number>
  readonly room: number
  readonly now: number
}

interface Turns {
  readonly wake: ReadonlyArray<EmailBatchId>
  readonly stop: EmailBatchId | undefined
}

/** Milliseconds that a batch may keep its place from an account that has none: less if its own account has several. */
const longestTurn = { ofOne: 10_000, ofSeveral: 2_000 }

/** The batch whose place an account without one gets: of the account that has most, the one that is active for longest. */
const batchToStop = (active: ReadonlyArray<ActiveBatch>, now: number) => {
  const accounts = [...Map.groupBy(active, ({ account }) => account).values()]
  const most = Math.max(0, ...accounts.map(({ length }) => length))
  const candidates = accounts.filter(({ length }) => length === most).flat()
  const first = candidates.toSorted((a, b) => a.since - b.since)[0]
  const limit = most > 1 ? longestTurn.ofSeveral : longestTurn.ofOne
  return first !== undefined && now - first.since >= limit ? first.id : undefined
}

/**
 * Which batches begin, and which one stops, so that accounts take turns at a node's places. Those with the fewest batches
 * go first, and of these the ones that have waited for longest.
 */
export const batchTurns = ({ active, now, room, servedAt, waiting }: State): Turns => {
  const counts = new Map<AccountId, number>()
  const count = (account: AccountId) => {
    const before = counts.get(account) ?? 0
    counts.set(account, before + 1)
    return before
  }
  for (const { account } of active) count(account)
  const ranked = waiting.map((batch) => ({ ...batch, rank: count(batch.account_id) }))
  const inTurn = ranked.toSorted((a, b) =>
    a.rank - b.rank || (servedAt.get(a.account_id) ?? 0) - (servedAt.get(b.account_id) ?? 0)
  )
  return {
    wake: inTurn.slice(0, room).map(({ id }) => id),
    stop: inTurn[room]?.rank === 0 ? batchToStop(active, now) : undefined
  }
}
