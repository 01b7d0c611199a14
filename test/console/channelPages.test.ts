/** What the pages of webhooks, WhatsApp sessions and domains say, drawn without a server. */
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option, Stream } from "effect"
import type { ApiKey } from "../../src/api-keys/ApiKey.ts"
import { ApiKeys } from "../../src/api-keys/ApiKeys.ts"
import { BulkEmail } from "../../src/channels/email/bulk/BulkEmail.ts"
import type { Suppression } from "../../src/channels/email/suppressions/Suppression.ts"
import { Suppressions } from "../../src/channels/email/suppressions/Suppressions.ts"
import { SmsOutlet } from "../../src/channels/sms/parts/SmsOutlet.ts"
import { SmsLinks } from "../../src/channels/sms/SmsLinks.ts"
import { SmsStatistics } from "../../src/channels/sms/SmsStatistics.ts"
import { Contacts } from "../../src/channels/whatsapp/directory/Contacts.ts"
import { type Group, GroupId } from "../../src/channels/whatsapp/directory/Group.ts"
import { Groups } from "../../src/channels/whatsapp/directory/Groups.ts"
import { Media } from "../../src/channels/whatsapp/inbox/Media.ts"
import type { SessionDetail, SessionFigures } from "../../src/channels/whatsapp/model/Session.ts"
import { OutboxFigures } from "../../src/channels/whatsapp/outbox/OutboxFigures.ts"
import { Sessions } from "../../src/channels/whatsapp/sessions/Sessions.ts"
import { Messages } from "../../src/console/language/Messages.ts"
import type { Refused } from "../../src/console/page/Action.ts"
import type { AccountAsk } from "../../src/console/page/Ask.ts"
import type { AccountPage } from "../../src/console/page/Page.ts"
import { attemptOf } from "../../src/console/page/refusals.ts"
import { keysPages } from "../../src/console/pages/develop/KeysPages.ts"
import { requestsPages } from "../../src/console/pages/develop/RequestsPages.ts"
import { domainsPages } from "../../src/console/pages/email/DomainsPages.ts"
import { suppressionsPages } from "../../src/console/pages/email/SuppressionsPages.ts"
import { batchesPages } from "../../src/console/pages/messages/BatchesPages.ts"
import { smsPage } from "../../src/console/pages/sms/SmsPage.ts"
import { verifyPages } from "../../src/console/pages/verify/VerifyPages.ts"
import { deliveriesPage } from "../../src/console/pages/webhooks/DeliveriesPage.ts"
import { recoverPage } from "../../src/console/pages/webhooks/RecoverPage.ts"
import { webhookFormPages } from "../../src/console/pages/webhooks/WebhookFormPages.ts"
import { webhookPage } from "../../src/console/pages/webhooks/WebhookPage.ts"
import { webhooksPages } from "../../src/console/pages/webhooks/WebhooksPages.ts"
import { chatPage } from "../../src/console/pages/whatsapp/ChatPage.ts"
import { contactsPage } from "../../src/console/pages/whatsapp/ContactsPage.ts"
import { groupsPages } from "../../src/console/pages/whatsapp/GroupsPages.ts"
import { sessionChangePages } from "../../src/console/pages/whatsapp/SessionChangePages.ts"
import { sessionPage } from "../../src/console/pages/whatsapp/SessionPage.ts"
import { sessionsPages } from "../../src/console/pages/whatsapp/SessionsPages.ts"
import { DomainRegistrations } from "../../src/email-domains/DomainRegistrations.ts"
import type { EmailDomain } from "../../src/email-domains/EmailDomain.ts"
import { warningsOf } from "../../src/email-domains/warningsOf.ts"
import { AllMessages } from "../../src/history/AllMessages.ts"
import type { Message, MessageBatch } from "../../src/messages/Message.ts"
import { Messages as ChannelMessages } from "../../src/messages/Messages.ts"
import { type Call, OwnCalls } from "../../src/platform/calls/OwnCalls.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { Database } from "../../src/platform/database/Database.ts"
import { UpstreamOutages } from "../../src/platform/work/UpstreamOutages.ts"
import { Prices } from "../../src/pricing/Prices.ts"
import { Requests } from "../../src/requests/Requests.ts"
import {
  ApiKeyId,
  EmailDomainId,
  MessageBatchId,
  MessageId,
  WebhookId,
  WhatsAppSessionId
} from "../../src/values/Ids.ts"
import { allows, type Role } from "../../src/values/Permission.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"
import { Verifications } from "../../src/verify/Verifications.ts"
import { SandboxReceivers } from "../../src/webhooks/endpoint/SandboxReceiver.ts"
import type { Webhook } from "../../src/webhooks/endpoint/Webhook.ts"
import { Deliveries } from "../../src/webhooks/history/Deliveries.ts"
import { WebhookFigures } from "../../src/webhooks/history/WebhookFigures.ts"
import type { AttemptFigures } from "../../src/webhooks/history/WebhookStatistics.ts"
import { Recoveries } from "../../src/webhooks/Recoveries.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"

const at = Timestamp.make("2026-05-03T22:30:00.000000Z")

interface Reader {
  readonly role?: Role
  readonly trial?: "none" | "running"
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  readonly language?: "en" | "ar"
}

/** A request of a person in an account, for the thing with id 5. */
const askOf = ({ language = "en", params = { id: "5" }, query = "", role = "owner", trial = "none" }: Reader) =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in(language)), (t) =>
    // The pages read no more of a person and an account than this.
    ({
      t,
      timezone: "Africa/Kigali",
      hourCycle: "h23",
      params,
      query: new URLSearchParams(query),
      path: "/console/7/x/5",
      attempt: undefined,
      isUpdate: false,
      since: undefined,
      seal: () => ({ token: "token", once: "once" }),
      account: { id: 7, trial },
      signedIn: { person: { id: 1 } },
      accountId: 7,
      mode: "live",
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    }) as unknown as AccountAsk)

const shownBy = <R>(page: AccountPage<R>, reader: Reader) => Effect.flatMap(askOf(reader), (ask) => page.show(ask))

const drawn = <R>(page: AccountPage<R>, reader: Reader = {}) =>
  Effect.gen(function*() {
    const { buttons, content } = yield* shownBy(page, reader)
    return `${buttons === undefined || buttons === false ? "" : buttons.markup}${content.markup}`
  })

const webhook: Webhook = {
  id: WebhookId.make(5),
  url: "https://shop.example/hooks",
  events: ["message.*", "email.sent"],
  secret: "whsec_abcdef",
  is_active: true,
  status: "active",
  unhealthy_reason: null,
  failure_count: 0,
  retry_policy: "standard",
  channels: [],
  tags: [],
  headers: {},
  created_at: at
}

const key: ApiKey = {
  id: ApiKeyId.make(8),
  name: "Shop",
  key_prefix: "sk_live_abcd",
  mode: "live",
  scopes: [],
  permissions: [],
  expires_at: null,
  created_at: at,
  last_used_at: null,
  last_used_ip: null,
  last_used_endpoint: null,
  requests: { succeeded: 0, refused: 0, failed: 0 },
  rotated_at: null,
  is_active: true
}

const figures: AttemptFigures = { succeeded: 996, failed: 4, p95_ms: 430, waiting: 2, oldest_waiting_at: at }

const withFigures = Layer.mock(WebhookFigures)({
  of: () => Effect.succeed({ ...figures, hours: [{ at, succeeded: 996, failed: 4 }] }),
  ofEach: (_, ids) => Effect.succeed(new Map(ids.map((id) => [id, figures])))
})

/** Drawing a page sends no form. */
const noCalls = Layer.mock(OwnCalls)({})

const withWebhook = (shown: Webhook) =>
  Layer.mergeAll(
    noCalls,
    withFigures,
    Layer.mock(Webhooks)({
      find: () => Effect.succeed(shown),
      list: () => Effect.succeed({ rows: [shown], total: 1 })
    }),
    Layer.mock(Deliveries)({ list: () => Effect.succeed({ rows: [], total: 0 }) }),
    Layer.mock(SandboxReceivers)({ find: () => Effect.succeedNone })
  )

const session: SessionDetail = {
  id: WhatsAppSessionId.make(5),
  session_key: "wa_1",
  name: "Support <phone>",
  status: "pending",
  phone_number: null,
  created_at: at,
  messages_count: 0,
  reason: null,
  connected_at: null
}

/** The limits of the settings, and what a session has sent. */
const withSending = (sent: Partial<SessionFigures> = {}, limits = { perDay: 1_000, perMinute: 30 }) =>
  Layer.mock(OutboxFigures)({
    limits,
    most: 1_000,
    ofEach: (_, ids) => {
      const figures = { status_since: at, reason: null, last_minute: 3, last_day: 12, queued: 7, ...sent }
      return Effect.succeed(new Map(ids.map((id) => [id, figures])))
    }
  })

const withSession = (shown: SessionDetail) =>
  Layer.mergeAll(
    noCalls,
    withSending({ reason: shown.reason }),
    Layer.mock(Sessions)({
      list: () => Effect.succeed({ rows: [shown], total: 1 }),
      states: () => Effect.succeed([{ since: at, status: shown.status, reason: shown.reason }]),
      find: () => Effect.succeed(shown),
      qr: () => Effect.succeed({ qr_code: "data:image/png;base64,AAAA", expires_at: at })
    })
  )

/** A message to a group. */
const groupMessage: Message = {
  id: MessageId.make(1),
  channel: "whatsapp",
  session_id: 5,
  direction: "in",
  from: null,
  to: "",
  type: "text",
  content: null,
  status: "received",
  error_code: null,
  error_message: null,
  segments: null,
  cost_usd: null,
  batch_id: null,
  failover_id: null,
  mode: "live",
  send_at: null,
  tags: [],
  metadata: {},
  sent_at: at,
  delivered_at: null,
  read_at: null,
  failed_at: null,
  created_at: at
}

/** A session with so many contacts and groups. */
const withDirectory = (contacts: number | null, groups: number | null) =>
  Layer.mergeAll(
    Layer.mock(Sessions)({ find: () => Effect.succeed(session) }),
    Layer.mock(Contacts)({ list: () => Effect.succeed({ rows: [], total: contacts }) }),
    Layer.mock(Groups)({ list: () => Effect.succeed({ rows: [], total: groups }) })
  )

it.layer(Messages.layer)("the pages of webhooks", (it) => {
  it.effect("an unhealthy webhook says why, what was skipped, and how to enable it", () =>
    Effect.gen(function*() {
      const broken = { ...webhook, is_active: false, status: "unhealthy" as const, unhealthy_reason: "gone" as const }
      const markup = yield* Effect.provide(drawn(webhookPage), withWebhook(broken))
      assert.include(markup, "410 Gone")
      assert.include(markup, "skipped deliveries")
      assert.include(markup, "value=\"enable\"")
      assert.notInclude(markup, "value=\"disable\"")
    }))

  it.effect("the form of a webhook keeps patterns and old names that are no choice, until a person removes them", () =>
    Effect.gen(function*() {
      const [, edit] = webhookFormPages
      const events = ["email.*", "sms.sent", "message.sent"]
      const markup = yield* Effect.provide(drawn(edit), withWebhook({ ...webhook, events }))
      const checked = [...markup.matchAll(/name="events" value="([^"]*)" checked/g)].map(([, value]) => value)
      assert.deepStrictEqual(checked.toSorted(), events.toSorted())
    }))

  it.effect("the URL of a webhook is its title from left to right, also in Arabic", () =>
    Effect.gen(function*() {
      const titles = yield* Effect.forEach(["en", "ar"] as const, (language) =>
        Effect.map(shownBy(webhookPage, { language }), ({ title }) => title))
      assert.deepStrictEqual(titles, [webhook.url, `\u2066${webhook.url}\u2069`])
    }).pipe(Effect.provide(withWebhook(webhook))))

  it.effect("the list and the page show the success of 24 hours, the answer time, and what waits since when", () =>
    Effect.gen(function*() {
      for (const page of [webhooksPages[0], webhookPage]) {
        const markup = yield* drawn(page)
        for (const text of ["99.6%", "430 ms", "Waiting", "Succeeded: 996", "Failed: 4", `<time datetime="${at}"`]) {
          assert.include(markup, text, page.path)
        }
      }
      assert.include(yield* drawn(webhookPage), "aria-label=\"Attempts by hour. Succeeded: 996, Failed: 4\"")
    }).pipe(Effect.provide(withWebhook(webhook))))

  it.effect("the list shows unhealthy webhooks above all others", () =>
    Effect.gen(function*() {
      const rows = [
        { ...webhook, url: "https://off.example", status: "disabled" as const },
        { ...webhook, url: "https://fine.example" },
        { ...webhook, url: "https://broken.example", status: "unhealthy" as const }
      ]
      const listed = Layer.mergeAll(
        noCalls,
        withFigures,
        Layer.mock(Webhooks)({ list: () => Effect.succeed({ rows, total: 3 }) })
      )
      const markup = yield* Effect.provide(drawn(webhooksPages[0]), listed)
      const found = [...markup.matchAll(/https:\/\/(\w+)\.example/g)].map(([, name]) => name)
      assert.deepStrictEqual([...new Set(found)], ["broken", "fine", "off"])
    }))

  it.effect("a reader who may not change webhooks sees no button that does", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(webhookPage, { role: "support" }), withWebhook(webhook))
      assert.notInclude(markup, "<form")
      assert.notInclude(markup, "/delete")
    }))

  it.effect("an account on trial reads that webhooks are part of a paid plan, and has no button for a new one", () =>
    Effect.gen(function*() {
      const list = drawn(webhooksPages[0], { trial: "running" })
      const markup = yield* Effect.provide(list, withWebhook(webhook))
      assert.include(markup, "part of a paid plan")
      assert.notInclude(markup, "/webhooks/new")
    }))
})

it.layer(Messages.layer)("the pages of WhatsApp sessions and domains", (it) => {
  it.effect("an unpaired session shows its code until it ends", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(sessionPage), withSession(session))
      assert.include(markup, "src=\"data:image/png;base64,AAAA\"")
      assert.include(markup, "at 00:30:00")
    }))

  it.effect("a reader who may not pair phones never sees the code", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(sessionPage, { role: "support" }), withSession(session))
      assert.notInclude(markup, "data:image")
      assert.include(markup, "Ask an owner or an admin")
    }))

  it.effect("a session whose code ran out offers a new one", () =>
    Effect.gen(function*() {
      const over = { ...session, status: "failed" as const, reason: "qr_expired" as const }
      const markup = yield* Effect.provide(drawn(sessionPage), withSession(over))
      assert.include(markup, "Show a new code")
      assert.notInclude(markup, "<img")
    }))

  const connected: SessionDetail = { ...session, status: "connected", phone_number: "15550100300", connected_at: at }

  it.effect("the list of sessions says since when and why, and how much of the limits is used", () =>
    Effect.gen(function*() {
      const lost = { ...connected, status: "disconnected" as const, reason: "connection_lost" as const }
      const markup = yield* Effect.provide(drawn(sessionsPages[0]), withSession(lost))
      assert.include(markup, `since <time datetime="${at}"`)
      assert.include(markup, ": connection lost")
      for (const text of ["12 of 1,000", "3 of 30", "<span>7</span>"]) assert.include(markup, text)
    }))

  it.effect("a session says what its limits leave, and leads to the messages that wait", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(sessionPage), withSession(connected))
      for (const text of ["27 of 30", "988 of 1,000", "/send?channel=whatsapp&amp;session_id=5\""]) {
        assert.include(markup, text)
      }
      assert.include(markup, "/messages?channel=whatsapp&amp;session_id=5&amp;status=queued\">7</a>")
    }))

  it.effect("a session shows its past states with their reasons", () =>
    Effect.gen(function*() {
      const lost = { ...connected, status: "disconnected" as const, reason: "replaced" as const }
      const markup = yield* Effect.provide(drawn(sessionPage), withSession(lost))
      const [, history = ""] = markup.split("<h2 id=\"history\">")
      for (const text of [`<time datetime="${at}"`, ">reconnecting</span>", "used by another program"]) {
        assert.include(history, text)
      }
    }))

  it.effect("the page of SMS waits for the link to the carrier without a page's place, and has the share delivered of each country", () =>
    Effect.gen(function*() {
      let isAside = false
      const settings = ConfigProvider.fromUnknown({
        SMTP_URL: "sandbox",
        SMS_PROVIDER: "smpp",
        SMPP_URL: "smpp://test:secret@127.0.0.1:2775",
        WHATSAPP_URL: "sandbox"
      })
      const services = SmsLinks.layer.pipe(Layer.provideMerge([
        AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(settings))),
        Layer.mock(UpstreamOutages)({ current: Effect.succeed([]) }),
        Layer.mock(Prices)({
          fresh: () => undefined,
          current: Effect.succeed({ rows: [], updatedAt: at, micros: new Map() })
        }),
        Layer.mock(SmsStatistics)({
          read: () =>
            Effect.succeed({
              messages: 6,
              since: at,
              by_country: [
                { country: "RW", delivered: 3, failed: 1, pending: 1, delivery_rate: 0.75 },
                { country: null, delivered: 0, failed: 0, pending: 1, delivery_rate: null }
              ]
            })
        }),
        Layer.mock(SmsOutlet)({
          takes: "segments",
          link: Effect.sync(() =>
            Option.some({
              status: isAside ? "bound" : "unbound",
              since: at,
              window: 7,
              rate: 40,
              max_rate: 40,
              last_error: null
            })
          )
        }),
        Layer.mock(Database)({
          waitWithoutConnection: (wait) =>
            Effect.acquireUseRelease(
              Effect.sync(() => void (isAside = true)),
              () => wait,
              () => Effect.sync(() => void (isAside = false))
            )
        })
      ]))
      const markup = yield* Effect.provide(drawn(smsPage), services)
      for (const text of [">connected</span>", "counted: 6<", "Rwanda", ">75%<", ">–<"]) assert.include(markup, text)
    }))

  it.effect("a session without limits says so, and its counts end at their most", () =>
    Effect.gen(function*() {
      const busy = withSending({ last_day: 1_000, queued: 1_000 }, { perDay: 0, perMinute: 0 })
      const markup = yield* Effect.provide(drawn(sessionPage), Layer.merge(withSession(connected), busy))
      assert.strictEqual(markup.match(/no limit/g)?.length, 2)
      assert.strictEqual(markup.match(/at least 1,000/g)?.length, 2)
    }))

  it.effect("a session that sent more than a smaller limit allows has nothing left", () =>
    Effect.gen(function*() {
      const over = withSending({ last_minute: 40 })
      const markup = yield* Effect.provide(drawn(sessionPage), Layer.merge(withSession(connected), over))
      assert.include(markup, "<dd>0 of 30</dd>")
    }))

  it.effect("the check of a number says whether WhatsApp knows it, and leads to what can be sent to it", () =>
    Effect.gen(function*() {
      const phone = "+5511987654321"
      const checked = (data: { readonly is_whatsapp_user: boolean | null; readonly whatsapp_id: string | null }) =>
        Effect.gen(function*() {
          const calls = Layer.mergeAll(
            withDirectory(0, 0),
            Layer.mock(OwnCalls)({
              call: () => Effect.succeed({ status: 200, body: { data: { phone, ...data } }, isReplayed: false })
            })
          )
          const ask = yield* askOf({})
          const [action] = contactsPage.actions
          const next = yield* Effect.provide(
            action?.run(new URLSearchParams({ phone }), ask) ?? Effect.die("none"),
            calls
          )
          return next._tag === "Show" ? `${next.page.title} ${next.page.content.markup}` : ""
        })
      const known = yield* checked({ is_whatsapp_user: true, whatsapp_id: "551187654321@s.whatsapp.net" })
      for (
        const text of [`${phone} is on WhatsApp`, ">+551187654321<", "/send?channel=whatsapp&amp;session_id=5&amp;to="]
      ) {
        assert.include(known, text)
      }
      const unknown = yield* checked({ is_whatsapp_user: false, whatsapp_id: null })
      assert.include(unknown, `${phone} is not on WhatsApp`)
      assert.include(unknown, "/send?channel=sms&amp;to=%2B5511987654321\"")
      const silent = yield* checked({ is_whatsapp_user: null, whatsapp_id: null })
      assert.include(silent, `WhatsApp did not answer about ${phone}`)
      assert.notInclude(silent, "/send?")
    }))

  it.effect("an empty number is asked for as one that is missing, and not as another endpoint", () =>
    Effect.gen(function*() {
      const ask = yield* askOf({})
      const paths = ["", "..", "+1 / 2"].map((phone) =>
        contactsPage.actions[0]?.callOf?.(new URLSearchParams({ phone }), ask).path
      )
      assert.deepStrictEqual(
        paths,
        ["%20", "%20", "%2B1%20%2F%202"].map((phone) => `/v1/whatsapp/contacts/${phone}/check?session_id=5`)
      )
    }))

  const group: Group = {
    id: GroupId.make(9),
    session_id: session.id,
    name: "Team",
    description: null,
    participants: [
      { phone: "+15550100300", role: "superadmin" },
      { phone: "+15550100301", role: "member" },
      { phone: null, role: "member" }
    ],
    participant_count: 3,
    invite_link: "https://chat.whatsapp.com/abc",
    created_at: at
  }

  const drawnGroup = (shown: SessionDetail, found: Group, role: Role = "owner") =>
    Effect.provide(
      drawn(groupsPages[2], { role, params: { id: "5", group_id: "9" } }),
      Layer.merge(withSession(shown), Layer.mock(Groups)({ find: () => Effect.succeed(found) }))
    )

  it.effect("a group has its invitation link to copy, and every participant but the session itself can be removed", () =>
    Effect.gen(function*() {
      const markup = yield* drawnGroup(connected, group)
      assert.include(markup, "data-copy=\"https://chat.whatsapp.com/abc\"")
      assert.include(markup, "this session")
      const removals = [...markup.matchAll(/href="([^"]*\/remove\/[^"]*)"/g)].map(([, href]) => href)
      assert.deepStrictEqual(removals, ["/console/7/whatsapp/5/groups/9/remove/%2B15550100301"])
      assert.include(markup, "/console/7/whatsapp/5/groups/9/add\"")
    }))

  it.effect("the chat of a group says who wrote, and keeps the reactions of each member", () =>
    Effect.gen(function*() {
      const chat = "120363000000000001@g.us"
      const from = (id: number, sender: string | null, content: Message["content"], type = "text"): Message => ({
        ...groupMessage,
        id: MessageId.make(id),
        from: sender,
        to: chat,
        type,
        content
      })
      const reaction = (id: number, sender: string | null, emoji: string) =>
        from(id, sender, { body: emoji, message_id: 1, emoji }, "reaction")
      const rows = [
        from(1, "+15550100301", { body: "Who comes?" }),
        from(2, null, { body: "I do." }),
        reaction(3, "+15550100302", "👍"),
        reaction(4, "+15550100303", "🎉"),
        reaction(5, "+15550100304", "❤"),
        reaction(6, "+15550100304", ""),
        { ...reaction(7, null, "🙏"), direction: "out" as const }
      ]
      const markup = yield* Effect.provide(
        drawn(chatPage, { params: { id: "5", phone: chat } }),
        Layer.mergeAll(
          withSession(session),
          Layer.mock(ChannelMessages)({ list: () => Effect.succeed({ rows: rows.toReversed(), total: rows.length }) }),
          Layer.mock(Media)({ kept: () => Effect.succeed(new Set()) })
        )
      )
      const [first = "", second = ""] = markup.split("<li ").slice(1)
      assert.include(first, "<bdi>+15550100301</bdi> · ")
      assert.include(first, "<bdi>👍 🎉 🙏</bdi>")
      assert.include(second, "hidden by WhatsApp</span> · ")
    }))

  it.effect("a group is not changed without a connection, without the role, or by a member who is no admin", () =>
    Effect.gen(function*() {
      const member = { ...group, participants: group.participants.map((one) => ({ ...one, role: "member" as const })) }
      assert.notMatch(yield* drawnGroup({ ...connected, status: "disconnected" }, group), /\/remove\/|\/add"/)
      assert.notMatch(yield* drawnGroup(connected, group, "support"), /\/remove\/|\/add"/)
      assert.notInclude(yield* drawnGroup(connected, member), "/remove/")
    }))

  it.effect("a group that shows no invitation link says who sees it", () =>
    Effect.gen(function*() {
      const markup = yield* drawnGroup(connected, { ...group, invite_link: null })
      assert.include(markup, "WhatsApp shows the link only to admins")
    }))

  it.effect("numbers of a new group may stand in lines or between commas, with spaces in them", () =>
    Effect.gen(function*() {
      const ask = yield* askOf({})
      const bodies = ["+1 555 010 0300, 15550100301\r\n\r\n(1) 555-0100302\r\n", ""].map((participants) =>
        groupsPages[1].actions[0]?.callOf?.(new URLSearchParams({ name: "Team", participants }), ask).body
      )
      assert.deepStrictEqual(
        bodies,
        [
          ["+1 555 010 0300", "15550100301", "(1) 555-0100302"],
          [""]
        ].map((participants) => ({ session_id: 5, name: "Team", description: null, participants }))
      )
    }))

  /** A domain whose key was not published. */
  const withDomain = (
    { value = "", ...domain }: Partial<Pick<EmailDomain, "track_clicks" | "warnings">> & { readonly value?: string }
  ) =>
    Layer.merge(
      noCalls,
      Layer.mock(DomainRegistrations)({
        checked: () =>
          Effect.succeed({
            domain: {
              id: EmailDomainId.make(5),
              domain: "example.com",
              status: "pending",
              dns_records: [{ type: "TXT", name: "api._domainkey.example.com", value, purpose: "DKIM" }],
              warnings: [],
              track_opens: false,
              track_clicks: false,
              checked_at: at,
              created_at: at,
              ...domain
            },
            check: [{ purpose: "DKIM", status: "mismatch", found: ["p=<b>old"], detail: "Replace it." }]
          })
      })
    )

  it.effect("a domain has its warnings in the reader's language", () =>
    Effect.gen(function*() {
      const warnings = warningsOf([{ purpose: "DMARC", status: "missing", found: [], detail: "" }])
      const english = yield* Effect.provide(drawn(domainsPages[2]), withDomain({ warnings }))
      assert.include(english, "<h2 id=\"warnings\">To improve</h2>")
      assert.include(english, "There is no DMARC policy.")
      const arabic = yield* Effect.provide(drawn(domainsPages[2], { language: "ar" }), withDomain({ warnings }))
      assert.notInclude(arabic, "There is no DMARC policy.")
      const without = yield* Effect.provide(drawn(domainsPages[2]), withDomain({}))
      assert.notInclude(without, "To improve")
    }))

  it.effect("a domain has switches of its tracking, which send both values", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(domainsPages[2]), withDomain({ track_clicks: true }))
      const boxes = [...markup.matchAll(/<input type="checkbox" value="on" id="f-(\w+)"[^>]*?( checked)?>/g)]
      assert.deepStrictEqual(boxes.map(([, name, isOn]) => [name, isOn !== undefined]), [
        ["track_opens", false],
        ["track_clicks", true]
      ])
      const reader = yield* Effect.provide(drawn(domainsPages[2], { role: "support" }), withDomain({}))
      assert.notInclude(reader, "track_opens")
      const track = domainsPages[2].actions.find(({ name }) => name === "track")
      const call = track?.callOf?.(new URLSearchParams({ track_opens: "on" }), yield* askOf({}))
      assert.deepStrictEqual(call, {
        method: "PUT",
        path: "/v1/email/domains/5",
        body: { track_opens: true, track_clicks: false }
      })
    }))

  it.effect("each record of a domain says what DNS has, and both forms of its name", () =>
    Effect.gen(function*() {
      const value = `k=rsa;p=${"A".repeat(300)}`
      const markup = yield* Effect.provide(drawn(domainsPages[2]), withDomain({ value }))
      assert.include(markup, "p=&lt;b&gt;old")
      assert.include(markup, "Replace it.")
      assert.include(markup, "<code dir=\"ltr\">api._domainkey</code>")
      // A text of DNS has parts of at most 255 bytes.
      const zone = `&quot;${value.slice(0, 255)}&quot; &quot;${value.slice(255)}&quot;`
      assert.include(markup, `api._domainkey.example.com. 3600 IN TXT ${zone}`)
    }))
})

const suppression: Suppression = { email: "a/b@example.com", reason: "bounce", source_message_id: null, created_at: at }

/** Endpoints that answer each call with success. Each call is noted. */
const answering = (made: Array<Call>) =>
  Layer.mock(OwnCalls)({
    call: (_, call) =>
      Effect.sync(() => {
        made.push(call)
        const body = call.method === "DELETE"
          ? { success: true, data: null, meta: { request_id: "", timestamp: at } }
          : { success: true, data: { ...suppression, added: 1, existing: 0 } }
        return { status: 200, body, isReplayed: false }
      })
  })

const withRows = Layer.mergeAll(
  withWebhook(webhook),
  withSending(),
  Layer.mock(Sessions)({
    find: () => Effect.succeed(session),
    list: () => Effect.succeed({ rows: [session], total: 1 })
  }),
  Layer.mock(Contacts)({ list: () => Effect.succeed({ rows: [], total: 0 }) }),
  Layer.mock(Suppressions)({
    list: () => Effect.succeed({ rows: [suppression], total: 1 }),
    find: () => Effect.succeed(suppression)
  }),
  Layer.mock(Verifications)({ list: () => Effect.succeed({ rows: [], total: 0 }) }),
  Layer.mock(Recoveries)({
    list: () => Effect.succeed({ rows: [], total: 0 }),
    preview: () =>
      Effect.succeed({ total: 0, is_total_exact: true, order: "event", per_second: null, estimated_end_at: null })
  })
)

/** A page over these rows. */
const overRows = <R>(page: AccountPage<R>, reader: Reader) => Effect.provide(shownBy(page, reader), withRows)

it.layer(Messages.layer)("lists", (it) => {
  it.effect("behind the first page lead to the newest rows, and do not call these the newer ones", () =>
    Effect.gen(function*() {
      const reader = { query: "cursor=WzVd" }
      const shown = [
        yield* overRows(sessionsPages[0], reader),
        yield* overRows(suppressionsPages[0], reader),
        yield* overRows(webhooksPages[0], reader),
        yield* overRows(deliveriesPage, reader)
      ]
      for (const { content: { markup }, title } of shown) {
        assert.include(markup, ">Newest</a>", title)
        assert.notInclude(markup, "rel=\"prev\"", title)
      }
    }))

  it.effect("keep their filter when a suppression is removed", () =>
    Effect.gen(function*() {
      const [list, make, , remove] = suppressionsPages
      const { content } = yield* overRows(list, { query: "reason=bounce" })
      assert.include(content.markup, "/suppressions/a%2Fb%40example.com/remove?reason=bounce\"")
      const reader = { query: "reason=bounce", params: { email: suppression.email } }
      const confirmation = yield* overRows(remove, reader)
      assert.include(confirmation.content.markup, "href=\"/console/7/suppressions?reason=bounce\"")
      const ask = yield* askOf(reader)
      const answers = Layer.merge(withRows, answering([]))
      for (const action of [...make.actions, ...remove.actions]) {
        const next = yield* Effect.provide(action.run(new URLSearchParams(), ask), answers)
        assert.deepInclude(next, { to: "/console/7/suppressions?reason=bounce" }, action.name)
      }
    }))

  it.effect("have a command that asks for the rows that the page shows", () =>
    Effect.gen(function*() {
      const [suppressions] = suppressionsPages
      const span = "since=2026-05-03T10:00&until=2026-05-03T12:00&status=failed"
      const shown = [
        yield* overRows(suppressions, {}),
        yield* overRows(suppressions, { query: "reason=bounce&email=Ada@shop.example" }),
        yield* overRows(webhookPage, {}),
        yield* overRows(deliveriesPage, { query: "status=failed&response_code=5xx&message=email/12" }),
        yield* overRows(contactsPage, {}),
        yield* overRows(contactsPage, { query: "q=Ada+%26+Bob" }),
        yield* overRows(recoverPage, { query: span }),
        yield* overRows(recoverPage, { query: `${span}&event=email.sent&response_code=5xx` })
      ]
      assert.deepStrictEqual(shown.map(({ curl }) => curl), [
        "/v1/email/suppressions",
        "/v1/email/suppressions?email=Ada%40shop.example&reason=bounce",
        "/v1/webhooks/5",
        "/v1/webhooks/5/deliveries?message=email%2F12&status=failed&response_code=5xx",
        "/v1/whatsapp/contacts?session_id=5",
        "/v1/whatsapp/contacts?session_id=5&q=Ada%20%26%20Bob",
        "/v1/webhooks/5/recover?since=2026-05-03T08%3A00%3A00.000Z&until=2026-05-03T10%3A00%3A00.000Z&status=failed",
        "/v1/webhooks/5/recover?since=2026-05-03T08%3A00%3A00.000Z&until=2026-05-03T10%3A00%3A00.000Z&status=failed&event=email.sent&response_code=5xx"
      ])
    }))

  it.effect("have fields for a time in the reader's zone, or in that of the address", () =>
    Effect.gen(function*() {
      const of = (query: string) => overRows(verifyPages[0], { query })
      const own = yield* of("from_date=2026-05-03T10:00&to_date=2026-05-03T12:00:30")
      const from = "from_date=2026-05-03T08%3A00%3A00.000Z"
      assert.strictEqual(own.curl, `/v1/verify/status?${from}&to_date=2026-05-03T10%3A00%3A30.000Z`)
      const field = (time: string) =>
        `<input type="datetime-local" id="filter-from_date" name="from_date" value="${time}" step="any"`
      assert.include(own.content.markup, field("2026-05-03T10:00"))
      assert.include(own.content.markup, `name="to_date" value="2026-05-03T12:00:30"`)
      assert.include(own.content.markup, "<bdi>May 3, 2026, 10:00</bdi>")
      assert.include(own.content.markup, "name=\"zone\" value=\"Africa/Kigali\"")
      const other = yield* of("from_date=2026-05-03T10:00&zone=America/New_York")
      assert.include(other.content.markup, field("2026-05-03T16:00"))
      const instant = yield* of("from_date=2026-05-03T10:00:05.123Z&zone=America/New_York")
      assert.include(instant.content.markup, field("2026-05-03T12:00:05.123"))
      const wrong = yield* of("from_date=2026-05-03T10:00&to_date=2026-05-03T25:00&zone=Mars")
      assert.include(wrong.content.markup, "was ignored: from_date, to_date.")
    }))

  it.effect("of requests have a field for the key, with the keys of the mode", () =>
    Effect.gen(function*() {
      const row = (id: number, mode: "live" | "test") => ({ ...key, id: ApiKeyId.make(id), name: `Key ${id}`, mode })
      const { content } = yield* Effect.provide(
        shownBy(requestsPages[0], { query: "key_id=8" }),
        Layer.merge(
          Layer.mock(Requests)({ list: () => Effect.succeed([]) }),
          Layer.mock(ApiKeys)({ list: () => Effect.succeed([row(8, "live"), row(9, "test")]) })
        )
      )
      assert.include(content.markup, "<option value=\"8\" selected>Key 8</option>")
      assert.include(content.markup, "<span>API key: <bdi>Key 8</bdi></span>")
      assert.notInclude(content.markup, "Key 9")
    }))

  it.effect("of keys lead from refused and failed requests to the log of the key's mode", () =>
    Effect.gen(function*() {
      const row = (id: number, mode: "live" | "test") => ({
        ...key,
        id: ApiKeyId.make(id),
        mode,
        requests: { succeeded: 3, refused: 2, failed: 1 }
      })
      const { content } = yield* Effect.provide(
        shownBy(keysPages[0], {}),
        Layer.mock(ApiKeys)({ list: () => Effect.succeed([row(8, "live"), row(9, "test")]) })
      )
      const links = [...content.markup.matchAll(/href="([^"]*\/requests\?[^"]*)"/g)].map(([, href]) => href)
      assert.deepStrictEqual(links, [
        "/console/7/requests?key_id=8&status=4xx",
        "/console/7/requests?key_id=8&status=5xx",
        "/console/7/test/requests?key_id=9&status=4xx",
        "/console/7/test/requests?key_id=9&status=5xx"
      ])
    }))

  it.effect("of deliveries lead to a replay with the same filter, unless a replay does not have it", () =>
    Effect.gen(function*() {
      const links = yield* Effect.forEach(
        [
          "event=email.sent&response_code=5xx",
          "status=failed&from_date=2026-05-03T10:00&to_date=2026-05-03T12:00",
          "status=skipped",
          "status=delivered",
          "status=failed&message=email/12",
          ""
        ],
        (query) =>
          Effect.map(
            overRows(deliveriesPage, { query }),
            ({ buttons }) => /recover\?([^"]*)/.exec(String(buttons && buttons.markup))?.[1]
          )
      )
      assert.deepStrictEqual(links, [
        "event=email.sent&amp;response_code=5xx&amp;since=2026-05-04T00%3A30&amp;zone=Africa%2FKigali",
        "status=failed&amp;since=2026-05-03T10%3A00&amp;until=2026-05-03T12%3A00&amp;zone=Africa%2FKigali",
        "status=skipped&amp;since=2026-05-04T00%3A30&amp;zone=Africa%2FKigali",
        undefined,
        undefined,
        undefined
      ])
    }))

  it.effect("of replays mean the same time to readers in other zones", () =>
    Effect.gen(function*() {
      const query = "since=2026-05-03T10:00&until=2026-05-03T12:00&zone=America/New_York"
      const { content, curl } = yield* overRows(recoverPage, { query })
      const span = "since=2026-05-03T14%3A00%3A00.000Z&until=2026-05-03T16%3A00%3A00.000Z"
      assert.strictEqual(curl, `/v1/webhooks/5/recover?${span}`)
      assert.include(content.markup, "name=\"since\" value=\"2026-05-03T16:00\"")
      assert.include(content.markup, "name=\"until\" value=\"2026-05-03T18:00\"")
      assert.include(content.markup, "name=\"zone\" value=\"Africa/Kigali\"")
    }))

  it.effect("of replays refuse to count a filter that does not exist", () =>
    Effect.gen(function*() {
      for (const query of ["event=nothing", "response_code=9"]) {
        const { content } = yield* overRows(recoverPage, { query })
        assert.include(content.markup, "This filter does not exist.", query)
      }
      const { content } = yield* overRows(recoverPage, { query: "event=email.sent" })
      assert.include(content.markup, "No delivery matches this filter.")
    }))

  it.effect("of codes have a search that its label tells from the search for everything", () =>
    Effect.gen(function*() {
      const { content } = yield* overRows(verifyPages[0], { query: "status=pending" })
      assert.include(content.markup, "role=\"search\" aria-label=\"Filter\"")
    }))
})

it.layer(Messages.layer)("the list of suppressions", (it) => {
  it.effect("is exported as CSV to its last row, with the same filter", () =>
    Effect.gen(function*() {
      const all = Array.from({ length: 1001 }, (_, index) => ({ ...suppression, email: `=${index}@example.com` }))
      const asked: Array<unknown> = []
      const layer = Layer.mock(Suppressions)({
        list: (_, { reason }, { after, limit }) =>
          Effect.sync(() => {
            asked.push(reason)
            const start = after === null ? 0 : all.findIndex(({ email }) => email === after[1]) + 1
            return { rows: all.slice(start, start + limit), total: all.length }
          })
      })
      const { file } = yield* Effect.provide(
        shownBy(suppressionsPages[0], { query: "reason=bounce&format=csv" }),
        Layer.merge(noCalls, layer)
      )
      assert.strictEqual(file?.name, "suppressions.csv")
      const lines = yield* Stream.runCollect(file?.lines ?? Stream.empty)
      assert.strictEqual(lines.length, 1 + all.length)
      assert.deepStrictEqual(lines.slice(0, 2), [
        "email,reason,source_message_id,created_at\r\n",
        `"'=0@example.com",bounce,,${at}\r\n`
      ])
      assert.deepStrictEqual(asked, ["bounce", "bounce"])
    }))

  it.effect("imports the first column of a file in parts of at most 500 addresses", () =>
    Effect.gen(function*() {
      const lines = Array.from({ length: 501 }, (_, index) => `"a${index}@example.com",bounce,,${at}`)
      const emails = ["email,reason,source_message_id,created_at", "\"'+1@example.com\",bounce", "", ...lines].join(
        "\r\n"
      )
      const made: Array<Call> = []
      const [importing] = suppressionsPages[2].actions
      const ask = yield* askOf({ query: "reason=manual" })
      const run = (text: string) =>
        Effect.provide(
          importing?.run(new URLSearchParams({ emails: text, _once: "x" }), ask) ?? Effect.die("none"),
          answering(made)
        )
      assert.deepInclude(yield* run(emails), { to: "/console/7/suppressions?reason=manual" })
      assert.deepStrictEqual(made.map(({ once }) => once), ["x-2", "x-1"])
      const sent = made.map(({ body }) => (body as { readonly emails: ReadonlyArray<string> }).emails)
      assert.deepStrictEqual(sent.map(({ length }) => length), [500, 2])
      assert.deepStrictEqual(sent[0]?.slice(0, 2), ["+1@example.com", "a0@example.com"])
      const refused = yield* Effect.flip(run("ada@example.com\nbob"))
      assert.deepInclude(refused, { reason: "Nothing was imported: bob is not an email address." })
      assert.strictEqual(made.length, 2)
    }))

  it.effect("that is longer than a minute allows is imported by sending the form again", () =>
    Effect.gen(function*() {
      const [importing] = suppressionsPages[2].actions
      if (importing === undefined) return yield* Effect.die("none")
      const ask = yield* askOf({})
      const taken: Array<string> = []
      let allowed = 2
      const calls = Layer.mock(OwnCalls)({
        call: (_, { body }) =>
          Effect.sync(() => {
            if (allowed === 0) {
              const error = { type: "rate_limit_exceeded", message: "Too many requests", limit: 2, retry_after: 30 }
              return { status: 429, body: { success: false, error }, isReplayed: false }
            }
            allowed--
            taken.push(...(body as { readonly emails: ReadonlyArray<string> }).emails)
            return { status: 200, body: { success: true, data: { added: 1, existing: 0 } }, isReplayed: false }
          })
      })
      const run = (form: URLSearchParams) => Effect.provide(importing.run(form, ask), calls)
      const all = Array.from({ length: 1500 }, (_, index) => `a${index}@example.com`)
      const form = new URLSearchParams({ emails: all.join("\r\n") })
      const refused = yield* Effect.flip(run(form))
      const attempt = attemptOf(ask.t, { action: importing, form }, refused as Refused)
      const { content: { markup } } = yield* Effect.provide(suppressionsPages[2].show({ ...ask, attempt }), noCalls)
      assert.include(markup, "1,000 of 1,500 addresses were imported. The list now has the others.")
      assert.include(markup, "<textarea id=\"f-emails\"")
      assert.include(markup, "\na1000@example.com\na1001@example.com\n")
      assert.notInclude(markup, "a999@example.com")
      allowed = 2
      assert.deepInclude(yield* run(attempt.form), { to: "/console/7/suppressions" })
      assert.deepStrictEqual(taken, all)
    }))

  it.effect("finds one address within a reason", () =>
    Effect.gen(function*() {
      const none = Layer.merge(
        noCalls,
        Layer.mock(Suppressions)({ list: () => Effect.succeed({ rows: [], total: 0 }) })
      )
      const query = "reason=bounce&email=ada@example.com"
      const markup = yield* Effect.provide(drawn(suppressionsPages[0], { query }), none)
      assert.include(markup, "This address is not suppressed.")
      assert.include(markup, "name=\"email\" value=\"ada@example.com\"")
      assert.include(markup, "type=\"hidden\" name=\"reason\" value=\"bounce\"")
    }))
})

it.layer(Messages.layer)("the page of a batch", (it) => {
  it.effect("says how many of its messages were canceled one by one", () =>
    Effect.gen(function*() {
      const batch: MessageBatch = {
        batch_id: MessageBatchId.make("sms_batch_01M8M1WCM9X3B4BDTT8E7ZS72X"),
        status: "completed",
        total: 9,
        queued: 0,
        sent: 7,
        failed: 0,
        suppressed: 0,
        canceled: 2,
        mode: "live",
        tags: [],
        metadata: {},
        send_at: null,
        created_at: at,
        started_at: at,
        completed_at: at,
        resent_as: null
      }
      const [, one] = batchesPages
      const said = (shown: MessageBatch) =>
        Effect.provide(
          drawn(one, { params: { channel: "sms", id: batch.batch_id } }),
          Layer.mergeAll(
            noCalls,
            Layer.mock(ChannelMessages)({ batch: () => Effect.succeed(shown) }),
            Layer.mock(BulkEmail)({}),
            Layer.mock(AllMessages)({})
          )
        )
      assert.include(yield* said(batch), "2 messages were canceled. All others were sent.")
      assert.include(yield* said({ ...batch, sent: 9, canceled: 0 }), "Every message was sent.")
      assert.include(yield* said({ ...batch, sent: 6, queued: 1 }), "1 message is left.")
    }))
})

it.layer(Messages.layer)("a deletion that cannot be undone", (it) => {
  const typedName = <R>({ actions }: AccountPage<R>) =>
    Effect.gen(function*() {
      const ask = yield* askOf({})
      const made: Array<Call> = []
      const run = (typed: string) =>
        Effect.provide(
          Effect.forEach(actions, (one) => one.run(new URLSearchParams({ named: "shop.example", typed }), ask)),
          answering(made)
        )
      const refused = yield* Effect.flip(run("shop.exampl"))
      assert.deepInclude(refused, { status: 422, reason: "Type the name exactly as it is shown above." })
      assert.deepStrictEqual(made, [])
      yield* run(" shop.example ")
      assert.deepStrictEqual(made.map(({ method }) => method), ["DELETE"])
    })

  it.effect("needs the typed name of the domain", () =>
    Effect.provide(typedName(domainsPages[3]), Layer.mock(DomainRegistrations)({})))

  it.effect("needs the typed name of the session", () =>
    Effect.provide(typedName(sessionChangePages[4]), withDirectory(0, 0)))

  it.effect("of a session names the contacts and groups that it deletes, and their numbers", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(
        drawn(sessionChangePages[4]),
        Layer.merge(noCalls, withDirectory(1234, null))
      )
      assert.include(markup, "the contacts and the groups with their participants")
      assert.include(markup, "<dt>Contacts</dt><dd>1,234</dd>")
      assert.include(markup, "<dt>Groups</dt><dd>at least 100,000</dd>")
    }))
})
