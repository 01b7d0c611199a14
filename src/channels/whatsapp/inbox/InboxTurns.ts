import { type Cause, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { isDatabaseUnavailable } from "../../../platform/database/isDatabaseUnavailable.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import { type InboxItem, makeInboxTeller } from "./InboundEvents.ts"
import { makeInboxRepo } from "./InboxRepo.ts"

/** Up to the first one that speaks of another one of them, which has no number in the API before that is told of. */
const independent = (items: ReadonlyArray<InboxItem>) => {
  const names = new Set<string>()
  const end = items.findIndex((item) => {
    const refersBack = item.kind === "message" && names.has(item.message.refersTo ?? "")
    names.add(item.whatsappId)
    return refersBack
  })
  return end === -1 ? items.length : end
}

/** It went wrong by itself, and not because it was to end. */
export const isDefect = <E>(cause: Cause.Cause<E>): boolean =>
  cause.reasons.some((reason) => reason._tag !== "Interrupt")

/** Tells of items of one session, one transaction after the other: they change the same contacts. */
export const makeInboxTurns = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* makeInboxRepo
  const tell = yield* makeInboxTeller

  return Effect.fnUntraced(function*(owned: Owned) {
    const turn = yield* Semaphore.make(1)
    let isOwner = true

    const drop = (item: InboxItem, cause: Cause.Cause<unknown>) =>
      Effect.andThen(
        Effect.annotateLogs(Effect.logError("an inbound WhatsApp message could not be told of", cause), {
          session: owned.id
        }),
        Effect.orDie(repo.drop([item.id]))
      )

    /** All of them, or else each by itself: one that cannot be told of must not keep the others from it. */
    const tellAll: (
      items: ReadonlyArray<InboxItem>,
      phones: ReadonlyMap<string, string>
    ) => Effect.Effect<void> = Effect.fnUntraced(function*(items, phones) {
      const [first] = items
      if (first === undefined || !isOwner) return
      yield* retryWhileUnavailable(tell({ owned, items, phones })).pipe(
        Effect.tap((told) =>
          Effect.sync(() => {
            isOwner = told
          })
        ),
        Effect.asVoid,
        Effect.catchCauseIf(
          (cause) => !isDatabaseUnavailable(cause) && isDefect(cause),
          (cause) =>
            items.length === 1
              ? drop(first, cause)
              : Effect.forEach(items, (item) => tellAll([item], phones), { discard: true })
        ),
        Effect.provideService(SqlClient.SqlClient, sql)
      )
    })

    return {
      isOwner: () => isOwner,
      /** Nobody tells of anything meanwhile. */
      alone: <A, E, R>(effect: Effect.Effect<A, E, R>) => turn.withPermit(effect),
      tell: Effect.fnUntraced(function*(items: ReadonlyArray<InboxItem>, phones: ReadonlyMap<string, string>) {
        for (let rest = items; rest.length > 0;) {
          const end = independent(rest)
          yield* turn.withPermit(tellAll(rest.slice(0, end), phones))
          rest = rest.slice(end)
        }
      })
    }
  })
})
