import type { Notice } from "../../accounts/Notice.ts"
import type { AccountId, WebhookId } from "../../values/Ids.ts"

/** Told when the secret of a webhook was changed: whoever has the new one can sign events. */
export const secretRotatedNotice = (accountId: AccountId, id: WebhookId): Notice => ({
  accountId,
  kind: "webhook_secret_rotated",
  subject: `The secret of webhook ${id} was changed`,
  body: `Webhook ${id} has a new signing secret. Give it to the endpoint before the overlap ends.\n\n`
    + `If it was not you, rotate it again (POST /v1/webhooks/${id}/rotate-secret) and revoke the API keys that you do not `
    + "know (GET /v1/api-keys)."
})
