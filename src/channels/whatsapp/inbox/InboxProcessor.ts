import { Cause, Duration, Effect, Option, Schedule, Semaphore } from "effect"
import { Database } from "../../../platform/database/Database.ts"
import { isDatabaseUnavailable, retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { Wakeup } from "../../../platform/work/Wakeup.ts"
import { ContactsRepo } from "../directory/ContactsRepo.ts"
import type { OwnedSession } from "../model/Session.ts"
import type { DirectorySocket } from "../socket/DirectorySocket.ts"
import type { Person } from "../socket/WhatsAppSocket.ts"
import * as InboundEvents from "./InboundEvents.ts"
import { Inbox } from "./Inbox.ts"
import { authorsOf, type InboxItem, inboxItem, inboxPlace, openPayload } from "./InboxItem.ts"
import { InboxRepo, type PendingRow } from "./InboxRepo.ts"

/** How long a message waits for its sender's number. */
const lookupTimeout = Duration.toMillis("2 seconds")

/** The most rows that are read at once. */
const pageSize = 100

/** How long the end of a connection waits for the database. */
const lastWriteTimeout = "3 seconds"

type Phones = ReadonlyMap<string, string>

interface Options {
  readonly owned: OwnedSession
  readonly dataKey: Uint8Array
  /** The connection, while there is one. */
  readonly socket: () => DirectorySocket | undefined
}

/**
 * How many of the items one transaction can publish: an item that refers to another of them needs that one's id in the
 * API, which exists only after the first transaction.
 */
const independentCount = (items: ReadonlyArray<InboxItem>) => {
  const names = new Set<string>()
  const end = items.findIndex((item) => {
    const refersBack = item.kind === "message" && names.has(item.message.refersTo ?? "")
    names.add(item.whatsappId)
    return refersBack
  })
  return end === -1 ? items.length : end
}

/**
 * Publishes the inbox of a session in its order, beginning with the rows that a former owner left. A message whose
 * sender's number is unknown waits for it for up to two seconds, and so do the later messages of its chat. Other chats do
 * not wait.
 */
export const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const inbox = yield* Inbox
  const repo = yield* InboxRepo
  const contacts = yield* ContactsRepo
  const events = yield* InboundEvents.make

  /** The phone numbers of hidden numbers: from the contacts, or else from the connection. */
  const lookUpPhones = Effect.fnUntraced(
    function*({ owned: { id }, socket }: Options, items: ReadonlyArray<InboxItem>) {
      const phones = new Map<string, string>()
      const lids = new Set(
        items.flatMap(authorsOf).flatMap(({ lid, phone }) => phone === undefined && lid !== undefined ? [lid] : [])
      )
      if (lids.size === 0) return phones
      for (const row of yield* retryWhileUnavailable(contacts.phones({ id, lids: [...lids] }))) {
        phones.set(row.lid, row.phone)
      }
      for (const lid of lids) {
        if (phones.has(lid)) continue
        const request = socket()?.numberOf(lid) ?? Effect.undefined
        const phone = yield* Effect.orElseSucceed(Effect.timeout(request, "1 second"), () => undefined)
        if (phone !== undefined) phones.set(lid, phone)
      }
      return phones
    }
  )

  const isComplete = (items: ReadonlyArray<InboxItem>, phones: Phones) =>
    items.flatMap(authorsOf).every(({ lid, phone }) => phone !== undefined || lid === undefined || phones.has(lid))

  return Effect.fnUntraced(function*(options: Options) {
    const { dataKey, owned } = options
    const logged = Effect.annotateLogs({ session: owned.id })
    const { signalUnsafe: wake, wait } = yield* Wakeup.make
    // Transactions of one session change the same contacts, so they run one after the other.
    const turn = yield* Semaphore.make(1)
    const people: Array<Person> = []
    const waiting = new Map<string, Array<InboxItem>>()
    let isOwner = true

    const drop = (item: InboxItem, cause: Cause.Cause<unknown>) =>
      Effect.andThen(
        logged(Effect.logError("inbound WhatsApp message dropped: publishing its event failed", cause)),
        retryWhileUnavailable(repo.drop([item.id]))
      )

    /** Publishes all items in one transaction. If that fails, each goes by itself, so that one cannot block the others. */
    const publishTogether: (items: ReadonlyArray<InboxItem>, phones: Phones) => Effect.Effect<void> = Effect.fnUntraced(
      function*(items, phones) {
        const [first] = items
        if (first === undefined || !isOwner) return
        yield* retryWhileUnavailable(events.publish({ owned, items, phones })).pipe(
          Effect.flatMap((isPublished) =>
            Effect.sync(() => {
              isOwner = isPublished
            })
          ),
          Effect.catchCauseIf(
            (cause) => !isDatabaseUnavailable(cause) && !Cause.hasInterruptsOnly(cause),
            (cause) =>
              items.length === 1
                ? drop(first, cause)
                : Effect.forEach(items, (item) => publishTogether([item], phones), { discard: true })
          )
        )
      }
    )

    const publish = Effect.fnUntraced(function*(items: ReadonlyArray<InboxItem>, phones: Phones) {
      for (let rest = items; rest.length > 0;) {
        const count = independentCount(rest)
        yield* turn.withPermit(publishTogether(rest.slice(0, count), phones))
        rest = rest.slice(count)
      }
    })

    /** Publishes the waiting items of a chat once all numbers are known, or when the first has waited long enough. */
    const publishWaiting = Effect.fnUntraced(function*(_chat: string, items: Array<InboxItem>) {
      const deadline = (yield* monotonicMillis) + lookupTimeout
      const phones = yield* Effect.repeat(lookUpPhones(options, items), {
        until: (found) => Effect.map(monotonicMillis, (now) => now >= deadline || isComplete(items, found)),
        schedule: Schedule.spaced("100 millis")
      })
      const published = [...items]
      yield* publish(published, phones)
    }, (effect, chat) =>
      Effect.ensuring(
        effect,
        Effect.sync(() => {
          waiting.delete(chat)
          // Later items of the chat have no fiber: they are read again as pending rows.
          wake()
        })
      ))

    const open = ({ chat, id, payload, whatsapp_id: whatsappId }: PendingRow) =>
      inboxItem(
        { id, chat, whatsappId },
        payload === null
          ? undefined
          : Option.getOrUndefined(openPayload(dataKey, inboxPlace(owned.id, chat, whatsappId), payload))
      )

    const process = Effect.fnUntraced(function*(items: ReadonlyArray<InboxItem>) {
      const ready: Array<InboxItem> = []
      const phones = yield* lookUpPhones(options, items)
      for (const item of items) {
        const earlier = waiting.get(item.chat)
        if (earlier !== undefined) earlier.push(item)
        else if (isComplete([item], phones)) ready.push(item)
        else {
          const begun = [item]
          waiting.set(item.chat, begun)
          yield* Effect.forkScoped(publishWaiting(item.chat, begun))
        }
      }
      yield* publish(ready, phones)
    })

    const storePeople = Effect.suspend(() => {
      const learned = people.splice(0)
      if (learned.length === 0) return Effect.void
      const store = Effect.gen(function*() {
        if (Option.isSome(yield* repo.lockSession(owned))) yield* contacts.learn(owned.id, learned)
      })
      return turn.withPermit(retryWhileUnavailable(transaction(store))).pipe(
        Effect.onInterrupt(() => Effect.sync(() => people.unshift(...learned)))
      )
    })

    const processAll = Effect.gen(function*() {
      yield* storePeople
      while (isOwner) {
        const except = [...waiting.values()].flatMap((items) => items.map(({ id }) => id))
        const rows = yield* retryWhileUnavailable(repo.pending({ id: owned.id, except, limit: pageSize }))
        if (rows.length === 0) return
        yield* process(rows.map(open))
      }
    })

    yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(storePeople, lastWriteTimeout)))
    yield* inbox.subscribe(owned.id, wake)
    wake()
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(
      wait(Duration.infinity),
      Effect.catchCauseIf(
        processAll,
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) =>
          logged(Effect.logError("WhatsApp inbox processing failed", cause)).pipe(
            Effect.andThen(Effect.sleep("1 second")),
            Effect.andThen(Effect.sync(wake))
          )
      )
    )))
    return {
      wake,
      /** Stores facts about people that the connection reports. */
      learn: (learned: ReadonlyArray<Person>) => {
        people.push(...learned)
        wake()
      }
    }
  })
})
