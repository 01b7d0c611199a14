import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { Events } from "../../src/events/Events.ts"

/** Events that this function publishes, as if an account subscribed to all of them. */
export const eventsWith = (publish: Events["Service"]["publish"]) =>
  Events.of({
    publish,
    publishWanted: (_account, _topic, read) => Effect.flatMap(read, publish),
    count: () => Effect.void,
    isWanted: () => Statement.fragment([Statement.literal("true")])
  })

/** Events without subscriptions. */
export const noEvents = Layer.succeed(Events, eventsWith(() => Effect.void))
