import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import type { AccountId } from "../../../values/Ids.ts"

/** Files are decrypted whole, as only the whole shows that nobody has changed them. */
export const largestMedia = 100 * 1024 * 1024

/** Bytes of files that a node has in hand at once: two of the largest, or many as they usually are. */
const mediaRoom = 2 * largestMedia

/** How long a request waits for room. */
const patience = "10 seconds"

interface Share {
  readonly room: Semaphore.Semaphore
  takers: number
}

/** What the accounts that have files in hand may have of the room: one of the largest each, so that others find some. */
const makeShares = () => {
  const shares = new Map<AccountId, Share>()
  return (accountId: AccountId) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const share = shares.get(accountId) ?? { room: Semaphore.makeUnsafe(largestMedia), takers: 0 }
        shares.set(accountId, share)
        share.takers += 1
        return share
      }),
      (share) =>
        Effect.sync(() => {
          share.takers -= 1
          if (share.takers === 0) shares.delete(accountId)
        })
    )
}

/** The memory of a node for files that are fetched, decrypted and answered with. A file takes its size of it thrice. */
export class MediaRoom extends Context.Service<MediaRoom, {
  /** Room for a file of so many bytes, the largest where that is unknown, until the scope ends. */
  readonly take: (
    accountId: AccountId,
    size: number | undefined
  ) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/channels/whatsapp/inbox/MediaRoom") {
  static readonly layer = Layer.effect(
    MediaRoom,
    Effect.map(Semaphore.make(mediaRoom), (room) => {
      const shareOf = makeShares()
      return MediaRoom.of({
        take: Effect.fnUntraced(
          function*(accountId, size = largestMedia) {
            const bytes = Math.min(size, largestMedia)
            const share = yield* shareOf(accountId)
            yield* share.room.takeScoped(bytes)
            yield* room.takeScoped(bytes)
          },
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(new ServiceUnavailable()) })
        )
      })
    })
  )
}
