import { EventChannel } from "../../../events/EventFilter.ts"
import { eventNames } from "../../../events/EventNames.ts"
import * as EventPattern from "../../../events/EventPattern.ts"
import { html } from "../../../platform/http/html.ts"
import type { Webhook } from "../../../webhooks/endpoint/Webhook.ts"
import { WebhooksApi } from "../../../webhooks/WebhooksApi.ts"
import { Action, goTo, show } from "../../page/Action.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Field, type Option, wordsOf } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { buttonForm, form } from "../../ui/form.ts"
import { code, copyable, icon, linkButton, note } from "../../ui/parts.ts"
import { receiverFor } from "./receiverCard.ts"
import { eventOptions, listCrumbs, paidNote, webhookCrumbs, webhookIn, webhookPath } from "./webhookParts.ts"
import { sendTest } from "./WebhooksPages.ts"

/** An event that the webhook gets. */
const firstEventOf = ({ events }: Webhook) => {
  const pattern = EventPattern.compile(events)
  return eventNames.find((event) => EventPattern.matches(pattern, { event })) ?? ""
}

/** The page with the whole secret, which no other page shows. */
const secretOf = (ask: AccountAsk, webhook: Webhook, { isReplayed, title }: {
  readonly isReplayed: boolean
  readonly title: string
}) => {
  const { t, to } = ask
  if (isReplayed) {
    return show({
      title,
      crumbs: listCrumbs(ask),
      content: html`${note(t.text("webhooks.made.again"), "warn")}
<div class="buttons">${linkButton(to("/webhooks"), t.text("webhooks.made.list"))}</div>`
    })
  }
  return show({
    title,
    crumbs: listCrumbs(ask),
    lead: t.text("webhooks.made.text"),
    content: html`${note(t.text("webhooks.made.once"), "warn")}
${copyable(ask, webhook.secret, { label: t.text("webhooks.made.label") })}
<div class="buttons">${
      linkButton(to(webhookPath(webhook.id)), t.text("webhooks.made.stored"), { icon: "check", tone: "main" })
    }${
      buttonForm(ask, sendTest, {
        label: html`${icon("send")}<span>${t.text("webhooks.test")}</span>`,
        values: { event: firstEventOf(webhook) },
        at: to(webhookPath(webhook.id, "/test"))
      })
    }</div>`
  })
}

/** All events at once, and each event. */
const eventChoices = (ask: AccountAsk): ReadonlyArray<Option> => [
  { value: "*", label: ask.t.text("webhooks.create.every"), hint: ask.t.text("webhooks.create.everyHint") },
  ...eventOptions(ask)
]

/** These and the webhook's own patterns and old names, so that a change keeps them. */
const eventChoicesOf = (ask: AccountAsk, { events }: Webhook) => {
  const offered = eventChoices(ask)
  const others = events.filter((event) => !offered.some(({ value }) => value === event))
  return [...offered, ...others.map((value) => ({ value, label: value }))]
}

const fields = {
  url: Field.text({
    label: "webhooks.create.url",
    hint: "webhooks.create.urlHint",
    autocomplete: "off",
    isMono: true,
    initial: () => "https://"
  }),
  events: Field.checks({
    label: "webhooks.create.events",
    initial: () => "*"
  }),
  channels: Field.checks({
    label: "webhooks.channels",
    optional: true,
    options: ({ t }) => EventChannel.literals.map((value) => ({ value, label: t.text(`webhooks.channel.${value}`) }))
  }),
  tags: Field.text({ label: "webhooks.tags", hint: "webhooks.tagsHint", optional: true, autocomplete: "off" }),
  headers: Field.textarea({ label: "webhooks.headers", hint: "webhooks.headersHint", optional: true, isMono: true }),
  retry_policy: Field.select({
    label: "webhooks.retry",
    initial: () => "standard",
    options: ({ t }) => [
      { value: "standard", label: t.text("webhooks.retry.standard") },
      { value: "extended", label: t.text("webhooks.retry.extended") }
    ]
  })
}

/** Headers from lines such as `X-Token: abc`. A line without a colon has an empty value, which the endpoint refuses. */
const headersOf = (text: string | undefined) =>
  Object.fromEntries(
    (text ?? "").split("\n").flatMap((line) => {
      const [name = "", ...rest] = line.split(":")
      return name.trim() === "" ? [] : [[name.trim(), rest.join(":").trim()] as const]
    })
  )

interface Typed {
  readonly url: string | undefined
  readonly events: ReadonlyArray<string>
  readonly channels: ReadonlyArray<string>
  readonly tags: string | undefined
  readonly headers: string | undefined
  readonly retry_policy: string | undefined
}

const payloadOf = ({ headers, tags, url, ...chosen }: Typed) => ({
  ...chosen,
  url: url ?? "",
  tags: wordsOf(tags),
  headers: headersOf(headers)
})

const create = Action.make({
  name: "create",
  endpoint: WebhooksApi.endpoints.create,
  isFresh: true,
  fields,
  request: (typed) => ({ payload: payloadOf(typed) }),
  after: ({ data }, { ask, isReplayed }) =>
    secretOf(ask, data, { isReplayed, title: ask.t.text("webhooks.made.title") })
})

const make = Page.account({
  path: "/webhooks/new",
  permission: "webhooks:write",
  read: receiverFor,
  draw: (receiver, ask) => {
    const { path, query, t, to } = ask
    // The address of the page names no URL, because a foreign link could name a wrong one.
    const isChosen = query.get("to") === "sandbox"
    return {
      title: t.text("webhooks.create.title"),
      crumbs: listCrumbs(ask),
      buttons: receiver !== undefined && !isChosen
        && linkButton(`${path}?to=sandbox`, t.text("receiver.use"), { icon: "flask-conical" }),
      content: html`${paidNote(ask)}${
        form(ask, create, {
          submit: t.text("webhooks.create.button"),
          cancel: to("/webhooks"),
          choices: { events: eventChoices(ask) },
          ...(isChosen && { values: { url: receiver?.url } })
        })
      }`
    }
  },
  actions: [create]
})

const change = Action.make({
  name: "change",
  endpoint: WebhooksApi.endpoints.update,
  // Another address would get all events, those of received messages among them.
  isFresh: true,
  fields,
  request: (typed, { params }) => ({ params: { id: params["id"] }, payload: payloadOf(typed) }),
  after: ({ data }, { ask }) => goTo(ask.to(webhookPath(data.id)), "webhooks.edit.done")
})

const edit = Page.account({
  path: "/webhooks/:id/edit",
  permission: "webhooks:write",
  read: webhookIn,
  draw: (webhook, ask) => ({
    title: ask.t.text("webhooks.edit.title"),
    crumbs: webhookCrumbs(ask, webhook),
    content: html`${paidNote(ask)}${
      form(ask, change, {
        submit: ask.t.text("webhooks.edit.button"),
        cancel: ask.to(webhookPath(webhook.id)),
        choices: { events: eventChoicesOf(ask, webhook) },
        values: {
          url: webhook.url,
          events: webhook.events,
          channels: webhook.channels,
          tags: webhook.tags.join(" "),
          headers: Object.entries(webhook.headers).map(([name, value]) => `${name}: ${value}`).join("\n"),
          retry_policy: webhook.retry_policy
        }
      })
    }`
  }),
  actions: [change]
})

/** Seconds during which the previous secret signs as well. */
const overlaps = [0, 3600, 86_400, 604_800] as const

const rotation = Action.make({
  name: "rotate",
  endpoint: WebhooksApi.endpoints.rotateSecret,
  isFresh: true,
  fields: {
    overlap_seconds: Field.select({
      label: "webhooks.rotate.overlap",
      hint: "webhooks.rotate.overlapHint",
      initial: () => "86400",
      options: ({ t }) =>
        overlaps.map((seconds) => ({ value: String(seconds), label: t.text(`webhooks.rotate.overlap.${seconds}`) }))
    })
  },
  request: ({ overlap_seconds }, { params }) => ({
    params: { id: params["id"] },
    payload: { overlap_seconds: Number(overlap_seconds) }
  }),
  after: ({ data }, { ask, isReplayed }) =>
    secretOf(ask, data, { isReplayed, title: ask.t.text("webhooks.rotate.made") })
})

const rotate = Page.account({
  path: "/webhooks/:id/rotate",
  permission: "webhooks:write",
  read: webhookIn,
  draw: (webhook, ask) => ({
    title: ask.t.text("webhooks.rotate.title"),
    crumbs: webhookCrumbs(ask, webhook),
    content: html`<p>${ask.t.rich("webhooks.rotate.text", { secret: code(`${webhook.secret}…`) })}</p>
${
      form(ask, rotation, {
        submit: ask.t.text("webhooks.rotate.button"),
        cancel: ask.to(webhookPath(webhook.id))
      })
    }`
  }),
  actions: [rotation]
})

/** The forms of webhooks: new, edit, new secret. */
export const webhookFormPages = [make, edit, rotate] as const
