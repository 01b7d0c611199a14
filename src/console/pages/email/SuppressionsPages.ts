import { Effect, Option, Schema } from "effect"
import { type Suppression, SuppressionReason } from "../../../channels/email/suppressions/Suppression.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { SuppressionsApi } from "../../../channels/email/suppressions/SuppressionsApi.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { TimestampInput } from "../../../values/Timestamp.ts"
import { Action, goTo } from "../../page/Action.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { badge, code, emptyState, linkButton, moment, note, type Tone } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { type Column, pager, table } from "../../ui/table.ts"

const perPage = 50

const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/suppressions"), label: t.text("suppressions.title") }]

const tones: Readonly<Record<SuppressionReason, Tone>> = {
  unsubscribe: "quiet",
  bounce: "warn",
  complaint: "bad",
  manual: "quiet"
}

const columns = (ask: AccountAsk): ReadonlyArray<Column<Suppression>> => {
  const { can, t, to } = ask
  return [
    { label: t.text("suppressions.email"), cell: ({ email }) => code(email) },
    {
      label: t.text("suppressions.reason"),
      cell: ({ reason }) => badge(t.text(`suppressions.reason.${reason}`), tones[reason])
    },
    { label: t.text("suppressions.since"), cell: ({ created_at }) => moment(ask, created_at) },
    {
      label: t.text("suppressions.source"),
      cell: ({ source_message_id: id }) =>
        id === null ? t.text("common.none") : html`<a href="${to(`/messages/email/${id}`)}">${code(String(id))}</a>`
    },
    ...(can("emails:write")
      ? [{
        label: t.text("suppressions.remove"),
        kind: "actions" as const,
        // The owner of the address complained, so it stays.
        cell: ({ email, reason }: Suppression) =>
          reason !== "complaint" &&
          linkButton(to(`/suppressions/${encodeURIComponent(email)}/remove`), t.text("suppressions.remove"), {
            opensDialog: true,
            label: t.text("suppressions.removeNamed", { email })
          })
      }]
      : [])
  ]
}

const decodeReason = Schema.decodeUnknownOption(SuppressionReason)

const reasonIn = ({ query }: Ask) => Option.getOrUndefined(decodeReason(query.get("reason")))

/** Links to the suppressions of each reason. */
const reasons = (ask: Ask) => {
  const { t } = ask
  const tab = (reason: SuppressionReason | undefined, label: string) => ({
    label,
    href: withQuery(ask, { reason: reason ?? null, cursor: null }),
    isCurrent: reason === reasonIn(ask)
  })
  return tabs(t.text("suppressions.filter"), [
    tab(undefined, t.text("suppressions.all")),
    ...SuppressionReason.literals.map((reason) => tab(reason, t.text(`suppressions.reason.${reason}`)))
  ])
}

/** A suppression's place in the list. */
const Place = Schema.Tuple([TimestampInput, EmailAddress])

const list = Page.account({
  path: "/suppressions",
  permission: "emails:read",
  entry: { group: "email", label: "nav.suppressions", icon: "ban", order: 3, key: "l" },
  read: (ask) =>
    Effect.gen(function*() {
      const reason = reasonIn(ask)
      const { rows } = yield* (yield* Suppressions).list(
        ask.accountId,
        reason === undefined ? {} : { reason },
        { limit: perPage + 1, offset: 0, after: positionIn(ask, Place) }
      )
      return pageOf(rows, perPage, ({ created_at, email }) => [created_at, email])
    }),
  draw: ({ older, rows }, ask) => {
    const { can, query, t, to } = ask
    const isAll = reasonIn(ask) === undefined
    const button = can("emails:write") &&
      linkButton(to("/suppressions/new"), t.text("suppressions.new"), { icon: "plus", tone: "main" })
    const none = emptyState({
      icon: "ban",
      title: t.text("suppressions.empty.title"),
      text: t.text(isAll ? "suppressions.empty.text" : "suppressions.empty.filtered"),
      button
    })
    return {
      title: t.text("suppressions.title"),
      lead: t.text("suppressions.lead"),
      curl: "/v1/email/suppressions",
      buttons: rows.length > 0 && button,
      content: html`${(rows.length > 0 || !isAll) && reasons(ask)}${
        rows.length === 0 ? none : table(t.text("suppressions.caption"), columns(ask), rows)
      }${
        pager(ask, {
          ...(query.has("cursor") && { newer: { cursor: null } }),
          ...(older !== undefined && { older: { cursor: older } })
        })
      }`
    }
  }
})

const add = Action.make({
  name: "add",
  endpoint: SuppressionsApi.endpoints.add,
  fields: {
    email: Field.email({ label: "suppressions.email", hint: "suppressions.add.hint", autocomplete: "off" })
  },
  request: ({ email }) => ({ payload: { email: email ?? "" } }),
  after: (_, { ask }) => goTo(ask.to("/suppressions"), "suppressions.added")
})

const make = Page.account({
  path: "/suppressions/new",
  permission: "emails:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("suppressions.add.title"),
    crumbs: crumbs(ask),
    content: form(ask, add, { submit: ask.t.text("suppressions.add.button"), cancel: ask.to("/suppressions") })
  }),
  actions: [add]
})

const decodeAddress = Schema.decodeUnknownOption(EmailAddress)

/** The suppression of the address's parameter `email`. */
const suppressionIn = Effect.fnUntraced(function*({ accountId, params }: AccountAsk) {
  const email = decodeAddress(params["email"])
  return Option.isSome(email) ? yield* (yield* Suppressions).find(accountId, email.value) : yield* new NotFound()
})

const removeSuppression = Action.make({
  name: "remove",
  endpoint: SuppressionsApi.endpoints.remove,
  fields: {},
  request: (_, { params }) => ({ params: { email: params["email"] } }),
  after: (_, { ask }) => goTo(ask.to("/suppressions"), "suppressions.removed")
})

const remove = Page.account({
  path: "/suppressions/:email/remove",
  permission: "emails:write",
  read: suppressionIn,
  draw: ({ email, reason }, ask) => {
    const { t, to } = ask
    return {
      title: t.text("suppressions.remove.title"),
      crumbs: crumbs(ask),
      content: html`<p>${t.rich("suppressions.remove.text", { email: code(email) })}</p>
${(reason === "bounce" || reason === "unsubscribe") && note(t.text(`suppressions.remove.${reason}`), "warn")}
${
        form(ask, removeSuppression, {
          submit: t.text("suppressions.remove.button"),
          tone: "danger",
          cancel: to("/suppressions")
        })
      }`
    }
  },
  actions: [removeSuppression]
})

/** The pages of suppressions: list, add, remove. */
export const suppressionsPages = [list, make, remove] as const
