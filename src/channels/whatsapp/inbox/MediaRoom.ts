import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import type { AccountId } from "../../../values/Ids.ts"

/** The largest file. Files are decrypted whole, because only the whole can be authenticated. */
export const maxFileBytes = 100 * 1024 * 1024

/** The total size of the files that a node processes at once: two of the largest, or many of the usual size. */
const maxTotalBytes = 2 * maxFileBytes

/** The longest time that a request waits for memory. */
const waitTimeout = "10 seconds"

interface Share {
  readonly room: Semaphore.Semaphore
  users: number
}

/** The share of each active account: one of the largest files, so that one account cannot take all memory. */
const makeShares = () => {
  const shares = new Map<AccountId, Share>()
  return (accountId: AccountId) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const share = shares.get(accountId) ?? { room: Semaphore.makeUnsafe(maxFileBytes), users: 0 }
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

/** Limits the memory of files on a node. Downloaded, decrypted and sent, a file needs three times its size. */
export class MediaRoom extends Context.Service<MediaRoom, {
  /** Reserves memory for a file until the scope ends. A file of unknown size counts as the largest. */
  readonly take: (
    accountId: AccountId,
    size: number | undefined
  ) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/MediaRoom") {
  static readonly layer = Layer.effect(
    MediaRoom,
    Effect.map(Semaphore.make(maxTotalBytes), (room) => {
      const shareOf = makeShares()
      return MediaRoom.of({
        take: Effect.fnUntraced(
          function*(accountId, size = maxFileBytes) {
            const bytes = Math.min(size, maxFileBytes)
            const share = yield* shareOf(accountId)
            yield* share.room.takeScoped(bytes)
            yield* room.takeScoped(bytes)
          },
          Effect.timeoutOrElse({ duration: waitTimeout, orElse: () => Effect.fail(new ServiceUnavailable()) })
        )
      })
    })
  )
}
