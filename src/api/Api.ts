import { HttpApi, OpenApi } from "effect/http-api"
import { AccountApi } from "../accounts/AccountApi.ts"
import { AuthApi } from "../accounts/AuthApi.ts"
import { PeopleApi } from "../accounts/PeopleApi.ts"
import { ApiKeysApi } from "../api-keys/ApiKeysApi.ts"
import { BulkEmailApi } from "../channels/email/bulk/BulkEmailApi.ts"
import { EmailApi } from "../channels/email/single/EmailApi.ts"
import { SuppressionsApi } from "../channels/email/suppressions/SuppressionsApi.ts"
import { PhoneApi } from "../channels/sms/PhoneApi.ts"
import { SmsApi } from "../channels/sms/SmsApi.ts"
import { contentSchemas } from "../channels/whatsapp/content/MessageContent.ts"
import { ContactsApi } from "../channels/whatsapp/directory/ContactsApi.ts"
import { GroupsApi } from "../channels/whatsapp/directory/GroupsApi.ts"
import { MediaApi } from "../channels/whatsapp/inbox/MediaApi.ts"
import { MessagesApi } from "../channels/whatsapp/outbox/MessagesApi.ts"
import { SessionsApi } from "../channels/whatsapp/sessions/SessionsApi.ts"
import { EmailDomainsApi } from "../email-domains/EmailDomainsApi.ts"
import { FailoversApi } from "../failovers/FailoversApi.ts"
import { HistoryApi } from "../history/HistoryApi.ts"
import { SandboxFaultsApi } from "../messages/SandboxFaultsApi.ts"
import { SandboxMessagesApi } from "../messages/SandboxMessagesApi.ts"
import { OverviewApi } from "../overview/OverviewApi.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { PricingApi } from "../pricing/PricingApi.ts"
import { RequestsApi } from "../requests/RequestsApi.ts"
import { TemplatesApi } from "../templates/TemplatesApi.ts"
import { UsageApi } from "../usage/UsageApi.ts"
import { VerifyApi } from "../verify/VerifyApi.ts"
import { openApiWebhooks } from "../webhooks/openApiWebhooks.ts"
import { RecoveriesApi } from "../webhooks/RecoveriesApi.ts"
import { SandboxReceiverApi } from "../webhooks/SandboxReceiverApi.ts"
import { WebhooksApi } from "../webhooks/WebhooksApi.ts"

/** The whole HTTP contract. A new group of endpoints adds a line here. */
export class Api extends baseContract
  .add(AuthApi)
  .add(AccountApi)
  .add(PeopleApi)
  .add(UsageApi)
  .add(OverviewApi)
  .add(ApiKeysApi)
  .add(RequestsApi)
  .add(HistoryApi)
  .add(EmailApi)
  .add(BulkEmailApi)
  .add(SuppressionsApi)
  .add(PricingApi)
  .add(SmsApi)
  .add(PhoneApi)
  .add(VerifyApi)
  .add(FailoversApi)
  .add(TemplatesApi)
  .add(EmailDomainsApi)
  .add(SessionsApi)
  .add(MessagesApi)
  .add(MediaApi)
  .add(ContactsApi)
  .add(GroupsApi)
  .add(WebhooksApi)
  .add(RecoveriesApi)
  .add(SandboxMessagesApi)
  .add(SandboxReceiverApi)
  .add(SandboxFaultsApi)
  .annotate(HttpApi.AdditionalSchemas, contentSchemas)
  .annotate(OpenApi.Override, { webhooks: openApiWebhooks })
  .annotateMerge(OpenApi.annotations({
    title: "Messaging Service",
    version: "1.0.0",
    description: "Self-hosted messaging: email, SMS and WhatsApp go out, signed events come back.",
    license: { name: "GPL-3.0-or-later", identifier: "GPL-3.0-or-later" }
  }))
{}
