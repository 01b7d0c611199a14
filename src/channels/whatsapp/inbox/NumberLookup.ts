import { Effect } from "effect"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import { makeContactsRepo } from "../directory/ContactsRepo.ts"
import type { DirectorySocket } from "../socket/DirectorySocket.ts"
import { authorsOf, type InboxItem } from "./InboundEvents.ts"

interface Options {
  readonly id: WhatsAppSessionId
  readonly socket: () => DirectorySocket | undefined
}

/** The numbers of hidden numbers that items name without them: from the contacts, else from the library's own store. */
export const makeNumberLookup = Effect.gen(function*() {
  const contacts = yield* makeContactsRepo

  return ({ id, socket }: Options) =>
    Effect.fnUntraced(function*(items: ReadonlyArray<InboxItem>) {
      const unknown = items.flatMap((item) =>
        authorsOf(item).flatMap(({ lid, phone }) => phone === undefined && lid !== undefined ? [lid] : [])
      )
      const lids = [...new Set(unknown)]
      const phones = new Map<string, string>()
      if (lids.length === 0) return { phones, isWhole: true }
      for (const row of yield* retryWhileUnavailable(Effect.orDie(contacts.phones({ id, lids })))) {
        phones.set(row.lid, row.phone)
      }
      for (const lid of lids.filter((name) => !phones.has(name))) {
        const asked = socket()?.numberOf(lid) ?? Effect.undefined
        const number = yield* Effect.orElseSucceed(Effect.timeout(asked, "1 second"), () => undefined)
        if (number !== undefined) phones.set(lid, number)
      }
      return { phones, isWhole: lids.every((lid) => phones.has(lid)) }
    })
})
