import { Context, type Duration, Effect, Layer, type Scope, Semaphore } from "effect"
import { getHeapStatistics } from "node:v8"
import { ServiceUnavailable } from "./ApiErrors.ts"
import { bulkMail, small } from "./RequestRules.ts"

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
   * has no room in time: by default after the budget's wait.
   */
  readonly take: (
    accountId: number,
    amount: number,
    wait?: Duration.Input
  ) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
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
  make: ({ share, total, wait: longest }: Options): MemoryBudget => {
    const room = Semaphore.makeUnsafe(total)
    const shareOf = makeShares(share)
    return {
      take: (accountId, amount, wait = longest) =>
        Effect.gen(function*() {
          const bounded = Math.min(amount, share)
          const own = yield* shareOf(accountId)
          yield* own.room.takeScoped(bounded)
          yield* room.takeScoped(bounded)
        }).pipe(Effect.timeoutOrElse({ duration: wait, orElse: () => Effect.fail(new ServiceUnavailable()) }))
    }
  }
}

/** Whether an outer request holds the memory of this request's body: then the body must not wait for a part of it. */
export const HeldOutside = Context.Reference<boolean>("messaging-service/platform/http/MemoryBudget/HeldOutside", {
  defaultValue: () => false
})

const MiB = 1024 * 1024

/** While it is handled, a body needs up to six times its size: its bytes, its text, and the decoded values. */
const heapPerByte = 12

/** The longest time that a body waits for memory. */
const wait = "5 seconds"

/**
 * Bounds the memory of large bodies on this node. Small ones need none of it: the limits of connections and of requests in
 * flight bound their number, so that a small request succeeds while large ones wait.
 */
export class BodyMemory extends Context.Service<BodyMemory, {
  /** Reserves the bytes of a body until the scope ends. */
  readonly holdBytes: (accountId: number, bytes: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
  /** Reserves the bytes of an answer. It does not wait, because the answer is in memory already. */
  readonly holdAnswer: (accountId: number, bytes: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
  /** Reserves the decoded values of a body until the scope ends. */
  readonly holdValues: (accountId: number, values: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/platform/http/MemoryBudget/BodyMemory") {
  /** The node has room for its heap's twelfth, at most 128 MiB; an account for a quarter of it, and for any one body. */
  static readonly layer = Layer.sync(BodyMemory, () => {
    const heap = getHeapStatistics().heap_size_limit
    const total = Math.min(128 * MiB, Math.max(2 * bulkMail.bytes, Math.floor(heap / heapPerByte)))
    const bytes = MemoryBudget.make({ total, share: Math.max(bulkMail.bytes, Math.floor(total / 4)), wait })
    const values = MemoryBudget.make({ total: 2 * bulkMail.values, share: bulkMail.values, wait })
    return BodyMemory.of({
      holdBytes: (accountId, amount) => amount <= small.bytes ? Effect.void : bytes.take(accountId, amount),
      holdAnswer: (accountId, amount) => bytes.take(accountId, amount, 0),
      holdValues: (accountId, amount) => amount <= small.values ? Effect.void : values.take(accountId, amount)
    })
  })
}
