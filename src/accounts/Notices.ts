import { Context, Effect, Layer } from "effect"
import type { ClaimedNotice, Notice, NoticeSettled } from "./Notice.ts"
import { type Claim, NoticesRepo } from "./NoticesRepo.ts"

/**
 * The outbox of mails that the service itself writes to the owners of accounts. Statements of other domains may write a
 * notice on their own, with what {@link Notices} would write: `insert into notices (account_id, kind, once, subject,
 * body) select … on conflict do nothing`.
 */
export class Notices extends Context.Service<Notices, {
  /** Writes a notice in the caller's transaction: after a crash the fact and its mail are both there or neither is. */
  readonly tell: (notice: Notice) => Effect.Effect<void>
  /**
   * Begins an attempt for those who are due. They stay due until they are settled, so whatever becomes of the sender,
   * the next one finds them at once, with one attempt less to make and the same Message-ID.
   */
  readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
  /** Notes what came of an attempt; of one that another sender has begun anew since, nothing. */
  readonly settle: (claimed: ClaimedNotice, settled: NoticeSettled) => Effect.Effect<void>
}>()("messaging-service/accounts/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const repo = yield* NoticesRepo
      return Notices.of({
        tell: Effect.fn("Notices.tell")((notice) => repo.insert(notice)),
        claim: (claim) => repo.claim(claim),
        settle: (claimed, settled) => repo.settle(claimed, settled)
      })
    })
  ).pipe(Layer.provide(NoticesRepo.layer))
}
