import { Effect } from "effect"
import { Database } from "../../../platform/database/Database.ts"
import { GroupCommit } from "../../../platform/work/GroupCommit.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { AccountId, MessageBatchId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { isMediaType } from "../content/MessageContent.ts"
import { SessionEntity } from "../sessions/SessionEntity.ts"
import { AcceptedRepo, type NewRow, type SessionOf } from "./AcceptedRepo.ts"
import { OutboxSenders } from "./OutboxSenders.ts"

/** At most so many requests share one statement. */
const grouping = { maxSize: 200, concurrency: 2 }

/** Wakes the sender of a session. A lost wake-up costs a second: the sender's node polls every second. */
const makeWake = Effect.gen(function*() {
  const senders = yield* OutboxSenders
  const actor = yield* SessionEntity.client
  const { outsideTransaction } = yield* Database
  return (id: WhatsAppSessionId, hasFiles: boolean) =>
    Effect.suspend(() =>
      senders.wake(id, hasFiles)
        ? Effect.void
        : outsideTransaction(actor(String(id)).Wake(undefined, { discard: true })).pipe(
          Effect.timeoutOption("5 seconds"),
          Effect.ignoreCause
        )
    )
})

/** Stores accepted messages. Concurrent requests share one statement and one commit, unless they are in a transaction. */
export const make = Effect.gen(function*() {
  const { afterCommit, inTransaction, transaction } = yield* Database
  const repo = yield* AcceptedRepo
  const usage = yield* Usage
  const wake = yield* makeWake

  const findSessions = (asked: ReadonlyArray<SessionOf>) =>
    Effect.map(repo.sessions(asked), (rows) => {
      const found = new Map(rows.map(({ position, ...row }) => [position, row]))
      return asked.map((_, position) => found.get(position))
    })
  const findTogether = yield* GroupCommit.make({ ...grouping, run: findSessions })

  /** Runs in the current transaction. Answers with the ids in the order of the rows. */
  const insert = Effect.fnUntraced(function*(rows: ReadonlyArray<NewRow>) {
    const ids = yield* repo.insert(rows)
    for (const [id, own] of Map.groupBy(rows, ({ sessionId }) => sessionId)) {
      yield* afterCommit(wake(id, own.some(({ type }) => isMediaType(type))))
    }
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    yield* usage.count([...byAccount].map(([accountId, { length }]) => ({
      accountId,
      metric: "whatsapp",
      count: length
    })))
    return ids.map(({ id }) => id)
  })
  const insertTogether = yield* GroupCommit.make({
    ...grouping,
    run: (rows: ReadonlyArray<NewRow>) => transaction(insert(rows))
  })

  const insertFile = Effect.fnUntraced(function*(account_id: AccountId, base64: string | undefined) {
    if (base64 === undefined) return null
    return (yield* repo.insertFile({ account_id, content: Buffer.from(base64, "base64") })).id
  })

  return {
    /** Undefined if the account has no such session. */
    session: Effect.fnUntraced(function*(asked: SessionOf) {
      return (yield* inTransaction) ? (yield* findSessions([asked]))[0] : yield* findTogether(asked)
    }),
    one: Effect.fnUntraced(function*(row: NewRow, file: string | undefined) {
      if (file === undefined && !(yield* inTransaction)) return yield* insertTogether(row)
      const ids = yield* transaction(
        Effect.flatMap(insertFile(row.accountId, file), (fileId) => insert([{ ...row, fileId }]))
      )
      return ids[0] ?? (yield* Effect.die("inserting one message returned no id"))
    }),
    batch: (
      { accountId, id }: { readonly id: MessageBatchId; readonly accountId: AccountId },
      rows: ReadonlyArray<NewRow>,
      file: string | undefined
    ) =>
      transaction(Effect.gen(function*() {
        const fileId = yield* insertFile(accountId, file)
        yield* repo.insertBatch({ id, account_id: accountId, total: rows.length })
        yield* insert(rows.map((row) => ({ ...row, fileId })))
      }))
  }
})
