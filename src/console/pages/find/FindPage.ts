import { Effect } from "effect"
import { AllMessages } from "../../../history/AllMessages.ts"
import { html } from "../../../platform/http/html.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import type { Place } from "../../ui/layout.ts"
import { emptyState, linkButton, listed } from "../../ui/parts.ts"
import { type Column, search, table } from "../../ui/table.ts"
import { channelsOf } from "../messages/messageParts.ts"
import { messageColumns } from "../messages/MessagesPage.ts"
import { type Hit, hitsOf, kindsOf } from "./hits.ts"
import { type Sought, soughtIn } from "./soughtIn.ts"

/** Most messages that the page shows. The list of messages has all. */
const mostMessages = 10

/** The filters of the list of messages that find what is sought, each tried after the one before has found nothing. */
const filtersOf = (
  sought: Sought
): ReadonlyArray<{ readonly to?: string; readonly q?: string; readonly channel?: "email" }> => {
  switch (sought.kind) {
    case "address":
      return [{ to: sought.text, channel: "email" }, { q: sought.text }]
    case "phone":
      return [{ to: sought.digits }, { q: sought.ending }]
    case "words":
      return [{ q: sought.text }]
    default:
      return []
  }
}

const messagesOf = Effect.fnUntraced(function*(ask: AccountAsk, sought: ReadonlyArray<Sought>) {
  const messages = yield* AllMessages
  const readable = channelsOf(ask, "read")
  for (const filter of sought.flatMap(filtersOf)) {
    const { channel, ...words } = filter
    const channels = new Set(readable.filter((one) => one === (channel ?? one)))
    const of = { accountId: ask.accountId, channels }
    const wanted = { ...words, tags: [], metadata: {} }
    const rows = yield* messages.list(of, wanted, { limit: mostMessages, offset: 0, after: null })
    if (rows.length > 0) return { filter, rows: rows.map(({ summary }) => summary) }
  }
  return { filter: {}, rows: [] }
})

const hitColumns = ({ t, to }: AccountAsk): ReadonlyArray<Column<Hit>> => [
  { label: t.text("find.kind"), cell: ({ kind }) => t.text(`find.kind.${kind}`) },
  { label: t.text("find.result"), cell: ({ label, place }) => html`<a href="${to(place)}">${label}</a>` }
]

const none = (ask: AccountAsk, sought: ReadonlyArray<Sought>) => {
  const { t } = ask
  const kinds = kindsOf(sought)
  return emptyState({
    icon: "search",
    title: t.text("find.none.title"),
    text: kinds.length === 0
      ? t.text("find.none.words")
      : kinds.includes("request")
      ? t.text("find.none.request")
      : t.text("find.none.ids", { kinds: listed(ask, kinds.map((kind) => t.text(`find.kind.${kind}`))) })
  })
}

/** One search for everything. A text that names one thing leads to its page. */
export const findPage = (places: () => ReadonlyArray<Place>) =>
  Page.account({
    path: "/find",
    permission: "messages:read",
    read: (ask) =>
      Effect.gen(function*() {
        const sought = soughtIn(ask.query.get("q") ?? "")
        const found = { hits: hitsOf(ask, sought, places()), messages: messagesOf(ask, sought) }
        return { sought, ...(yield* Effect.all(found, { concurrency: 2 })) }
      }),
    draw: ({ hits, messages, sought }, ask) => {
      const { query, t, to } = ask
      const [only] = hits
      const isEmpty = hits.length === 0 && messages.rows.length === 0
      return {
        title: t.text("find.title"),
        lead: t.text("find.lead"),
        ...(messages.rows.length > 0 && { curl: `/v1/messages?${new URLSearchParams(messages.filter)}` }),
        ...(only !== undefined && hits.length === 1 && messages.rows.length === 0 && { leadsTo: to(only.place) }),
        content: html`${
          search(ask, { label: t.text("find.label"), hint: t.text("find.hint"), button: t.text("find.button") })
        }
${isEmpty && query.has("q") && none(ask, sought)}
${
          hits.length > 0 &&
          html`${messages.rows.length > 0 && html`<h2>${t.text("find.others")}</h2>`}${
            table(t.text("find.othersCaption"), hitColumns(ask), hits)
          }`
        }
${
          messages.rows.length > 0 &&
          html`<h2>${t.text("find.messages")}</h2>${
            table(t.text("messages.caption"), messageColumns(ask), messages.rows)
          }<div class="buttons">${
            linkButton(`${to("/messages")}?${new URLSearchParams(messages.filter)}`, t.text("find.allMessages"))
          }</div>`
        }`
      }
    }
  })
