import { Context, Effect, Layer, Option } from "effect"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { makeCredentialsRepo } from "../credentials/CredentialsRepo.ts"
import { sealedDataKey } from "../credentials/DataKey.ts"
import { ContactsRepo } from "../directory/ContactsRepo.ts"
import { GroupsRepo } from "../directory/GroupsRepo.ts"
import { LiveSockets } from "../socket/LiveSockets.ts"
import type { TrafficPart } from "../socket/MessageTraffic.ts"
import * as GroupTraffic from "./GroupTraffic.ts"
import * as InboxProcessor from "./InboxProcessor.ts"
import { InboxRepo } from "./InboxRepo.ts"

/** The inbound half of a connection: messages, group notifications and people. */
export class InboundTraffic extends Context.Service<InboundTraffic, TrafficPart>()(
  "messaging-service/channels/whatsapp/inbox/InboundTraffic"
) {
  static readonly layer = Layer.effect(
    InboundTraffic,
    Effect.gen(function*() {
      const vault = yield* Vault
      const credentials = yield* makeCredentialsRepo
      const live = yield* LiveSockets
      const startProcessor = yield* InboxProcessor.make
      const startGroups = yield* GroupTraffic.make

      return InboundTraffic.of({
        attach: Effect.fnUntraced(function*(owned) {
          const row = yield* retryWhileUnavailable(Effect.orDie(credentials.dataKey(owned)))
          if (Option.isNone(row)) return {}
          const dataKey = yield* Effect.orDie(vault.open(sealedDataKey(owned.id), row.value.data_key))
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
