import { Effect } from "effect"
import type { Credentials } from "../../src/channels/whatsapp/credentials/CredentialStore.ts"
import type { Decrypted } from "../../src/channels/whatsapp/credentials/Journal.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"

const nameOf = (type: string, key: string) => `${type}|${key}`

/** A session's credentials in memory, with the journaled messages. Reads fail while `isAway` is true. */
export const memoryCredentials = () => {
  const values = new Map<string, Uint8Array>()
  const state = { isAway: false, journaled: new Array<Decrypted>() }
  const credentials: Credentials = {
    dataKey: new Uint8Array(32),
    owned: { id: WhatsAppSessionId.make(1), epoch: 1 },
    get: (type, keys) =>
      Effect.suspend(() =>
        state.isAway
          ? Effect.die(new Error("the database is away"))
          : Effect.succeed(
            new Map(keys.flatMap((key) => {
              const value = values.get(nameOf(type, key))
              return value === undefined ? [] : [[key, value] as const]
            }))
          )
      ),
    set: (entries, messages = []) =>
      Effect.sync(() => {
        for (const { key, type, value } of entries) {
          if (value === null) values.delete(nameOf(type, key))
          else values.set(nameOf(type, key), value)
        }
        state.journaled.push(...messages)
      })
  }
  return { credentials, state }
}
