import type { RouteName } from "../../platform/http/Allowed.ts"
import type { AccountAsk } from "../page/Ask.ts"
import type { AnyPage } from "../page/Page.ts"
import type { Place } from "../ui/layout.ts"
import { keysPages } from "./develop/KeysPages.ts"
import { requestsPages } from "./develop/RequestsPages.ts"
import { sandboxPages } from "./develop/SandboxPage.ts"
import { pairPage } from "./doors/PairPage.ts"
import { passwordPages } from "./doors/PasswordPages.ts"
import { setupPage } from "./doors/SetupPage.ts"
import { signInPages } from "./doors/SignInPages.ts"
import { domainsPages } from "./email/DomainsPages.ts"
import { suppressionsPages } from "./email/SuppressionsPages.ts"
import { templatesPages } from "./email/TemplatesPages.ts"
import { templateVersionsPages } from "./email/TemplateVersionsPages.ts"
import { findPage } from "./find/FindPage.ts"
import { batchesPages } from "./messages/BatchesPages.ts"
import { failoverPage } from "./messages/FailoverPage.ts"
import { filePage } from "./messages/FilePage.ts"
import { messagePages } from "./messages/MessagePage.ts"
import { messagesPage } from "./messages/MessagesPage.ts"
import { messageWaitPages } from "./messages/MessageWaitPages.ts"
import { sendPage } from "./messages/SendPage.ts"
import { sourcePage } from "./messages/SourcePage.ts"
import { overviewPage } from "./overview/OverviewPage.ts"
import { usagePage } from "./overview/UsagePage.ts"
import { accountPages } from "./settings/AccountPages.ts"
import { confirmPage } from "./settings/ConfirmPage.ts"
import { factorPages } from "./settings/FactorPages.ts"
import { profilePage } from "./settings/ProfilePage.ts"
import { securityPage } from "./settings/SecurityPage.ts"
import { smsPage } from "./sms/SmsPage.ts"
import { verifyPages } from "./verify/VerifyPages.ts"
import { deliveriesPage } from "./webhooks/DeliveriesPage.ts"
import { deliveryPage } from "./webhooks/DeliveryPage.ts"
import { recoverPage } from "./webhooks/RecoverPage.ts"
import { webhookFormPages } from "./webhooks/WebhookFormPages.ts"
import { webhookPage } from "./webhooks/WebhookPage.ts"
import { webhooksPages } from "./webhooks/WebhooksPages.ts"
import { chatPage } from "./whatsapp/ChatPage.ts"
import { contactsPage } from "./whatsapp/ContactsPage.ts"
import { groupsPages } from "./whatsapp/GroupsPages.ts"
import { sessionChangePages } from "./whatsapp/SessionChangePages.ts"
import { sessionPage } from "./whatsapp/SessionPage.ts"
import { sessionsPages } from "./whatsapp/SessionsPages.ts"

const list = [
  setupPage,
  ...signInPages,
  ...passwordPages,
  pairPage,
  confirmPage,
  profilePage,
  securityPage,
  ...factorPages,
  overviewPage,
  usagePage,
  ...accountPages,
  messagesPage,
  ...messagePages,
  sourcePage,
  failoverPage,
  ...messageWaitPages,
  ...batchesPages,
  sendPage,
  ...templatesPages,
  ...templateVersionsPages,
  ...domainsPages,
  ...suppressionsPages,
  ...sessionsPages,
  sessionPage,
  ...sessionChangePages,
  contactsPage,
  ...groupsPages,
  chatPage,
  filePage,
  smsPage,
  ...verifyPages,
  ...webhooksPages,
  ...webhookFormPages,
  webhookPage,
  recoverPage,
  deliveriesPage,
  deliveryPage,
  ...keysPages,
  ...requestsPages,
  findPage((): ReadonlyArray<Place> => places),
  ...sandboxPages
] as const

type ServicesOf<P> = P extends AnyPage<infer R> ? R : never

/** What the pages read with. */
export type Services = ServicesOf<(typeof list)[number]>

/** Every page of the console. The navigation, the routes and the contract test come from this list. */
export const pages: ReadonlyArray<AnyPage<Services>> = list

/** The pages of the navigation. */
export const places: ReadonlyArray<Place> = pages.flatMap(({ entry, path, permission }) =>
  entry === undefined ? [] : [{ ...entry, path, permission }]
)

/** The paths of a page. The router ignores a final slash. */
export const pathsOf = (
  { kind, path }: Pick<AnyPage<never>, "kind" | "path">
): ReadonlyArray<readonly [path: `/${string}`, mode: AccountAsk["mode"]]> =>
  kind === "account"
    ? [[`/console/:account${path}`, "live"], [`/console/:account/test${path}`, "test"]]
    : [[`/console${path}`, "live"]]

/** The routes of the console, for the answers to wrong methods. */
export const consoleRoutes: ReadonlyArray<RouteName> = [
  { method: "GET", path: "/console/assets/:name" },
  ...pages.flatMap((page) =>
    pathsOf(page).flatMap(([path]) => [
      { method: "GET", path },
      ...(page.actions.length > 0 ? [{ method: "POST", path }] : [])
    ])
  )
]
