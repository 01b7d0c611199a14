/** What the page of an account says to each role, drawn without a server. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Account } from "../../src/accounts/Account.ts"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { AccountSettings } from "../../src/accounts/AccountSettings.ts"
import { Messages } from "../../src/console/language/Messages.ts"
import type { AccountAsk } from "../../src/console/page/Ask.ts"
import { accountPages } from "../../src/console/pages/settings/AccountPages.ts"
import { OwnCalls } from "../../src/platform/calls/OwnCalls.ts"
import { allows, type Role } from "../../src/values/Permission.ts"

const [settings] = accountPages

const account: Partial<Account> = { name: "Shop", email: "shop@example.com", pending_email: null }

const notifications = {
  email_alerts: true,
  usage_warnings: false,
  weekly_digest: true,
  security_alerts: false,
  marketing_emails: false
}

interface Reader {
  readonly role?: Role
  readonly mode?: "live" | "test"
  readonly pending?: string
}

const drawn = ({ mode = "live", pending, role = "owner" }: Reader = {}) =>
  Effect.gen(function*() {
    const t = yield* Effect.flatMap(Messages, (messages) => messages.in("en"))
    // The page reads no more of a person and an account than this.
    const ask = {
      t,
      mode,
      path: "/console/7/settings",
      attempt: undefined,
      seal: () => ({ token: "token", once: "once" }),
      signedIn: { is_fresh: true, person: { account_id: 7 } },
      account: { id: 7, role },
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    } as unknown as AccountAsk
    const services = Layer.mergeAll(
      Layer.mock(OwnCalls)({}),
      Layer.mock(Accounts)({
        find: () => Effect.succeedSome({ ...account, pending_email: pending ?? null } as Account)
      }),
      Layer.mock(AccountSettings)({ notifications: () => Effect.succeed(notifications) })
    )
    const { content } = yield* Effect.provide(settings.show(ask), services)
    return content.markup
  })

it.layer(Messages.layer)("the page of an account", (it) => {
  it.effect("has its name, its address and its mails in three forms for a person who may change them", () =>
    Effect.gen(function*() {
      const markup = yield* drawn()
      assert.strictEqual(markup.match(/<form method="post" class="form"/g)?.length, 3)
      assert.match(markup, /name="name"[^>]* value="Shop"/)
      assert.match(markup, /type="email"[^>]* value="shop@example.com"/)
      const on = [...markup.matchAll(/name="(\w+)"[^>]* checked/g)].map(([, name]) => name)
      assert.deepStrictEqual(on, ["email_alerts", "weekly_digest"])
      assert.include(markup, "href=\"/console/7/settings/delete\"")
    }))

  it.effect("says that a new address waits, and offers to keep the present one", () =>
    Effect.gen(function*() {
      const markup = yield* drawn({ pending: "new@example.com" })
      assert.match(markup, /The new address <code dir="ltr">new@example.com<\/code> is not confirmed yet\./)
      assert.match(markup, /class="inline".*name="email" value="shop@example.com"><button>Keep the present address/s)
      assert.match(markup, /type="email"[^>]* value="new@example.com"/)
    }))

  it.effect("shows the same without forms to a role that may not change it", () =>
    Effect.gen(function*() {
      for (const role of ["developer", "support"] as const) {
        const markup = yield* drawn({ role })
        assert.include(markup, "shop@example.com")
        assert.include(markup, "Alerts, Weekly summary")
        assert.notMatch(markup, /<form|\/delete/)
      }
    }))

  it.effect("leaves the address and the deletion out for an admin, who may change the rest", () =>
    Effect.gen(function*() {
      const markup = yield* drawn({ role: "admin" })
      assert.strictEqual(markup.match(/<form method="post" class="form"/g)?.length, 2)
      assert.notMatch(markup, /type="email"|\/delete/)
    }))

  it.effect("leads from test mode to the same page of live mode, and has no form there", () =>
    Effect.gen(function*() {
      const markup = yield* drawn({ mode: "test" })
      assert.include(markup, "<a href=\"/console/7/settings\">Change them in live mode.</a>")
      assert.notInclude(markup, "<form")
    }))
})
