import { Effect } from "effect"
import { inPatience } from "./waiting.ts"

/** Lets a test wait, without polling, until a mutable state is as expected. */
export class Changes {
  readonly #watchers = new Set<() => void>()
  readonly #seen: () => unknown

  /** `seen` describes the state in the failure of a wait. */
  constructor(seen: () => unknown) {
    this.#seen = seen
  }

  /** To be called after every change of the state. */
  readonly notify = (): void => {
    for (const check of this.#watchers) check()
  }

  /** Completes once the predicate holds, at once when it already does. */
  readonly until = (predicate: () => boolean, within?: `${number} seconds`): Effect.Effect<void> =>
    inPatience(
      Effect.callback((resume) => {
        const check = () => {
          if (!predicate()) return
          this.#watchers.delete(check)
          resume(Effect.void)
        }
        this.#watchers.add(check)
        check()
        return Effect.sync(() => this.#watchers.delete(check))
      }),
      this.#seen,
      within
    )
}
