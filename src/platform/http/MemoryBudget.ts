import { type Duration, Effect, type Scope, Semaphore } from "effect"
import { ServiceUnavailable } from "./ApiErrors.ts"

interface Options {
  /** What all requests of the node may hold together. */
  readonly total: number
  /** What one account may hold. */
  readonly share: number
  /** The longest time that a request waits. */
  readonly wait: Duration.Input
}

interface Share {
  readonly room: Semaphore.Semaphore
  users: number
}

/** Bounds the memory that requests hold on a node, with a share for each account, so that no account can take it all. */
export interface MemoryBudget {
  /**
   * Reserves an amount until the scope ends; more than a share counts as the whole share. Fails when the share or the node
   * has no room in time.
   */
  readonly take: (accountId: number, amount: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}

/** The shares of active accounts. A share is forgotten with its last user. */
const makeShares = (size: number) => {
  const shares = new Map<number, Share>()
  return (accountId: number) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const share = shares.get(accountId) ?? { room: Semaphore.makeUnsafe(size), users: 0 }
        shares.set(accountId, share)
        share.users += 1
        return share
      }),
      (share) =>
        Effect.sync(() => {
          share.users -= 1
          if (share.users === 0) shares.delete(accountId)
        })
    )
}

export const MemoryBudget = {
  make: ({ share, total, wait }: Options): MemoryBudget => {
    const room = Semaphore.makeUnsafe(total)
    const shareOf = makeShares(share)
    return {
      take: Effect.fnUntraced(
        function*(accountId, amount) {
          const bounded = Math.min(amount, share)
          const own = yield* shareOf(accountId)
          yield* own.room.takeScoped(bounded)
          yield* room.takeScoped(bounded)
        },
        Effect.timeoutOrElse({ duration: wait, orElse: () => Effect.fail(new ServiceUnavailable()) })
      )
    }
  }
}
