import { Clock, Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { BulkEmail } from "../../../channels/email/bulk/BulkEmail.ts"
import { AllMessages } from "../../../history/AllMessages.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { MessageSummary, SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailBatchId, MessageBatchId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { cursorsAround, Instant, pageOf, positionIn } from "../../page/cursor.ts"
import { Page } from "../../page/Page.ts"
import {
  badge,
  buttonRoom,
  card,
  code,
  emptyState,
  facts,
  foreign,
  heldList,
  linkButton,
  moment,
  note,
  number,
  type Tone
} from "../../ui/parts.ts"
import { bar, legend, type Share, span, tabs } from "../../ui/progress.ts"
import { type Column, csvHref, pager, table, wantsCsv } from "../../ui/table.ts"
import { type AnyBatch, batchChangePages, batchOf, crumbs } from "./BatchChangePages.ts"
import { type Pace, paceOf } from "./batchPace.ts"
import { channelPermissions, channelsOf, tabIn } from "./messageParts.ts"
import { messagesCsv } from "./messagesCsv.ts"

const perPage = 25

/** Most failures that the page of a batch reads to group them. */
const mostFailures = 100

const tones: Readonly<Record<AnyBatch["status"] | "scheduled", Tone>> = {
  scheduled: "busy",
  queued: "busy",
  processing: "busy",
  completed: "good",
  failed: "bad",
  canceled: "quiet"
}

const statusOf = ({ t }: Ask, { status }: AnyBatch) => badge(t.text(`batch.status.${status}`), tones[status])

/** The parts of a batch, what went wrong first in its numbers and last in its bar. */
const sharesOf = ({ t }: Ask, batch: AnyBatch): ReadonlyArray<Share> => [
  { label: t.text("batch.count.sent"), count: batch.sent, tone: "good" },
  { label: t.text("batch.count.queued"), count: batch.queued, tone: "busy" },
  { label: t.text("batch.count.failed"), count: batch.failed, tone: "bad" },
  { label: t.text("batch.count.suppressed"), count: batch.suppressed, tone: "warn" },
  { label: t.text("batch.count.canceled"), count: batch.canceled, tone: "quiet" }
]

const columns = (ask: AccountAsk, channel: SummaryChannel): ReadonlyArray<Column<AnyBatch>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("batches.id"),
      cell: ({ batch_id }) => html`<a href="${to(`/batches/${channel}/${batch_id}`)}">${code(batch_id)}</a>`
    },
    { label: t.text("batches.status"), cell: (batch) => statusOf(ask, batch) },
    { label: t.text("batches.progress"), cell: (batch) => bar(ask, sharesOf(ask, batch)) },
    { label: t.text("batches.failed"), cell: ({ failed }) => number(ask, failed), kind: "number" },
    { label: t.text("batches.total"), cell: ({ total }) => number(ask, total), kind: "number" },
    { label: t.text("batches.created"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

const list = Page.account({
  path: "/batches",
  permission: "messages:read",
  entry: { group: "", label: "nav.batches", icon: "users", order: 3, key: "b" },
  read: (ask) =>
    Effect.gen(function*() {
      const channel = tabIn(ask, channelsOf(ask, "read"))
      const { accountId } = ask
      const window = { limit: perPage + 1, offset: 0 }
      const newest = { sort: "-created_at" } as const
      const { rows } = channel === "email"
        ? yield* (yield* BulkEmail).list(accountId, newest, {
          ...window,
          after: positionIn(ask, Schema.Tuple([Instant, EmailBatchId]))
        })
        : yield* (yield* Messages).batches({ accountId, channel }, newest, {
          ...window,
          after: positionIn(ask, Schema.Tuple([Instant, MessageBatchId]))
        })
      const given: ReadonlyArray<AnyBatch> = rows
      return { channel, page: pageOf(given, perPage, ({ batch_id, created_at }) => [created_at, batch_id]) }
    }),
  draw: ({ channel, page: { older, rows } }, ask) => {
    const { path, t } = ask
    return {
      title: t.text("batches.title"),
      curl: `/v1/${channel}/batches`,
      content: html`${
        tabs(
          t.text("batches.channels"),
          channelsOf(ask, "read").map((one) => ({
            label: t.text(`channel.${one}`),
            href: `${path}?channel=${one}`,
            isCurrent: one === channel
          }))
        )
      }
${
        rows.length === 0
          ? emptyState({
            icon: "users",
            title: t.text("batches.empty.title"),
            text: t.text("batches.empty.text"),
            button: linkButton("/docs/guides", t.text("batches.guide"), { icon: "book-open" })
          })
          : table(t.text("batches.caption"), columns(ask, channel), rows)
      }
${pager(ask, cursorsAround(ask, older))}`
    }
  }
})

const failed = {
  email: ["failed", "bounced", "suppressed"],
  sms: ["failed"],
  whatsapp: ["failed"]
} as const satisfies Readonly<Record<SummaryChannel, ReadonlyArray<MessageSummary["status"]>>>

interface Reason {
  readonly key: string
  readonly error: string | undefined
  readonly count: number
  readonly example: MessageSummary
}

/** The reasons of failures, the most frequent first. */
const reasonsOf = (failures: ReadonlyArray<MessageSummary>): ReadonlyArray<Reason> => {
  const reasons = new Map<string, Reason>()
  for (const example of failures) {
    const error = example.status === "suppressed" ? "suppressed" : example.error ?? undefined
    const key = `${example.status} ${error}`
    const known = reasons.get(key)
    reasons.set(key, { key, error, example: known?.example ?? example, count: (known?.count ?? 0) + 1 })
  }
  return [...reasons.values()].toSorted((one, other) => other.count - one.count)
}

const failuresOf = Effect.fnUntraced(function*({ accountId }: AccountAsk, channel: SummaryChannel, id: string) {
  const all = yield* AllMessages
  const found = yield* Effect.forEach(failed[channel], (status) =>
    all.list(
      { accountId, channels: new Set([channel]) },
      { batch_id: id, status, tags: [], metadata: {} },
      { limit: mostFailures, offset: 0, after: null }
    ))
  return found.flat().map(({ summary }) => summary)
})

const reasonOf = (ask: AccountAsk, { count, error, example, key }: Reason) => {
  const { t, to } = ask
  const { channel, id, status, to: recipient } = example
  return {
    id: createHash("sha256").update(key).digest("base64url").slice(0, 16),
    tone: status === "suppressed" ? "warn" as const : "bad" as const,
    sentence: status === "suppressed"
      ? t.text("batch.suppressedReason")
      : error === undefined
      ? t.text("batch.noReason")
      : foreign(error),
    more: t.text("batch.count", { count }),
    actions: html`<a class="button" href="${to(`/messages/${channel}/${id}`)}"><span class="hidden">${
      t.text("batch.example")
    }: </span>${foreign([recipient].flat().join(", "))}</a>`
  }
}

/** Why messages failed. It stands there also without a reason, because the first one comes while the page is open. */
const failuresCard = (ask: AccountAsk, failures: ReadonlyArray<MessageSummary>) => {
  const reasons = reasonsOf(failures).map((reason) => reasonOf(ask, reason))
  return card(
    ask.t.text("batch.failures"),
    heldList("failures", reasons, ask.t.text("batch.noFailures")),
    "failures"
  )
}

/** How quickly it is sent, and when it ends. The line has its place from the beginning, so that nothing moves. */
const paceLine = (ask: Ask, pace: Pace | undefined) => {
  if (pace === undefined) return html`<p class="quiet pace"></p>`
  const { left, perMinute } = pace
  const count = number(ask, Math.max(1, Math.round(perMinute)))
  return html`<p class="quiet pace">${
    left === undefined
      ? ask.t.text("batch.pace", { count })
      : ask.t.text("batch.paceLeft", { count, span: span(ask, Math.max(1000, left)) })
  }</p>`
}

/** What became of the batch, in one sentence. */
const summaryOf = ({ t }: Ask, { canceled, failed: bad, queued, sent, status, suppressed, total }: AnyBatch) => {
  if (status === "canceled") return note(t.text("batch.canceledAt", { sent }), "quiet")
  const lost = bad + suppressed
  if (lost > 0) return note(t.text("batch.some", { failed: lost, total }), "bad")
  if (queued > 0) return note(t.text("batch.running", { left: queued }), "busy")
  return canceled > 0 ? note(t.text("batch.fineButCanceled", { canceled }), "good") : note(t.text("batch.fine"), "good")
}

const batchFacts = (ask: AccountAsk, batch: AnyBatch, channel: SummaryChannel) => {
  const { t, to } = ask
  return facts([
    [t.text("batches.status"), statusOf(ask, batch)],
    [t.text("batches.id"), code(batch.batch_id)],
    [t.text("batches.created"), moment(ask, batch.created_at)],
    [t.text("batches.completed"), batch.completed_at === null ? "–" : moment(ask, batch.completed_at)],
    ...(batch.resent_as === null ? [] : [
      [
        t.text("batch.again.as"),
        html`<a href="${to(`/batches/${channel}/${batch.resent_as}`)}">${code(batch.resent_as)}</a>`
      ] as const
    ]),
    ...(batch.tags.length === 0 ? [] : [
      [t.text("messages.tags"), html`${batch.tags.map((tag) => html`${code(tag)} `)}`] as const
    ])
  ])
}

interface Failed {
  readonly channel: SummaryChannel
  readonly failures: ReadonlyArray<MessageSummary>
}

/** Sends again to the recipients that an ended batch did not reach. */
const againButton = ({ can, t, to }: AccountAsk, batch: AnyBatch, { channel, failures }: Failed) => {
  const label = t.text("batch.again")
  if (!can(channelPermissions[channel].write)) return false
  if (batch.completed_at === null) return buttonRoom(label, "send")
  return batch.resent_as === null && failures.some(({ status }) => status !== "suppressed") &&
    linkButton(to(`/batches/${channel}/${batch.batch_id}/again`), label, { icon: "send", opensDialog: true })
}

const one = Page.account({
  path: "/batches/:channel/:id",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const { batch, channel } = yield* batchOf(ask)
      const all = yield* AllMessages
      const file = wantsCsv(ask)
        ? messagesCsv((limit, after) =>
          all.list(
            { accountId: ask.accountId, channels: new Set([channel]) },
            { batch_id: batch.batch_id, tags: [], metadata: {} },
            { limit, offset: 0, after }
          )
        )
        : undefined
      // A mail may bounce after its batch has ended.
      const isFine = file !== undefined || (channel !== "email" && batch.failed === 0)
      const failures = isFine ? [] : yield* failuresOf(ask, channel, batch.batch_id)
      return { batch, channel, file, failures, pace: paceOf(batch, yield* Clock.currentTimeMillis) }
    }),
  draw: ({ batch, channel, failures, file, pace }, ask) => {
    const { can, t, to } = ask
    const shares = sharesOf(ask, batch)
    const here = `/batches/${channel}/${batch.batch_id}` as const
    return {
      title: t.text("batch.title", { total: batch.total }),
      isLive: batch.completed_at === null,
      crumbs: crumbs(ask),
      curl: `/v1/${channel}/batches/${batch.batch_id}`,
      ...(file !== undefined && { file: { ...file, name: `${batch.batch_id}.csv` } }),
      buttons: html`${againButton(ask, batch, { channel, failures })}${
        batch.completed_at === null && linkButton(ask.path, t.text("message.refresh"), { icon: "refresh-cw" })
      }${
        linkButton(`${to("/messages")}?channel=${channel}&batch_id=${batch.batch_id}`, t.text("batch.messages"), {
          icon: "inbox"
        })
      }${linkButton(csvHref(ask), t.text("batch.csv"), { icon: "download" })}${
        can(channelPermissions[channel].write) && batch.queued > 0 && batch.status !== "canceled" &&
        linkButton(to(`${here}/cancel`), t.text("batch.cancel"), { tone: "danger", opensDialog: true })
      }`,
      content: html`<div class="why">${summaryOf(ask, batch)}</div>
<div class="cards">${failuresCard(ask, failures)}${
        card(t.text("batch.counts"), html`${bar(ask, shares)}${legend(ask, shares)}${paceLine(ask, pace)}`, "counts")
      }${card(t.text("batch.facts"), batchFacts(ask, batch, channel), "facts")}</div>`
    }
  }
})

/** The pages of batches: list, one. */
export const batchesPages = [list, one, ...batchChangePages] as const
