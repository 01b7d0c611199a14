import type { SealedColumn } from "../../platform/crypto/SealedColumn.ts"
import { WebhookId } from "../../values/Ids.ts"

/**
 * What a webhook's sealed secrets belong to: none opens in another row. The previous one has the same name, so that a
 * rotation moves its bytes from column to column within one statement.
 */
export const sealedSecret = (id: WebhookId): string => `webhooks:${id}:secret`

/** The present secret first: what a rotation moves to the previous one meanwhile is met there. */
export const secretColumns: ReadonlyArray<SealedColumn> = ["secret", "previous_secret"].map((column) => ({
  table: "webhooks",
  column,
  key: [["id", "bigint"]],
  parts: ["id"],
  what: (id) => sealedSecret(WebhookId.make(Number(id)))
}))
