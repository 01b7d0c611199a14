/**
 * Keeps the connection of one WhatsApp session; how is in `makeSessionKeeper.ts` and `makeSessionConnection.ts`.
 *
 * Who talks to it: `Sessions`, by `Qr`, `Pair` and `LogOut`, and the sweeper, by `Wake` and `Try`. Where its state lives:
 * in the row of `whatsapp_sessions` and the encrypted rows of `whatsapp_keys`; in memory it has the connection, the code
 * that is shown and how many tries there were since it began. When its node leaves, the connection is closed and what
 * the library had still to store is stored; when its node dies, nothing is done. In both cases the next owner raises the
 * epoch, after which nobody before it can write, and connects with what is stored: no scan is needed, no retry is
 * counted, and webhooks hear of it only if that connection fails. Codes that are on a screen die with their connection;
 * the next owner shows others. A repeated `Qr` answers with the same code; a repeated `Pair` makes a new one. While there
 * shall be a connection the cluster keeps it awake and begins it on another node by itself; a session that has failed
 * sleeps after a minute, until somebody asks for a code or a try is due.
 */
import { Effect } from "effect"
import { Entity, type Sharding } from "effect/cluster"
import { drainBeforeClose } from "../../../platform/cluster/drainBeforeClose.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"
import { SessionEntity } from "./SessionEntity.ts"
import { makeSessionKeeper } from "./SessionSupervisor.ts"

const make = Effect.gen(function*() {
  const id = WhatsAppSessionId.make(Number((yield* Entity.CurrentAddress).entityId))
  const context = yield* Effect.context<Sharding.Sharding | Entity.CurrentAddress>()
  const keeper = yield* makeSessionKeeper(
    id,
    (awake) => Effect.provideContext(Entity.keepAlive(awake), context)
  )
  yield* keeper.ensure
  return SessionEntity.of({
    Wake: () => Effect.asVoid(keeper.ensure),
    Try: () => keeper.tryAgain,
    Qr: () => keeper.qr,
    Pair: ({ payload: { phoneNumber } }) => keeper.pair(phoneNumber),
    LogOut: () => keeper.logOut
  })
})

/** Runs sessions on this node. Whoever waits for a code must not keep others waiting. */
export const SessionActor = drainBeforeClose((stay) =>
  SessionEntity.toLayer(Effect.andThen(stay, make), { concurrency: "unbounded", maxIdleTime: "1 minute" })
)
