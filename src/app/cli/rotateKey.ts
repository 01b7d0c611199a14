import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { MainVault } from "../../platform/crypto/MainKey.ts"
import { rotateMainKey } from "../../platform/crypto/rotateMainKey.ts"
import { Database, DatabaseAddress } from "../../platform/database/Database.ts"
import { sealedColumns } from "../sealedColumns.ts"

/** The database with the MAC keys written down, as nothing may be derived from the previous key afterwards. */
const Services = MacKeys.layer.pipe(
  Layer.provideMerge(MainVault),
  Layer.provideMerge(Database.layer),
  Layer.provide(DatabaseAddress.layer),
  Layer.provide(NodeServices.layer)
)

/** Brings every stored secret under ENCRYPTION_KEY, beside running nodes. */
export const rotateKey = Command.make("rotate-key", {}, () =>
  Effect.gen(function*() {
    const { encryptionKeyPrevious } = yield* AppConfig
    yield* MacKeys
    const total = yield* rotateMainKey(sealedColumns, (column, count) => Console.log(`${column}: ${count}`))
    yield* Console.log(`Stored secrets brought under ENCRYPTION_KEY: ${total}; none is left under another key.`)
    if (encryptionKeyPrevious !== undefined) yield* Console.log("ENCRYPTION_KEY_PREVIOUS can be removed now.")
  }).pipe(Effect.provide(Services))).pipe(
    Command.withDescription("Bring every stored secret under ENCRYPTION_KEY, from ENCRYPTION_KEY_PREVIOUS")
  )
