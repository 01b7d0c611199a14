/** What the pages of messages share. */
import { Effect, Option, Schema } from "effect"
import type { ApiKey } from "../../../api-keys/ApiKey.ts"
import { ApiKeys } from "../../../api-keys/ApiKeys.ts"
import type { EmailRecipient } from "../../../channels/email/single/Email.ts"
import { type AnyStatus, SummaryChannel } from "../../../messages/MessageSummary.ts"
import { SandboxMessages } from "../../../messages/SandboxMessage.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { type Html, html, type HtmlValue } from "../../../platform/http/html.ts"
import type { AccountId } from "../../../values/Ids.ts"
import { type Labels, metadataName } from "../../../values/Labels.ts"
import type { Permission } from "../../../values/Permission.ts"
import type { VerificationStatus } from "../../../verify/Verification.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { badge, code, foreign, number, type Tone } from "../../ui/parts.ts"
import { type Column, filterChoice } from "../../ui/table.ts"

const tones: Readonly<Record<AnyStatus, Tone>> = {
  scheduled: "busy",
  queued: "busy",
  sent: "quiet",
  delivered: "good",
  opened: "good",
  clicked: "good",
  read: "good",
  received: "quiet",
  bounced: "bad",
  complained: "bad",
  failed: "bad",
  suppressed: "warn",
  canceled: "quiet"
}

/** The colour of a status. */
export const toneOf = (status: AnyStatus): Tone => tones[status]

export const statusBadge = ({ t }: Ask, status: AnyStatus): Html => badge(t.text(`status.${status}`), toneOf(status))

/** The colour of a verification's status. */
export const codeTones: Readonly<Record<VerificationStatus, Tone>> = {
  pending: "busy",
  approved: "good",
  expired: "warn",
  max_attempts: "bad"
}

export const codeStatusBadge = ({ t }: Ask, status: VerificationStatus): Html =>
  badge(t.text(`verify.status.${status}`), codeTones[status])

/** The permissions to read and to send the messages of each channel, as its endpoints have them. */
export const channelPermissions: Readonly<
  Record<SummaryChannel, { readonly read: Permission; readonly write: Permission }>
> = {
  email: { read: "emails:read", write: "emails:write" },
  sms: { read: "sms:read", write: "sms:write" },
  whatsapp: { read: "messages:read", write: "messages:write" }
}

/** The channels that a person may read, or write to. */
export const channelsOf = ({ can }: AccountAsk, to: "read" | "write"): ReadonlyArray<SummaryChannel> =>
  SummaryChannel.literals.filter((channel) => can(channelPermissions[channel][to]))

const decodeChannel = Schema.decodeUnknownOption(SummaryChannel)

/** The channel in the path. One that the person may not read is missing, like an unknown one. */
export const channelIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  const channel = decodeChannel(ask.params["channel"])
  if (Option.isNone(channel) || !channelsOf(ask, "read").includes(channel.value)) return yield* new NotFound()
  return channel.value
})

/** The channel of a tab: that of the address, or the first one. */
export const tabIn = ({ query }: Ask, given: ReadonlyArray<SummaryChannel>): SummaryChannel =>
  given.find((channel) => channel === query.get("channel")) ?? given[0] ?? "email"

/** The keys of the account, if its person may see them. */
export const keysOf = Effect.fnUntraced(function*({ accountId, can, mode }: AccountAsk) {
  if (!can("keys:read")) return []
  return (yield* (yield* ApiKeys).list(accountId)).filter((key) => key.mode === mode)
})

/** The field of a filter by key. */
export const keyChoice = (ask: Ask, keys: ReadonlyArray<ApiKey>): Html | false =>
  (keys.length > 0 || ask.query.has("key_id")) && filterChoice(ask, {
    name: "key_id",
    label: ask.t.text("messages.key"),
    options: keys.map(({ id, name }) => [String(id), name])
  })

/** Of the keys or the sessions of an account, the name of one. */
export const nameOf = (
  rows: ReadonlyArray<{ readonly id: number; readonly name: string }>,
  id: string
): string => rows.find((row) => String(row.id) === id)?.name ?? id

/** One recipient, or the first of several with the number of the others. */
export const recipientsText = ({ t }: Ask, to: string | ReadonlyArray<string>): string => {
  const [first = "", ...others] = [to].flat()
  return others.length === 0 ? first : t.text("message.many", { first, count: others.length })
}

/** The recipients as markup: each address keeps its direction. */
export const recipients = ({ t }: Pick<Ask, "t">, to: string | ReadonlyArray<string>): Html => {
  const [first = "", ...others] = [to].flat()
  return others.length === 0 ? foreign(first) : t.rich("message.many", { first: foreign(first), count: others.length })
}

/** Who wrote a received message, as far as WhatsApp tells it. */
export const senderOf = ({ t }: Pick<Ask, "t">, from: string | null): Html =>
  from === null ? html`<span class="quiet">${t.text("contacts.hidden")}</span>` : foreign(from)

/** The columns of the recipients of an email. */
export const recipientColumns = (ask: Ask): ReadonlyArray<Column<EmailRecipient>> => {
  const { t } = ask
  return [
    { label: t.text("messages.to"), cell: ({ to }) => foreign(to) },
    { label: t.text("message.kind"), cell: ({ kind }) => t.text(`message.kind.${kind}`) },
    { label: t.text("messages.status"), cell: ({ status }) => statusBadge(ask, status) },
    { label: t.text("message.error"), cell: ({ error }) => error === null ? null : foreign(error) },
    { label: t.text("message.opens"), cell: ({ opens }) => number(ask, opens), kind: "number" },
    { label: t.text("message.clicks"), cell: ({ clicks }) => number(ask, clicks), kind: "number" }
  ]
}

/** A link to the messages that a filter of the list selects. */
export const listLink = ({ to }: AccountAsk, filter: Readonly<Record<string, string>>, label: Html): Html =>
  html`<a href="${to("/messages")}?${new URLSearchParams(filter).toString()}">${label}</a>`

/** The tags and the metadata of a message. Each leads to the messages that have it too. */
export const labelFacts = (
  ask: AccountAsk,
  { metadata, tags }: Labels
): ReadonlyArray<readonly [string, HtmlValue]> => {
  const own = tags.map((tag) => html`${listLink(ask, { tag }, code(tag))} `)
  const entries = Object.entries(metadata).map(([name, value]) =>
    html`<span class="pair">${code(name)} ${listLink(ask, { [metadataName(name)]: value }, foreign(value))}</span> `
  )
  const given: ReadonlyArray<readonly [string, ReadonlyArray<Html>]> = [
    [ask.t.text("messages.tags"), own],
    [ask.t.text("message.metadata"), entries]
  ]
  return given.filter(([, values]) => values.length > 0)
}

/** How many messages of the recipient stand beside the message. */
const mostBeside = 3

/** The inbox, the phone or the chat of the first recipient, since the message or the code was accepted. */
export const besideOf = Effect.fnUntraced(function*(
  accountId: AccountId,
  channel: SummaryChannel,
  { created_at, to }: { readonly created_at: string; readonly to: string | ReadonlyArray<string> }
) {
  const first = [to].flat()[0] ?? ""
  const { rows } = yield* (yield* SandboxMessages).list(
    accountId,
    { channel, to: /<([^<>]+)>$/.exec(first)?.[1] ?? first, wait: 0 },
    { limit: mostBeside, offset: 0, after: null }
  )
  // WhatsApp tells the time in whole seconds.
  return rows.filter(({ received_at }) => received_at.slice(0, 19) >= created_at.slice(0, 19))
})
