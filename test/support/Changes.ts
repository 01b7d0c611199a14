import { Effect } from "effect"

/** Lets a test wait until a mutable state has become what it expects, without sleeping or polling. */
export class Changes {
  readonly #watchers = new Set<() => void>()

  /** To be called after every change of the state. */
  readonly notify = (): void => {
    for (const look of this.#watchers) look()
  }

  /** Completes once the predicate holds, at once when it already does. */
  readonly until = (predicate: () => boolean): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const look = () => {
        if (!predicate()) return
        this.#watchers.delete(look)
        resume(Effect.void)
      }
      this.#watchers.add(look)
      look()
      return Effect.sync(() => this.#watchers.delete(look))
    })
}
