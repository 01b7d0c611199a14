import { Context, Effect, Layer } from "effect"
import { UsageRepo, type Used } from "./UsageRepo.ts"

/** Counts what accounts use. */
export class Usage extends Context.Service<Usage, {
  /**
   * Adds to what accounts have used today, in the caller's transaction, best as its last statement: whoever counts the
   * same for the same account may wait for its end. What a plan has a quota of is counted by `Quotas.reserve` instead.
   */
  readonly count: (used: ReadonlyArray<Used>) => Effect.Effect<void>
}>()("messaging-service/usage/Usage") {
  static readonly layer = Layer.effect(
    Usage,
    Effect.gen(function*() {
      const repo = yield* UsageRepo
      return Usage.of({
        count: Effect.fn("Usage.count")((used: ReadonlyArray<Used>) => used.length === 0 ? Effect.void : repo.add(used))
      })
    })
  ).pipe(Layer.provide(UsageRepo.layer))
}
