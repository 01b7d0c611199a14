import { dataKeyColumn } from "../channels/whatsapp/credentials/DataKey.ts"
import { dkimKeyColumn } from "../email-domains/EmailDomains.ts"
import { keyringColumn } from "../platform/crypto/MacKeys.ts"
import { probeColumn } from "../platform/crypto/MainKeyProbe.ts"
import { idempotencyColumn } from "../platform/http/Idempotency.ts"
import * as WebhookSecret from "../webhooks/endpoint/WebhookSecret.ts"

/** Every column of the database that the vault seals. What is not here is lost with the previous main key. */
export const sealedColumns = {
  columns: [keyringColumn, ...WebhookSecret.sealedColumns, dkimKeyColumn, dataKeyColumn, idempotencyColumn],
  /** Rewrapped once nothing else is left. */
  last: probeColumn
}
