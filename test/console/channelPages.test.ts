/** What the pages of webhooks, WhatsApp sessions and domains say, drawn without a server. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { SessionDetail } from "../../src/channels/whatsapp/model/Session.ts"
import { Sessions } from "../../src/channels/whatsapp/sessions/Sessions.ts"
import { Messages } from "../../src/console/language/Messages.ts"
import type { AccountAsk } from "../../src/console/page/Ask.ts"
import type { AccountPage } from "../../src/console/page/Page.ts"
import { domainsPages } from "../../src/console/pages/email/DomainsPages.ts"
import { webhookPage } from "../../src/console/pages/webhooks/WebhookPage.ts"
import { webhooksPages } from "../../src/console/pages/webhooks/WebhooksPages.ts"
import { sessionsPages } from "../../src/console/pages/whatsapp/SessionsPages.ts"
import { DomainRegistrations } from "../../src/email-domains/DomainRegistrations.ts"
import { OwnCalls } from "../../src/platform/calls/OwnCalls.ts"
import { EmailDomainId, WebhookId, WhatsAppSessionId } from "../../src/values/Ids.ts"
import { allows, type Role } from "../../src/values/Permission.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"
import { SandboxReceivers } from "../../src/webhooks/endpoint/SandboxReceiver.ts"
import type { Webhook } from "../../src/webhooks/endpoint/Webhook.ts"
import { Deliveries } from "../../src/webhooks/history/Deliveries.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"

const at = Timestamp.make("2026-05-03T22:30:00.000000Z")

interface Reader {
  readonly role?: Role
  readonly trial?: "none" | "running"
}

/** A request of a person in an account, for the thing with id 5. */
const askOf = ({ role = "owner", trial = "none" }: Reader) =>
  Effect.map(Effect.flatMap(Messages, (messages) => messages.in("en")), (t) =>
    // The pages read no more of a person and an account than this.
    ({
      t,
      timezone: "Africa/Kigali",
      hourCycle: "h23",
      params: { id: "5" },
      query: new URLSearchParams(),
      path: "/console/7/x/5",
      attempt: undefined,
      seal: () => ({ token: "token", once: "once" }),
      account: { id: 7, trial },
      accountId: 7,
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    }) as unknown as AccountAsk)

const drawn = <R>(page: AccountPage<R>, reader: Reader = {}) =>
  Effect.gen(function*() {
    const { buttons, content } = yield* page.show(yield* askOf(reader))
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

/** Drawing a page sends no form. */
const noCalls = Layer.mock(OwnCalls)({})

const withWebhook = (shown: Webhook) =>
  Layer.mergeAll(
    noCalls,
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

const withSession = (shown: SessionDetail) =>
  Layer.merge(
    noCalls,
    Layer.mock(Sessions)({
      find: () => Effect.succeed(shown),
      qr: () => Effect.succeed({ qr_code: "data:image/png;base64,AAAA", expires_at: at })
    })
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

  it.effect("the list shows unhealthy webhooks above all others", () =>
    Effect.gen(function*() {
      const rows = [
        { ...webhook, url: "https://off.example", status: "disabled" as const },
        { ...webhook, url: "https://fine.example" },
        { ...webhook, url: "https://broken.example", status: "unhealthy" as const }
      ]
      const listed = Layer.merge(noCalls, Layer.mock(Webhooks)({ list: () => Effect.succeed({ rows, total: 3 }) }))
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
      const markup = yield* Effect.provide(drawn(sessionsPages[2]), withSession(session))
      assert.include(markup, "src=\"data:image/png;base64,AAAA\"")
      assert.include(markup, "at 00:30:00")
    }))

  it.effect("a reader who may not pair phones never sees the code", () =>
    Effect.gen(function*() {
      const markup = yield* Effect.provide(drawn(sessionsPages[2], { role: "support" }), withSession(session))
      assert.notInclude(markup, "data:image")
      assert.include(markup, "Ask an owner or an admin")
    }))

  it.effect("a session whose code ran out offers a new one", () =>
    Effect.gen(function*() {
      const over = { ...session, status: "failed" as const, reason: "qr_expired" as const }
      const markup = yield* Effect.provide(drawn(sessionsPages[2]), withSession(over))
      assert.include(markup, "Show a new code")
      assert.notInclude(markup, "<img")
    }))

  it.effect("each record of a domain says what DNS has, and both forms of its name", () =>
    Effect.gen(function*() {
      const value = `k=rsa;p=${"A".repeat(300)}`
      const layer = Layer.mock(DomainRegistrations)({
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
              created_at: at
            },
            check: [{ purpose: "DKIM", status: "mismatch", found: ["p=<b>old"], detail: "Replace it." }]
          })
      })
      const markup = yield* Effect.provide(drawn(domainsPages[2]), Layer.merge(noCalls, layer))
      assert.include(markup, "p=&lt;b&gt;old")
      assert.include(markup, "Replace it.")
      assert.include(markup, "<code dir=\"ltr\">api._domainkey</code>")
      // A text of DNS has parts of at most 255 bytes.
      const zone = `&quot;${value.slice(0, 255)}&quot; &quot;${value.slice(255)}&quot;`
      assert.include(markup, `api._domainkey.example.com. 3600 IN TXT ${zone}`)
    }))
})
