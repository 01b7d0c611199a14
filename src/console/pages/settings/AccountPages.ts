import { DateTime, Effect, Option, Struct } from "effect"
import type { Account, Notifications } from "../../../accounts/Account.ts"
import { AccountApi } from "../../../accounts/AccountApi.ts"
import { Accounts } from "../../../accounts/Accounts.ts"
import { AccountSettings } from "../../../accounts/AccountSettings.ts"
import { ApiKeys } from "../../../api-keys/ApiKeys.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { Templates } from "../../../templates/Templates.ts"
import { UsageReports } from "../../../usage/UsageReports.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form } from "../../ui/form.ts"
import { card, code, counted, facts, foreign, linkButton, listed, note, number } from "../../ui/parts.ts"

const above = ({ to }: AccountAsk) => to("/settings")

const saveName = Action.make({
  name: "name",
  endpoint: AccountApi.endpoints.profile,
  fields: { name: Field.text({ label: "account.name", autocomplete: "organization" }) },
  request: ({ name }) => ({ payload: { name: name ?? "" } }),
  after: (_, { ask }) => goTo(above(ask), "account.name.done")
})

const saveAddress = Action.make({
  name: "address",
  endpoint: AccountApi.endpoints.profile,
  // The address resets the password.
  isFresh: true,
  fields: { email: Field.email({ label: "signIn.email", autocomplete: "email" }) },
  request: ({ email }) => ({ payload: { email: email ?? "" } }),
  after: ({ data }, { ask }) =>
    goTo(above(ask), data.pending_email === null ? "account.address.kept" : "account.address.asked")
})

const mail = (name: keyof Notifications) =>
  Field.flag({ label: `account.mails.${name}`, hint: `account.mails.${name}Hint` })

const mails = {
  email_alerts: mail("email_alerts"),
  usage_warnings: mail("usage_warnings"),
  weekly_digest: mail("weekly_digest"),
  security_alerts: mail("security_alerts"),
  marketing_emails: mail("marketing_emails")
}

const saveMails = Action.make({
  name: "mails",
  endpoint: AccountApi.endpoints.changeNotifications,
  fields: mails,
  request: (payload) => ({ payload }),
  after: (_, { ask }) => goTo(above(ask), "account.mails.done")
})

/** The account, also in test mode. */
const accountIn = Effect.fnUntraced(function*({ account: { id } }: AccountAsk) {
  const found = yield* (yield* Accounts).find(id)
  // It was deleted after the sign-in was read.
  return Option.isSome(found) ? found.value : yield* new NotFound()
})

interface Settings {
  readonly account: Account
  readonly notifications: Notifications
}

/** What a role reads that may not change it, and all roles in test mode. */
const readOnly = (ask: AccountAsk, { account: { email, name }, notifications }: Settings) => {
  const { account, mode, t } = ask
  const wanted = Struct.keys(mails).filter((one) => notifications[one]).map((one) => t.text(`account.mails.${one}`))
  return html`${
    mode === "test" && note(
      t.rich("account.live", { link: (inside) => html`<a href="/console/${account.id}/settings">${inside}</a>` })
    )
  }${
    card(
      t.text("account.title"),
      facts([
        [t.text("account.name"), foreign(name)],
        [t.text("account.address"), code(email)],
        [t.text("account.mails"), wanted.length === 0 ? t.text("common.none") : listed(ask, wanted)]
      ]),
      "account"
    )
  }`
}

const addressCard = (ask: AccountAsk, { email, pending_email }: Account) => {
  const { t } = ask
  return card(
    t.text("account.address"),
    html`<p>${t.text("account.address.text")}</p>${
      pending_email !== null &&
      html`${note(t.rich("account.address.pending", { email: code(pending_email) }), "warn")}<div class="buttons">${
        buttonForm(ask, saveAddress, { label: t.text("account.address.withdraw"), values: { email } })
      }</div>`
    }${
      form(ask, saveAddress, { submit: t.text("account.address.button"), values: { email: pending_email ?? email } })
    }`,
    "address"
  )
}

const forms = (ask: AccountAsk, { account, notifications }: Settings) => {
  const { t, to } = ask
  const values = Object.fromEntries(
    Object.entries(notifications).map(([name, isOn]) => [name, isOn ? "on" : undefined])
  )
  return html`<div class="cards">${
    card(
      t.text("account.name"),
      form(ask, saveName, { submit: t.text("account.name.button"), values: { name: account.name } }),
      "name"
    )
  }${ask.can("owner") && addressCard(ask, account)}${
    card(
      t.text("account.mails"),
      html`<p>${t.text("account.mails.text")}</p>${
        form(ask, saveMails, { submit: t.text("account.mails.button"), values })
      }`,
      "mails"
    )
  }${
    ask.can("owner") && card(
      t.text("account.delete"),
      html`<p>${t.text("account.delete.lead")}</p><div class="buttons">${
        linkButton(to("/settings/delete"), t.text("account.delete"), { tone: "danger" })
      }</div>`,
      "delete"
    )
  }</div>`
}

const settings = Page.account({
  path: "/settings",
  permission: "account:read",
  entry: { group: "settings", label: "nav.account", icon: "settings", order: 2, key: "a" },
  read: (ask) =>
    Effect.gen(function*() {
      const account = yield* accountIn(ask)
      return { account, notifications: yield* (yield* AccountSettings).notifications(account.id) }
    }),
  draw: (found, ask) => ({
    title: ask.t.text("account.title"),
    lead: ask.t.text("account.lead"),
    curl: "/v1/account",
    content: ask.mode === "live" && ask.can("account:write") ? forms(ask, found) : readOnly(ask, found)
  }),
  actions: [saveName, saveAddress, saveMails]
})

const remove = Action.make({
  name: "delete",
  endpoint: AccountApi.endpoints.remove,
  isFresh: true,
  fields: { confirmation: Field.text({ label: "account.delete.typed", autocomplete: "off", isMono: true }) },
  request: ({ confirmation }) => ({ payload: { confirmation: confirmation ?? "" } }),
  after: (_, { ask: { account, signedIn: { person } } }) =>
    person.account_id === account.id
      // The person is deleted with the account.
      ? { ...goTo("/console/sign-in", "account.delete.done"), signIn: null }
      : goTo("/console/", "account.delete.done")
})

/** What goes with an account. Its messages are counted by their usage: no table of messages is read. */
const goneWith = Effect.fnUntraced(function*({ account: { id } }: AccountAsk) {
  const first = { limit: 1, offset: 0, after: null } as const
  const now = yield* DateTime.now
  const dayAt = (days: number) => DateTime.formatIsoDateUtc(DateTime.add(now, { days }))
  const { metrics } = yield* (yield* UsageReports).usage(id, { from_date: dayAt(-365), to_date: dayAt(1) })
  const messages = metrics.filter(({ metric }) => ["email", "sms", "whatsapp"].includes(metric))
  return {
    keys: (yield* (yield* ApiKeys).list(id)).length,
    sessions: (yield* (yield* Sessions).list(id, {}, first)).total,
    domains: (yield* (yield* DomainRegistrations).list(id)).length,
    webhooks: (yield* (yield* Webhooks).list(id, first)).total,
    templates: (yield* (yield* Templates).list(id, first)).total,
    suppressions: (yield* (yield* Suppressions).list(id, {}, first)).total,
    messages: messages.reduce((sum, { count }) => sum + count, 0)
  }
})

const erase = Page.account({
  path: "/settings/delete",
  permission: "owner",
  read: goneWith,
  draw: ({ messages, ...gone }, ask) => {
    const { account, mode, signedIn: { person }, t } = ask
    return {
      title: t.text("account.delete.title", { name: account.name }),
      crumbs: [{ href: above(ask), label: t.text("account.title") }],
      ...(mode === "test" && { leadsTo: above(ask) }),
      content: html`<p>${t.text("account.delete.text")} ${t.text("account.delete.more")}</p>${
        person.is_operator && person.account_id === account.id && note(t.text("account.delete.operator"), "warn")
      }${
        facts([
          ...(["keys", "sessions", "domains", "webhooks", "templates", "suppressions"] as const).map((name) =>
            [t.text(`${name}.title`), counted(ask, gone[name])] as const
          ),
          [t.text("account.delete.messages"), number(ask, messages)]
        ])
      }
${form(ask, remove, { submit: t.text("account.delete.button"), tone: "danger", cancel: above(ask) })}`
    }
  },
  actions: [remove]
})

/** The account: its name, its address, its mails from the service, and its end. */
export const accountPages = [settings, erase] as const
