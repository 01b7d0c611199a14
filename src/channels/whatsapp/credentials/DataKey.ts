import { randomBytes } from "node:crypto"
import type { SealedColumn, Vault } from "../../../platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"

/** The place that a session's sealed data key is bound to. */
export const dataKeyPlace = (id: WhatsAppSessionId): string => `whatsapp_sessions:${id}:data_key`

/** The column of the sealed data keys. Each encrypts all other secrets of its session. */
export const dataKeyColumn: SealedColumn = {
  table: "whatsapp_sessions",
  column: "data_key",
  key: [["id", "bigint"]],
  parts: ["id"],
  what: (id) => dataKeyPlace(WhatsAppSessionId.make(Number(id)))
}

/** The place that an encrypted value is bound to, so that it cannot be moved to another row. */
export const placeOf = (id: WhatsAppSessionId, type: string, key: string): string => `${id}|${type}|${key}`

/** A new sealed data key. Values encrypted under the previous one can no longer be opened. */
export const newDataKey = (vault: Vault["Service"], id: WhatsAppSessionId): Uint8Array =>
  vault.seal(dataKeyPlace(id), randomBytes(32))
