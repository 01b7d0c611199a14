import { noticeColumn } from "../../accounts/notices/SealedNotices.ts"
import { dataKeyColumn } from "../../channels/whatsapp/credentials/DataKey.ts"
import { dkimKeyColumn } from "../../email-domains/EmailDomains.ts"
import { authenticatorColumn } from "../../people/SecondFactors.ts"
import { keyringColumn } from "../../platform/crypto/MacKeys.ts"
import { probeColumn } from "../../platform/crypto/MainKey.ts"
import { idempotencyColumn } from "../../platform/http/Idempotency.ts"
import * as WebhookSecret from "../../webhooks/endpoint/WebhookSecret.ts"

/**
 * All sealed columns of the database. A column that is missing here becomes unreadable when the previous main key goes.
 */
export const sealedColumns = {
  columns: [
    keyringColumn,
    ...WebhookSecret.sealedColumns,
    dkimKeyColumn,
    dataKeyColumn,
    idempotencyColumn,
    noticeColumn,
    authenticatorColumn
  ],
  /** Rewrapped after all others. */
  last: probeColumn
}
