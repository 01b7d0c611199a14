import { Context, Effect, Layer } from "effect"
import { UsageRepo, type Used } from "./UsageRepo.ts"

/** Counts the use of metrics. */
export class Usage extends Context.Service<Usage, {
  /**
   * Adds to the usage in the caller's transaction. Call it last, because another transaction that counts the same
   * metric of the account waits. `Quotas.reserve` counts metrics with a quota.
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
