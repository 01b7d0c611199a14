import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createSecretKey } from "node:crypto"
import { Events } from "../../src/events/Events.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { MacKeys } from "../../src/platform/crypto/MacKeys.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import * as Query from "../../src/platform/database/Query.ts"
import { TestWork } from "../../src/platform/work/TestWork.ts"
import { eventsWith } from "../support/testEvents.ts"

/** Records events in the transaction that publishes them. */
export const RecordedEvents = Layer.effect(
  Events,
  Effect.map(SqlClient.SqlClient, (sql) =>
    eventsWith((events) =>
      Effect.forEach(
        events,
        ({ data, event }) =>
          Query.run(sql`insert into simulation.published values (${event}, ${JSON.stringify(data)})`),
        { discard: true }
      )
    ))
)

/** The settings of every node. WhatsApp messages have no rate limit. */
const values = {
  WHATSAPP_PER_MINUTE: "0",
  WHATSAPP_PER_DAY: "0",
  WHATSAPP_PAUSE_MIN_MS: "0",
  WHATSAPP_PAUSE_MAX_MS: "0"
}

export const Settings = AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(values))))

/** No test accounts. */
export const NoTests = Layer.succeed(TestWork, TestWork.of({ begins: Effect.never, note: () => {} }))

const mainKey = new Uint8Array(32).fill(7)
const key = createSecretKey(mainKey)

export const TestVault = Vault.layer(Redacted.make(mainKey))

/** A vault in which this is every secret, whatever the database has. */
export const vaultOf = (secret: Buffer) =>
  Layer.effect(
    Vault,
    Effect.map(Vault, (vault) => Vault.of({ ...vault, open: () => Effect.succeed(secret) }))
  ).pipe(Layer.provide(TestVault))

export const Keys = Layer.succeed(
  MacKeys,
  MacKeys.of({
    unsubscribe: key,
    bounce: key,
    tracking: key,
    confirm: key,
    verify: key,
    sandbox: key,
    receiver: key,
    cursor: key,
    recipient: key,
    console: key
  })
)
