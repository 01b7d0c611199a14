import { Effect, Option, Redacted } from "effect"
import { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { SandboxFaults } from "../../../messages/SandboxFault.ts"
import { SandboxMessages } from "../../../messages/SandboxMessage.ts"
import { SandboxMessagesApi } from "../../../messages/SandboxMessagesApi.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { SandboxToken } from "../../../sandbox/pages/SandboxToken.ts"
import type { IconName } from "../../assets/icons.ts"
import type { Key } from "../../language/Messages.ts"
import { Action, goTo } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { confirmation, form, refusalOf } from "../../ui/form.ts"
import { card, code, copyable, emptyState, linkButton } from "../../ui/parts.ts"
import { received } from "../../ui/received.ts"
import { type Column, table } from "../../ui/table.ts"
import { receiverCard, receiverFor, switchReceiver } from "../webhooks/receiverCard.ts"
import { clearFaultsPage, faultActions, faultLab } from "./faultLab.ts"

/** The simulated servers, each with the setting that chooses it. */
const parts = [
  { setting: "smtpUrl", name: "mail", icon: "inbox" },
  { setting: "smsProvider", name: "sms", icon: "message-square" },
  { setting: "whatsappUrl", name: "phones", icon: "smartphone" }
] as const satisfies ReadonlyArray<{ readonly setting: string; readonly name: string; readonly icon: IconName }>

type Part = (typeof parts)[number]

const opened = ({ t }: AccountAsk, { icon, name }: Part, token: string) => {
  const title = t.text(`sandbox.${name}`)
  return card(
    title,
    html`<p>${t.text(`sandbox.${name}Text`)}</p><div class="buttons">${
      linkButton(`/sandbox/${name}?token=${token}`, t.text("sandbox.open"), {
        icon,
        label: t.text("sandbox.openNamed", { name: title })
      })
    }</div>`,
    name
  )
}

/** Recipients that fail on purpose, each with what happens. */
const faults = [
  { channel: "email", to: "bounce@example.com", text: "sandbox.fault.bounce" },
  { channel: "email", to: "mailboxfull@example.com", text: "sandbox.fault.full" },
  { channel: "email", to: "defer@example.com", text: "sandbox.fault.defer" },
  { channel: "email", to: "latebounce@example.com", text: "sandbox.fault.late" },
  { channel: "email", to: "complain@example.com", text: "sandbox.fault.complain" },
  { channel: "sms", to: "+15005550001", text: "sandbox.fault.refused" },
  { channel: "sms", to: "+15005550002", text: "sandbox.fault.undeliverable" },
  { channel: "sms", to: "+15005550003", text: "sandbox.fault.silent" },
  { channel: "sms", to: "+15005550004", text: "sandbox.fault.putOff" }
] as const satisfies ReadonlyArray<{ readonly channel: SummaryChannel; readonly to: string; readonly text: Key }>

type Fault = (typeof faults)[number]

const faultColumns = ({ t, to: pathTo }: AccountAsk): ReadonlyArray<Column<Fault>> => [
  { label: t.text("messages.channel"), cell: ({ channel }) => t.text(`channel.${channel}`) },
  {
    label: t.text("messages.to"),
    cell: ({ channel, to }) =>
      html`<a href="${pathTo("/send")}?channel=${channel}&to=${encodeURIComponent(to)}">${code(to)}</a>`
  },
  { label: t.text("sandbox.fault.what"), cell: ({ text }) => t.text(text) }
]

/** The messages of each channel that the page shows. */
const shown = 5

const clear = Action.make({
  name: "clear",
  endpoint: SandboxMessagesApi.endpoints.clear,
  fields: {},
  request: () => ({}),
  after: (_, { ask }) => goTo(ask.to("/sandbox"), "sandbox.cleared")
})

const readTest = Effect.fnUntraced(function*({ accountId }: AccountAsk) {
  const messages = yield* SandboxMessages
  const planned = yield* (yield* SandboxFaults).list(accountId)
  const columns = yield* Effect.forEach(SummaryChannel.literals, (channel) =>
    Effect.map(
      messages.list(accountId, { channel, wait: 0 }, { limit: shown, offset: 0, after: null }),
      ({ rows }) => ({ channel, rows })
    ))
  return { columns, planned }
})

/** Test mode: what every recipient received, side by side, and recipients that fail. */
const testContent = (ask: AccountAsk, { columns, planned }: Effect.Success<ReturnType<typeof readTest>>) => {
  const { can, path, t, to } = ask
  return {
    title: t.text("sandbox.title"),
    lead: t.text("sandbox.testLead"),
    isLive: true,
    curl: "/v1/sandbox/messages",
    buttons: html`${linkButton(path, t.text("message.refresh"), { icon: "refresh-cw" })}${
      can("messages:write") &&
      linkButton(to("/sandbox/clear"), t.text("sandbox.clear"), { icon: "trash", tone: "danger", opensDialog: true })
    }`,
    content: html`${refusalOf(ask)}<div class="cards three">${
      columns.map(({ channel, rows }) => card(t.text(`sandbox.of.${channel}`), received(ask, rows), `of-${channel}`))
    }</div>
${faultLab(ask, planned)}
<h2>${t.text("sandbox.fault.title")}</h2>
<p>${t.text("sandbox.fault.lead")}</p>
${table(t.text("sandbox.fault.title"), faultColumns(ask), faults)}`
  }
}

interface Live {
  readonly served: ReadonlyArray<Part>
  readonly token: string | undefined
}

/** Live mode: the links to the sandbox's own pages. */
const liveContent = (ask: AccountAsk, { served, token }: Live) => {
  const { signedIn, t } = ask
  const title = t.text("sandbox.title")
  if (served.length === 0 || token === undefined) {
    return {
      title,
      content: emptyState({
        icon: "flask-conical",
        title: t.text("sandbox.none.title"),
        text: t.text("sandbox.none.text")
      })
    }
  }
  if (!signedIn.person.is_operator) {
    return {
      title,
      content: emptyState({
        icon: "lock",
        title: t.text("sandbox.operator.title"),
        text: t.text("sandbox.operator.text")
      })
    }
  }
  if (!signedIn.is_fresh) {
    return {
      title,
      content: emptyState({
        icon: "lock",
        title: t.text("proof.title"),
        text: t.text("proof.text"),
        button: linkButton(confirmation(ask.path), t.text("proof.button"), { tone: "main" })
      })
    }
  }
  return {
    title,
    lead: t.text("sandbox.lead"),
    content: html`<div class="cards three">${served.map((part) => opened(ask, part, token))}</div>
${
      card(
        t.text("sandbox.token"),
        html`<p>${t.text("sandbox.tokenText")}</p>${copyable(ask, token, { label: t.text("sandbox.token") })}`,
        "token"
      )
    }`
  }
}

/**
 * The sandbox. Test mode shows what the account's recipients received. Live mode has the links to the sandbox's own pages,
 * which show every account's messages, so they are the operator's.
 */
const sandbox = Page.account({
  path: "/sandbox",
  permission: "account:read",
  entry: { group: "develop", label: "nav.sandbox", icon: "flask-conical", order: 9, key: "x" },
  read: (ask) =>
    Effect.gen(function*() {
      const receiver = yield* receiverFor(ask)
      if (ask.mode === "test") return { receiver, received: yield* readTest(ask) }
      const config = yield* AppConfig
      const { token } = yield* SandboxToken
      return {
        receiver,
        token: Option.getOrUndefined(Option.map(token, Redacted.value)),
        served: parts.filter(({ setting }) => config[setting] === "sandbox")
      }
    }),
  draw: (found, ask) => {
    const drawn = "received" in found ? testContent(ask, found.received) : liveContent(ask, found)
    const { receiver } = found
    if (receiver === undefined) return drawn
    return {
      ...drawn,
      content: html`${drawn.content}
${ask.mode === "live" && refusalOf(ask)}${receiverCard(ask, receiver)}`
    }
  },
  actions: [...faultActions, switchReceiver]
})

/** Asks before the messages that test mode received are deleted. */
const clearPage = Page.account({
  path: "/sandbox/clear",
  permission: "messages:write",
  read: ({ mode }) => mode === "live" ? Effect.fail(new NotFound()) : Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("sandbox.clear.title"),
    crumbs: [{ href: ask.to("/sandbox"), label: ask.t.text("sandbox.title") }],
    content: html`<p>${ask.t.text("sandbox.clear.text")}</p>${
      form(ask, clear, { submit: ask.t.text("sandbox.clear"), tone: "danger", cancel: ask.to("/sandbox") })
    }`
  }),
  actions: [clear]
})

/** The sandbox, and the pages that ask before something in it is deleted. */
export const sandboxPages = [sandbox, clearPage, clearFaultsPage] as const
