import { Effect } from "effect"

/** Lets a test wait, without polling, until a mutable state is as expected. */
export class Changes {
  readonly #watchers = new Set<() => void>()

  /** To be called after every change of the state. */
  readonly notify = (): void => {
    for (const check of this.#watchers) check()
  }

  /** Completes once the predicate holds, at once when it already does. */
  readonly until = (predicate: () => boolean): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const check = () => {
        if (!predicate()) return
        this.#watchers.delete(check)
        resume(Effect.void)
      }
      this.#watchers.add(check)
      check()
      return Effect.sync(() => this.#watchers.delete(check))
    })
}
