import { Context, type Effect, Layer, type Scope } from "effect"
import type { ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { MemoryBudget } from "../../../platform/http/MemoryBudget.ts"
import type { AccountId } from "../../../values/Ids.ts"

/** The largest file. Files are decrypted whole, because only the whole can be authenticated. */
export const maxFileBytes = 100 * 1024 * 1024

/** Limits the memory of files on a node. Downloaded, decrypted and sent, a file needs three times its size. */
export class MediaRoom extends Context.Service<MediaRoom, {
  /** Reserves memory for a file until the scope ends. A file of unknown size counts as the largest. */
  readonly take: (
    accountId: AccountId,
    size: number | undefined
  ) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/MediaRoom") {
  /** Holds two of the largest files, or many of the usual size; at most one of the largest for one account. */
  static readonly layer = Layer.sync(MediaRoom, () => {
    const budget = MemoryBudget.make({ total: 2 * maxFileBytes, share: maxFileBytes, wait: "10 seconds" })
    return MediaRoom.of({
      take: (accountId, size = maxFileBytes) => budget.take(accountId, Math.min(size, maxFileBytes))
    })
  })
}
