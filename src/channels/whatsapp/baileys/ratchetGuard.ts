import { AsyncLocalStorage } from "node:async_hooks"

/** Takes one step of a session's ratchets after the other; each begins outside of the caller's transaction. */
export type RatchetGuard = <A>(step: () => Promise<A>) => Promise<A>

/**
 * The library sends a message within a transaction of its own over the keys and commits afterwards; a message that comes
 * in meanwhile steps on the same ratchet, and one of the two steps is lost: the other side cannot decrypt what follows.
 * Under this guard each step begins with what the one before it has left.
 */
export const makeRatchetGuard = (): RatchetGuard => {
  const outside = AsyncLocalStorage.snapshot()
  let last: Promise<unknown> = Promise.resolve()
  return (step) => {
    const done = last.then(() => outside(step))
    last = done.catch(() => {})
    return done
  }
}
