import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import type { PageOf, Window } from "../../../values/Page.ts"
import { ComplaintNotRemovable, type Suppression, type SuppressionReason } from "./Suppression.ts"
import { type Refusal, SuppressionsRepo } from "./SuppressionsRepo.ts"

/** The addresses that accounts must not email. */
export class Suppressions extends Context.Service<Suppressions, {
  /** Lists an account's suppressions, newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly email?: EmailAddress; readonly reason?: SuppressionReason },
    window: Window
  ) => Effect.Effect<PageOf<Suppression>>
  readonly find: (accountId: AccountId, email: EmailAddress) => Effect.Effect<Suppression, NotFound>
  /** Those of the addresses that are suppressed, in lower case. */
  readonly among: (
    accountId: AccountId,
    emails: ReadonlyArray<EmailAddress>
  ) => Effect.Effect<ReadonlyArray<string>>
  /** Adds a manual suppression. An existing one stays as it is and is returned. */
  readonly add: (accountId: AccountId, email: EmailAddress) => Effect.Effect<Suppression>
  /** Adds manual suppressions. Existing ones stay as they are. */
  readonly addMany: (
    accountId: AccountId,
    emails: ReadonlyArray<EmailAddress>
  ) => Effect.Effect<{ readonly added: number; readonly existing: number }>
  readonly remove: (
    accountId: AccountId,
    email: EmailAddress
  ) => Effect.Effect<void, NotFound | ComplaintNotRemovable>
  /** Records refused messages and suppresses the addresses that their refusals rule out. */
  readonly bounced: (refusals: ReadonlyArray<Refusal>) => Effect.Effect<void>
  /** Suppresses an address whose owner reported a message as spam. */
  readonly complained: (complaint: Omit<Refusal, "suppress">) => Effect.Effect<void>
  /** Suppresses the recipient of a message (RFC 8058). Idempotent. */
  readonly unsubscribe: (id: EmailMessageId) => Effect.Effect<void>
  /** Finds the address that a message went to. */
  readonly recipientOf: (id: EmailMessageId) => Effect.Effect<Option.Option<string>>
}>()("messaging-service/channels/email/suppressions/Suppressions") {
  static readonly layer = Layer.effect(
    Suppressions,
    Effect.gen(function*() {
      const repo = yield* SuppressionsRepo
      return Suppressions.of({
        list: Effect.fn("Suppressions.list")((accountId, { email = null, reason = null }, window) =>
          Query.windowOf(repo, { accountId, email, reason, ...window })
        ),
        find: Effect.fn("Suppressions.find")(function*(accountId, email) {
          const row = yield* repo.find({ accountId, email })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        among: Effect.fn("Suppressions.among")(function*(accountId, emails) {
          return (yield* repo.among({ accountId, emails })).map(({ email }) => email)
        }),
        add: (accountId, email) => repo.add({ accountId, email }),
        addMany: (accountId, emails) => repo.addMany({ accountId, emails }),
        remove: Effect.fn("Suppressions.remove")(function*(accountId, email) {
          const found = yield* repo.remove({ accountId, email })
          if (Option.isNone(found)) return yield* new NotFound()
          if (found.value.reason === "complaint") return yield* new ComplaintNotRemovable()
        }),
        bounced: repo.bounced,
        complained: repo.complained,
        unsubscribe: repo.unsubscribe,
        recipientOf: (id) => Effect.map(repo.recipientOf(id), Option.map(({ recipient }) => recipient))
      })
    })
  ).pipe(Layer.provide(SuppressionsRepo.layer))
}
