import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { ServiceUnavailable } from "../../platform/http/ApiErrors.ts"

/** Files are decrypted whole, as only the whole shows that nobody has changed them. */
export const largestMedia = 100 * 1024 * 1024

/** Bytes of files that a node has in hand at once: two of the largest, or many as they usually are. */
const mediaRoom = 2 * largestMedia

/** How long a request waits for room. */
const patience = "10 seconds"

/** The memory of a node for files that are fetched, decrypted and answered with. A file takes its size of it thrice. */
export class MediaRoom extends Context.Service<MediaRoom, {
  /** Room for a file of so many bytes, the largest where that is unknown, until the scope ends. */
  readonly take: (size: number | undefined) => Effect.Effect<void, ServiceUnavailable, Scope.Scope>
}>()("messaging-service/channels/whatsapp/MediaRoom") {
  static readonly layer = Layer.effect(
    MediaRoom,
    Effect.map(Semaphore.make(mediaRoom), (room) =>
      MediaRoom.of({
        take: (size = largestMedia) =>
          Effect.timeoutOrElse(room.takeScoped(Math.min(size, largestMedia)), {
            duration: patience,
            orElse: () => Effect.fail(new ServiceUnavailable())
          })
      }))
  )
}
