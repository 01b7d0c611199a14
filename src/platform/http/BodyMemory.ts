import { Context, Effect, Layer, type Scope } from "effect"
import { getHeapStatistics } from "node:v8"
import type { ServiceUnavailable } from "./ApiErrors.ts"
import { MemoryBudget } from "./MemoryBudget.ts"
import { bulkMail, small } from "./RequestRules.ts"

const MiB = 1024 * 1024

/** While it is handled, a body needs up to six times its size: its bytes, its text, and the decoded values. */
const heapPerByte = 12

/** The longest time that a request waits for memory. */
const wait = "5 seconds"

/**
 * Bounds the memory of large bodies on this node. Small ones need none of it: the limits of connections and of requests in
 * flight bound their number, so that a small request succeeds while large ones wait.
 */
export class BodyMemory extends Context.Service<BodyMemory, {
  /** Reserves the bytes of a body until the scope ends. */
  readonly holdBytes: (accountId: number, bytes: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
  /** Reserves the decoded values of a body until the scope ends. */
  readonly holdValues: (accountId: number, values: number) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/platform/http/BodyMemory") {
  /** The node has room for its heap's twelfth, at most 128 MiB; an account for a quarter of it, and for any one body. */
  static readonly layer = Layer.sync(BodyMemory, () => {
    const heap = getHeapStatistics().heap_size_limit
    const total = Math.min(128 * MiB, Math.max(2 * bulkMail.bytes, Math.floor(heap / heapPerByte)))
    const bytes = MemoryBudget.make({ total, share: Math.max(bulkMail.bytes, Math.floor(total / 4)), wait })
    const values = MemoryBudget.make({ total: 2 * bulkMail.values, share: bulkMail.values, wait })
    return BodyMemory.of({
      holdBytes: (accountId, amount) => amount <= small.bytes ? Effect.void : bytes.take(accountId, amount),
      holdValues: (accountId, amount) => amount <= small.values ? Effect.void : values.take(accountId, amount)
    })
  })
}
