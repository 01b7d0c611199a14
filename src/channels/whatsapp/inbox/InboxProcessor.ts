import { Clock, Duration, Effect, Option, Queue, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import { makeContactsRepo } from "../directory/ContactsRepo.ts"
import { mergePeople } from "../directory/mergePeople.ts"
import type { DirectorySocket } from "../socket/DirectorySocket.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import { authorsOf, type InboxItem } from "./InboundEvents.ts"
import { Inbox } from "./Inbox.ts"
import { inboxItem } from "./inboxItem.ts"
import { inboxPlace, openPayload } from "./inboxPayload.ts"
import { makeInboxRepo, type PendingRow } from "./InboxRepo.ts"
import { isDefect, makeInboxTurns } from "./InboxTurns.ts"
import { makeNumberLookup } from "./NumberLookup.ts"

/** How long a message waits for the number of its sender. */
const patience = Duration.toMillis("2 seconds")

const most = 100

interface Options {
  readonly owned: Owned
  readonly dataKey: Uint8Array
  /** The connection, while there is one. */
  readonly socket: () => DirectorySocket | undefined
}

/**
 * Works off the inbox of a session, in its order: what is in it when this begins, which a former owner has left, and what
 * comes after. Messages of somebody whose number is not known wait for it for two seconds, and those behind them in their
 * chat with them; no other chat waits.
 */
export const makeInboxWorker = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* Inbox
  const repo = yield* makeInboxRepo
  const contacts = yield* makeContactsRepo
  const makeTurns = yield* makeInboxTurns
  const lookup = yield* makeNumberLookup

  return Effect.fnUntraced(function*({ dataKey, owned, socket }: Options) {
    const wakes = yield* Queue.sliding<void>(1)
    const heard: Array<Person> = []
    const held = new Map<string, Array<InboxItem>>()
    const turns = yield* makeTurns(owned)
    const numbersOf = lookup({ id: owned.id, socket })
    const wake = () => void Queue.offerUnsafe(wakes, undefined)

    /** Until all their numbers are known, and not for longer than the first of them may wait. */
    const release = Effect.fnUntraced(function*(chat: string, items: Array<InboxItem>) {
      const deadline = (yield* Clock.currentTimeMillis) + patience
      const { phones } = yield* Effect.repeat(
        Effect.flatMap(
          numbersOf(items),
          ({ isWhole, phones }) =>
            Effect.map(Clock.currentTimeMillis, (now) => ({ phones, isOver: isWhole || now >= deadline }))
        ),
        { until: ({ isOver }) => isOver, schedule: Schedule.spaced("100 millis") }
      )
      const all = [...items]
      yield* turns.tell(all, phones)
      const more = items.slice(all.length)
      held.delete(chat)
      if (more.length > 0) wake()
    })

    const sort = Effect.fnUntraced(function*(rows: ReadonlyArray<PendingRow>) {
      const items = rows.map((row) => {
        const place = inboxPlace(owned.id, row.chat, row.whatsapp_id)
        const payload = row.payload === null ? Option.none() : openPayload(dataKey, place, row.payload)
        return inboxItem(row, Option.getOrUndefined(payload))
      })
      const now: Array<InboxItem> = []
      const { phones } = yield* numbersOf(items)
      for (const item of items) {
        const waiting = held.get(item.chat)
        const isKnown = authorsOf(item).every(({ lid, phone }) => phone !== undefined || phones.has(lid ?? ""))
        if (waiting === undefined && isKnown) now.push(item)
        else if (waiting !== undefined) waiting.push(item)
        else {
          const begun = [item]
          held.set(item.chat, begun)
          yield* Effect.forkScoped(release(item.chat, begun))
        }
      }
      yield* turns.tell(now, phones)
    })

    const learn = Effect.suspend(() => {
      const people = mergePeople(heard.splice(0))
      if (people.length === 0) return Effect.void
      const write = transaction(Effect.orDie(Effect.gen(function*() {
        if (Option.isSome(yield* repo.hold(owned))) yield* contacts.learn(owned.id, people)
      })))
      return Effect.provideService(turns.alone(retryWhileUnavailable(write)), SqlClient.SqlClient, sql)
    })

    const work = Effect.gen(function*() {
      yield* learn
      while (turns.isOwner()) {
        const waiting = [...held.values()].flatMap((items) => items.map(({ id }) => id))
        const rows = yield* retryWhileUnavailable(
          Effect.orDie(repo.pending({ id: owned.id, except: waiting, limit: most }))
        )
        if (rows.length === 0) return
        yield* sort(rows)
      }
    })

    yield* inbox.attend(owned.id, wake)
    wake()
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(
      Queue.take(wakes),
      Effect.catchCauseIf(
        work,
        isDefect,
        (cause) => Effect.annotateLogs(Effect.logError("a WhatsApp inbox stood still", cause), { session: owned.id })
      )
    )))
    return {
      wake,
      hear: (people: ReadonlyArray<Person>) => {
        heard.push(...people)
        wake()
      }
    }
  })
})
