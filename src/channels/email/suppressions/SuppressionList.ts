import { Context, Effect, Layer, Option } from "effect"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId } from "../../../values/Ids.ts"
import type { PageOf } from "../../../values/Page.ts"
import type { Suppression, SuppressionReason } from "./Suppression.ts"
import { ComplaintNotRemovable } from "./SuppressionErrors.ts"
import { makeSuppressionListRepo } from "./SuppressionListRepo.ts"

/** The suppressions of an account, as it manages them by hand. */
export class SuppressionList extends Context.Service<SuppressionList, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly email?: EmailAddress; readonly reason?: SuppressionReason },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<Suppression>>
  readonly find: (accountId: AccountId, email: EmailAddress) => Effect.Effect<Suppression, NotFound>
  /** The suppression that is there afterwards; one that was there before stays as it is. */
  readonly add: (accountId: AccountId, email: EmailAddress) => Effect.Effect<Suppression>
  readonly remove: (
    accountId: AccountId,
    email: EmailAddress
  ) => Effect.Effect<void, NotFound | ComplaintNotRemovable>
}>()("messaging-service/channels/email/suppressions/SuppressionList") {
  static readonly layer = Layer.effect(
    SuppressionList,
    Effect.gen(function*() {
      const repo = yield* makeSuppressionListRepo
      return SuppressionList.of({
        list: Effect.fn("SuppressionList.list")(function*(accountId, { email = null, reason = null }, window) {
          const filter = { accountId, email, reason, ...window }
          const rows = yield* repo.list(filter)
          const { total } = yield* repo.count(filter)
          return { rows, total }
        }, Effect.orDie),
        find: Effect.fn("SuppressionList.find")(function*(accountId, email) {
          const row = yield* Effect.orDie(repo.find({ accountId, email }))
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        add: Effect.fn("SuppressionList.add")((accountId, email) => Effect.orDie(repo.add({ accountId, email }))),
        remove: Effect.fn("SuppressionList.remove")(function*(accountId, email) {
          const found = yield* Effect.orDie(repo.remove({ accountId, email }))
          if (Option.isNone(found)) return yield* new NotFound()
          if (found.value.reason === "complaint") return yield* new ComplaintNotRemovable()
        })
      })
    })
  )
}
