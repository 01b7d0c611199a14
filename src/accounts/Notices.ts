import { Context, Effect, Layer } from "effect"
import type { ClaimedNotice, Notice, NoticeSettled } from "./Notice.ts"
import { type Claim, NoticesRepo } from "./NoticesRepo.ts"

/**
 * The outbox of mails from the service to account owners. Statements of other domains may insert the same rows
 * directly: `insert into notices (account_id, kind, once, subject, body) select … on conflict do nothing`.
 */
export class Notices extends Context.Service<Notices, {
  /** Writes a notice in the caller's transaction, so that the change and its mail commit together. */
  readonly enqueue: (notice: Notice) => Effect.Effect<void>
  /**
   * Starts an attempt for due notices. They stay due until they settle, so after a crash the next sender finds them at
   * once, with one attempt fewer and the same Message-ID.
   */
  readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
  /** Records the result of an attempt, unless another sender has started a newer one. */
  readonly settle: (claimed: ClaimedNotice, settled: NoticeSettled) => Effect.Effect<void>
}>()("messaging-service/accounts/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const repo = yield* NoticesRepo
      return Notices.of({
        enqueue: Effect.fn("Notices.enqueue")((notice) => repo.insert(notice)),
        claim: (claim) => repo.claim(claim),
        settle: (claimed, settled) => repo.settle(claimed, settled)
      })
    })
  ).pipe(Layer.provide(NoticesRepo.layer))
}
