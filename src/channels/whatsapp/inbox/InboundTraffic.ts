import { Effect, Option } from "effect"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { makeCredentialsRepo } from "../credentials/CredentialsRepo.ts"
import { sealedDataKey } from "../credentials/DataKey.ts"
import { LiveSockets } from "../socket/LiveSockets.ts"
import type { TrafficPart } from "../socket/SessionTraffic.ts"
import { makeGroupTraffic } from "./GroupTraffic.ts"
import { makeInboxWorker } from "./InboxProcessor.ts"

/** What comes in over a connection: messages, news of groups and of people. */
export const makeInboundPart = Effect.gen(function*() {
  const vault = yield* Vault
  const credentials = yield* makeCredentialsRepo
  const live = yield* LiveSockets
  const startWorker = yield* makeInboxWorker
  const startGroups = yield* makeGroupTraffic

  const part: TrafficPart = {
    attach: Effect.fnUntraced(function*(owned) {
      const row = yield* retryWhileUnavailable(Effect.orDie(credentials.dataKey(owned)))
      if (Option.isNone(row)) return {}
      const dataKey = yield* Effect.orDie(vault.open(sealedDataKey(owned.id), row.value.data_key))
      const socket = () => live.get(owned.id)
      const worker = yield* startWorker({ owned, dataKey, socket })
      const groups = yield* startGroups({ owned, dataKey, socket, hear: worker.hear })
      return {
        onPeople: worker.hear,
        onStanza: (kind, stanza) => {
          if (kind === "group") groups.onNotification(stanza)
        },
        groupMetadata: groups.metadata,
        onOpened: Effect.fnUntraced(function*(opened) {
          yield* live.register(owned.id, opened)
          worker.wake()
          yield* groups.onOpened
        })
      }
    })
  }
  return part
})
