import { Array, Effect, Option, Schema } from "effect"
import { type Suppression, SuppressionReason } from "../../../channels/email/suppressions/Suppression.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { maxAddresses, SuppressionsApi } from "../../../channels/email/suppressions/SuppressionsApi.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import type { Position } from "../../../values/Page.ts"
import { TimestampInput } from "../../../values/Timestamp.ts"
import type { Key } from "../../language/Messages.ts"
import { Action, goTo, onceField, Refused } from "../../page/Action.ts"
import { type AccountAsk, type Ask, withQuery } from "../../page/Ask.ts"
import { cursorsAround, pageOf, positionIn } from "../../page/cursor.ts"
import { Field } from "../../page/Field.ts"
import { filtersIn, tidied } from "../../page/filter.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { badge, code, emptyState, linkButton, moment, note, number, type Tone } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { appliedFilters, type Column, csvFile, csvHref, pager, search, table, wantsCsv } from "../../ui/table.ts"

const perPage = 50

/** A page of this list, which keeps the filter and the cursor of the list. */
const within = ({ query, to }: AccountAsk, path: `/${string}` = "/suppressions") =>
  query.size === 0 ? to(path) : `${to(path)}?${query}`

const crumbs = (ask: AccountAsk) => [{ href: within(ask), label: ask.t.text("suppressions.title") }]

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
          linkButton(within(ask, `/suppressions/${encodeURIComponent(email)}/remove`), t.text("suppressions.remove"), {
            opensDialog: true,
            label: t.text("suppressions.removeNamed", { email })
          })
      }]
      : [])
  ]
}

/** The filters of the address, each with the text of its name. */
const names = ["email", "reason"] as const

const labels: Readonly<Record<(typeof names)[number], Key>> = {
  email: "suppressions.email",
  reason: "suppressions.reason"
}

/** Links to the suppressions of each reason. */
const reasons = (ask: Ask, current: SuppressionReason | undefined) => {
  const { t } = ask
  const tab = (reason: SuppressionReason | undefined, label: string) => ({
    label,
    href: withQuery(ask, { reason: reason ?? null, cursor: null }),
    isCurrent: reason === current
  })
  return tabs(t.text("suppressions.filter"), [
    tab(undefined, t.text("suppressions.all")),
    ...SuppressionReason.literals.map((reason) => tab(reason, t.text(`suppressions.reason.${reason}`)))
  ])
}

/** The search for one address keeps the reason. */
const searchOf = (ask: Ask, reason: SuppressionReason | undefined) =>
  search(ask, {
    name: "email",
    label: ask.t.text("suppressions.q"),
    button: ask.t.text("contacts.find"),
    ...(reason !== undefined && { more: html`<input type="hidden" name="reason" value="${reason}">` })
  })

/** A suppression's place in the list. */
const Place = Schema.Tuple([TimestampInput, EmailAddress])

const placeOf = ({ created_at, email }: Suppression): Position => [created_at, email]

type Read = (limit: number, after: Position | null) => Effect.Effect<ReadonlyArray<Suppression>>

/** The whole list as a file. */
const csvOf = (read: Read) =>
  csvFile<Suppression>("suppressions.csv", {
    columns: {
      email: ({ email }) => email,
      reason: ({ reason }) => reason,
      source_message_id: ({ source_message_id }) => source_message_id ?? "",
      created_at: ({ created_at }) => created_at
    },
    placeOf,
    read
  })

const list = Page.account({
  path: "/suppressions",
  permission: "emails:read",
  entry: { group: "email", label: "nav.suppressions", icon: "ban", order: 3, key: "l" },
  read: (ask) =>
    Effect.gen(function*() {
      const filtered = filtersIn(ask, SuppressionsApi.endpoints.list, names)
      const suppressions = yield* Suppressions
      const read: Read = (limit, after) =>
        Effect.map(
          suppressions.list(ask.accountId, filtered.filter ?? {}, { limit, offset: 0, after }),
          ({ rows }) => rows
        )
      if (wantsCsv(ask)) return { filtered, page: pageOf([], perPage, placeOf), file: csvOf(read) }
      const rows = yield* read(perPage + 1, positionIn(ask, Place))
      return { filtered, page: pageOf(rows, perPage, placeOf), file: undefined }
    }),
  draw: ({ file, filtered, page: { older, rows } }, given) => {
    const ask = tidied(given, filtered.valid)
    const { can, query, t } = ask
    const { email, reason } = filtered.filter ?? {}
    const isFiltered = filtered.valid.length > 0
    const button = can("emails:write") &&
      linkButton(within(given, "/suppressions/new"), t.text("suppressions.new"), { icon: "plus", tone: "main" })
    const filteredText = email === undefined ? "suppressions.empty.filtered" : "suppressions.empty.address"
    const importing = can("emails:write") &&
      linkButton(within(given, "/suppressions/import"), t.text("suppressions.import"), { icon: "upload" })
    const none = emptyState({
      icon: "ban",
      title: t.text("suppressions.empty.title"),
      text: t.text(isFiltered ? filteredText : "suppressions.empty.text"),
      button: button && html`<span class="buttons">${button}${importing}</span>`
    })
    return {
      title: t.text("suppressions.title"),
      lead: t.text("suppressions.lead"),
      curl: query.size === 0 ? "/v1/email/suppressions" : `/v1/email/suppressions?${query}`,
      ...(file !== undefined && { file }),
      buttons: rows.length > 0 &&
        html`${linkButton(csvHref(ask), t.text("messages.export"), { icon: "download" })}${importing}${button}`,
      content: html`${(rows.length > 0 || isFiltered) && html`${searchOf(given, reason)}${reasons(ask, reason)}`}${
        appliedFilters(ask, {
          refused: filtered.refused,
          valid: filtered.valid.filter(({ name }) => name === "email")
        }, { labels })
      }${rows.length === 0 ? none : table(t.text("suppressions.caption"), columns(given), rows)}${
        pager(ask, cursorsAround(given, older))
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
  after: (_, { ask }) => goTo(within(ask), "suppressions.added")
})

const make = Page.account({
  path: "/suppressions/new",
  permission: "emails:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("suppressions.add.title"),
    crumbs: crumbs(ask),
    content: form(ask, add, { submit: ask.t.text("suppressions.add.button"), cancel: within(ask) })
  }),
  actions: [add]
})

const decodeAddress = Schema.decodeUnknownOption(EmailAddress)

/** The addresses of a list, or of the first column of a CSV file with or without a row of names. */
const addressesIn = (text: string): ReadonlyArray<string> =>
  text.split(/[\r\n]+/).map((line) => (/^\s*"?(?:'(?=[=+@-]))?([^",;\t]*)/.exec(line)?.[1] ?? "").trim())
    .filter((cell, index) => cell !== "" && (index > 0 || cell.toLowerCase() !== "email"))

const addPart = Action.make({
  name: "import",
  endpoint: SuppressionsApi.endpoints.addMany,
  fields: { emails: Field.textarea({ label: "suppressions.import.list", hint: "suppressions.import.hint" }) },
  request: ({ emails }) => ({ payload: { emails: addressesIn(emails ?? "") } }),
  after: (_, { ask }) => goTo(within(ask), "suppressions.imported")
})

const isRefused = Schema.is(Refused)

/**
 * A long list is sent in parts, after each address is known to be one. Of a list that failed midway, the form keeps the addresses
 * that are left: each part counts as a request, and a minute allows only so many.
 */
const addList: typeof addPart = {
  ...addPart,
  run: (sent, ask) => {
    const emails = addressesIn(sent.get("emails") ?? "")
    const wrong = emails.find((email) => Option.isNone(decodeAddress(email)))
    if (wrong !== undefined) {
      const message = ask.t.text("suppressions.import.wrong", { address: wrong })
      return Effect.fail(Refused.of(message, { faults: [{ param: "emails", message }] }))
    }
    const parts = Array.chunksOf(emails, maxAddresses)
    const runPart = (part: ReadonlyArray<string>, index: number) => {
      const form = new URLSearchParams(sent)
      form.set("emails", part.join("\n"))
      // Counted from the end, so that a part has the same key once those before it are done.
      form.set(onceField, `${sent.get(onceField) ?? ""}-${parts.length - index}`)
      return Effect.mapError(addPart.run(form, ask), (error) => {
        const done = index * maxAddresses
        if (done === 0 || !isRefused(error)) return error
        const counts = { done: number(ask, done), total: number(ask, emails.length) }
        const message = ask.t.text("suppressions.import.left", counts)
        return error.leaving({ param: "emails", message, value: emails.slice(done).join("\n") })
      })
    }
    return Effect.as(
      Effect.forEach(parts.length === 0 ? [[]] : parts, runPart),
      goTo(within(ask), "suppressions.imported")
    )
  }
}

const bring = Page.account({
  path: "/suppressions/import",
  permission: "emails:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("suppressions.import.title"),
    crumbs: crumbs(ask),
    content: form(ask, addList, { submit: ask.t.text("suppressions.import"), cancel: within(ask) })
  }),
  actions: [addList]
})

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
  after: (_, { ask }) => goTo(within(ask), "suppressions.removed")
})

const remove = Page.account({
  path: "/suppressions/:email/remove",
  permission: "emails:write",
  read: suppressionIn,
  draw: ({ email, reason }, ask) => {
    const { t } = ask
    return {
      title: t.text("suppressions.remove.title"),
      crumbs: crumbs(ask),
      content: html`<p>${t.rich("suppressions.remove.text", { email: code(email) })}</p>
${(reason === "bounce" || reason === "unsubscribe") && note(t.text(`suppressions.remove.${reason}`), "warn")}
${
        form(ask, removeSuppression, {
          submit: t.text("suppressions.remove.button"),
          tone: "danger",
          cancel: within(ask)
        })
      }`
    }
  },
  actions: [removeSuppression]
})

/** The pages of suppressions: list, add, import, remove. */
export const suppressionsPages = [list, make, bring, remove] as const
