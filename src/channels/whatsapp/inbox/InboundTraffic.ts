import { Context, Effect, Layer } from "effect"
import { ContactsRepo } from "../directory/ContactsRepo.ts"
import { GroupsRepo } from "../directory/GroupsRepo.ts"
import { LiveSockets } from "../socket/LiveSockets.ts"
import type { InboundPart } from "../socket/MessageTraffic.ts"
import * as GroupTraffic from "./GroupTraffic.ts"
import * as InboxProcessor from "./InboxProcessor.ts"
import { InboxRepo } from "./InboxRepo.ts"

/** The inbound half of a connection: messages, group notifications and people. */
export class InboundTraffic extends Context.Service<InboundTraffic, InboundPart>()(
  "messaging-service/channels/whatsapp/inbox/InboundTraffic"
) {
  static readonly layer = Layer.effect(
    InboundTraffic,
    Effect.gen(function*() {
      const live = yield* LiveSockets
      const startProcessor = yield* InboxProcessor.make
      const startGroups = yield* GroupTraffic.make

      return InboundTraffic.of({
        attach: Effect.fnUntraced(function*(owned, dataKey) {
          const socket = () => live.get(owned.id)
          const processor = yield* startProcessor({ owned, dataKey, socket })
          const groups = yield* startGroups({ owned, dataKey, socket, learn: processor.learn })
          return {
            onPeople: processor.learn,
            onStanza: (kind, stanza) => {
              if (kind === "group") groups.onNotification(stanza)
            },
            groupMetadata: groups.metadata,
            onOpened: Effect.fnUntraced(function*(opened) {
              yield* live.register(owned.id, opened)
              processor.wake()
              yield* groups.onOpened
            })
          }
        })
      })
    })
  ).pipe(Layer.provide([InboxRepo.layer, ContactsRepo.layer, GroupsRepo.layer]))
}
