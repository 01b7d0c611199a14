import type { WebhookId } from "../values/Ids.ts"

/** What a webhook's sealed secret belongs to: it does not open in another row. */
export const sealedSecret = (id: WebhookId): string => `webhooks:${id}:secret`
