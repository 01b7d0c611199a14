import { randomBytes } from "node:crypto"
import type { SealedColumn } from "../../../platform/crypto/SealedColumn.ts"
import type { Vault } from "../../../platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../../values/Ids.ts"

/** What a session's sealed data key belongs to. */
export const sealedDataKey = (id: WhatsAppSessionId): string => `whatsapp_sessions:${id}:data_key`

/** The data keys of sessions, as they are kept. All else of a session's credentials is encrypted under them. */
export const dataKeyColumn: SealedColumn = {
  table: "whatsapp_sessions",
  column: "data_key",
  key: [["id", "bigint"]],
  parts: ["id"],
  what: (id) => sealedDataKey(WhatsAppSessionId.make(Number(id)))
}

/** What an encrypted value is bound to, so that none can be put in another's place. */
export const placeOf = (id: WhatsAppSessionId, type: string, key: string): string => `${id}|${type}|${key}`

/** A new data key, sealed: what was encrypted under the one before opens no more. */
export const newDataKey = (vault: Vault["Service"], id: WhatsAppSessionId): Uint8Array =>
  vault.seal(sealedDataKey(id), randomBytes(32))
