import { Clock, Duration, Effect } from "effect"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { type SearchedTable, searchedTables, SearchRepo } from "./SearchRepo.ts"

/** Records that one statement adds. */
const portionSize = 500

/** The task works at most this share of the time, so that it leaves the database to those who send. */
const share = 0.1

/** Adds the next records. Answers whether more wait. Copies of an email are found by its record. */
const addPortion = Effect.fnUntraced(function*(table: SearchedTable) {
  const repo = yield* SearchRepo
  const after = yield* repo.progress(table)
  const read = yield* repo.documents(table, { after, limit: portionSize, accountId: null })
  // A row with a lower id may be committed later, so the recent ones wait.
  const firstRecent = read.findIndex(({ isRecent }) => isRecent)
  const settled = firstRecent === -1 ? read : read.slice(0, firstRecent)
  const last = settled.at(-1)
  if (last === undefined) return false
  yield* repo.store(table, settled.filter(({ isCopy }) => !isCopy), { after, last: last.id })
  return settled.length === portionSize
})

/** Adds all records that wait, with pauses. */
const addWaiting = Effect.fnUntraced(function*(table: SearchedTable) {
  let waits = true
  while (waits) {
    const began = yield* Clock.currentTimeMillis
    waits = yield* addPortion(table)
    const took = (yield* Clock.currentTimeMillis) - began
    if (waits) yield* Effect.sleep(Duration.millis(took * (1 / share - 1)))
  }
})

/** Adds new records to the index of the search, on one node of the cluster. */
export const SearchIndexing = PeriodicTask.make(
  "SearchIndexing",
  "1 second",
  Effect.forEach(searchedTables, addWaiting, { discard: true })
)
