import { OpenApi } from "effect/http-api"
import { AuthApi } from "../accounts/AuthApi.ts"
import { ApiKeysApi } from "../api-keys/ApiKeysApi.ts"
import { BulkEmailApi } from "../channels/email/BulkEmailApi.ts"
import { contractRoot } from "../platform/http/contractRoot.ts"
import { WebhooksApi } from "../webhooks/WebhooksApi.ts"

/** The whole HTTP contract. A new group of endpoints is one line here. */
export class Api extends contractRoot
  .add(AuthApi)
  .add(ApiKeysApi)
  .add(BulkEmailApi)
  .add(WebhooksApi)
  .annotateMerge(OpenApi.annotations({
    title: "Messaging Service",
    version: "1.0.0",
    description: "Self-hosted messaging: bulk email goes out, signed events come back.",
    license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" }
  }))
{}
