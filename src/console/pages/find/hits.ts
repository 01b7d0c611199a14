/** What is found beside messages: records by their ids, and those whose names have the words. */
import { Effect, Option, Schema } from "effect"
import { ApiKeys } from "../../../api-keys/ApiKeys.ts"
import { BulkEmail } from "../../../channels/email/bulk/BulkEmail.ts"
import { Emails } from "../../../channels/email/single/Emails.ts"
import { Suppressions } from "../../../channels/email/suppressions/Suppressions.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import { Failovers } from "../../../failovers/Failovers.ts"
import { Messages } from "../../../messages/Messages.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import { html, type HtmlValue } from "../../../platform/http/html.ts"
import { Requests } from "../../../requests/Requests.ts"
import { Templates } from "../../../templates/Templates.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import {
  DeliveryId,
  EmailDomainId,
  EmailMessageId,
  MessageId,
  WebhookId,
  WhatsAppSessionId
} from "../../../values/Ids.ts"
import { Verifications } from "../../../verify/Verifications.ts"
import { Deliveries } from "../../../webhooks/history/Deliveries.ts"
import { Webhooks } from "../../../webhooks/Webhooks.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { principalOf } from "../../page/principalOf.ts"
import type { Place } from "../../ui/layout.ts"
import { code, foreign, moment } from "../../ui/parts.ts"
import { channelPermissions } from "../messages/messageParts.ts"
import { isMessage, type Numbered, type Sought } from "./soughtIn.ts"

type Kind =
  | "message"
  | "batch"
  | "template"
  | "domain"
  | "suppression"
  | "session"
  | "webhook"
  | "delivery"
  | "request"
  | "refused"
  | "code"
  | "key"
  | "page"

/** Something that was found, and its page. */
export interface Hit {
  readonly kind: Kind
  readonly place: `/${string}` | ""
  readonly label: HtmlValue
}

/** Rows of each list whose names are compared, and most webhooks whose deliveries are looked at. */
const mostCompared = 100
const mostWebhooks = 20
const first = { limit: mostCompared, offset: 0, after: null }

const kindOfNumbered = (kind: Numbered): Kind => isMessage(kind) ? "message" : kind

/** The kinds of records that an id may name; empty where none was looked for by an id. */
export const kindsOf = (sought: ReadonlyArray<Sought>): ReadonlyArray<Kind> => {
  const kinds = sought.flatMap((one): ReadonlyArray<Kind> => {
    switch (one.kind) {
      case "record":
        return one.kinds.map(kindOfNumbered)
      case "emailBatch":
        return ["batch"]
      case "failover":
        return ["message"]
      case "verification":
        return ["code"]
      case "event":
        return ["delivery"]
      case "batch":
      case "template":
      case "request":
        return [one.kind]
      default:
        return []
    }
  })
  return [...new Set(kinds)]
}

/** Most refused requests that are shown for a recipient. */
const mostRefused = 10

/** The hit of a record that exists. */
const found = <A, E, R>(record: Effect.Effect<A, E, R>, hit: Hit): Effect.Effect<ReadonlyArray<Hit>, never, R> =>
  Effect.match(record, { onFailure: () => [], onSuccess: () => [hit] })

const webhooksOf = Effect.fnUntraced(function*({ accountId, can }: AccountAsk) {
  if (!can("webhooks:read")) return []
  return (yield* (yield* Webhooks).list(accountId, { ...first, limit: mostWebhooks })).rows
})

const batchHit = (channel: SummaryChannel, id: string): Hit => ({
  kind: "batch",
  place: `/batches/${channel}/${id}`,
  label: code(id)
})

const deliveryHit = (webhook: number, id: number): Hit => ({
  kind: "delivery",
  place: `/webhooks/${webhook}/deliveries/${id}`,
  label: code(String(id))
})

/** A delivery is stored under its webhook, so each webhook is asked. */
const deliveries = Effect.fnUntraced(function*(ask: AccountAsk, id: number) {
  const { accountId } = ask
  const { find } = yield* Deliveries
  return yield* Effect.forEach(
    yield* webhooksOf(ask),
    (webhook) => found(find({ accountId, id: webhook.id }, DeliveryId.make(id)), deliveryHit(webhook.id, id))
  )
})

const recordHits = Effect.fnUntraced(function*(ask: AccountAsk, kind: Numbered, id: number) {
  const { accountId, can } = ask
  const hit = (place: `/${string}`): Hit => ({ kind: kindOfNumbered(kind), place, label: code(`${kind} ${id}`) })
  switch (kind) {
    case "email":
      if (!can(channelPermissions.email.read)) return []
      return yield* found((yield* Emails).find(accountId, EmailMessageId.make(id)), hit(`/messages/email/${id}`))
    case "sms":
    case "whatsapp":
      if (!can(channelPermissions[kind].read)) return []
      return yield* found(
        (yield* Messages).find({ accountId, channel: kind }, MessageId.make(id)),
        hit(`/messages/${kind}/${id}`)
      )
    case "webhook":
      if (!can("webhooks:read")) return []
      return yield* found((yield* Webhooks).find(accountId, WebhookId.make(id)), hit(`/webhooks/${id}`))
    case "delivery":
      return (yield* deliveries(ask, id)).flat()
    case "session":
      if (!can("sessions:read")) return []
      return yield* found(
        (yield* Sessions).find({ accountId, id: WhatsAppSessionId.make(id) }),
        hit(`/whatsapp/${id}`)
      )
    case "domain":
      if (!can("domains:read")) return []
      return yield* found(
        (yield* DomainRegistrations).find(accountId, EmailDomainId.make(id)),
        hit(`/domains/${id}`)
      )
  }
})

const eventHits = Effect.fnUntraced(function*(
  ask: AccountAsk,
  event_id: Extract<Sought, { readonly kind: "event" }>["id"]
) {
  const { accountId } = ask
  const { list } = yield* Deliveries
  const lists = yield* Effect.forEach(
    yield* webhooksOf(ask),
    ({ id }) =>
      Effect.match(list({ accountId, id }, { sort: "-created_at", event_id }, { limit: 10, offset: 0, after: null }), {
        onFailure: () => [],
        onSuccess: ({ rows }) => rows.map((delivery) => deliveryHit(id, delivery.id))
      })
  )
  return lists.flat()
})

/** The records that an id names. */
const byId = Effect.fnUntraced(function*(ask: AccountAsk, sought: Sought) {
  const { accountId, can } = ask
  switch (sought.kind) {
    case "request": {
      if (!can("requests:read")) return []
      const { id } = sought
      return yield* found(
        (yield* Requests).find(accountId, id),
        { kind: "request", place: `/requests/${id}`, label: code(id) }
      )
    }
    case "emailBatch": {
      if (!can("emails:read")) return []
      const { id } = sought
      return yield* found((yield* BulkEmail).find(accountId, id), batchHit("email", id))
    }
    case "batch": {
      const { channel, id } = sought
      if (!can(channelPermissions[channel].read)) return []
      return yield* found((yield* Messages).batch({ accountId, channel }, id), batchHit(channel, id))
    }
    case "template": {
      if (!can("templates:read")) return []
      const { id } = sought
      return yield* found(
        (yield* Templates).find(accountId, id),
        { kind: "template", place: `/templates/${id}`, label: code(id) }
      )
    }
    case "event":
      return yield* eventHits(ask, sought.id)
    case "failover": {
      const { id } = sought
      return yield* found(
        (yield* Failovers).find(principalOf(ask), id),
        { kind: "message", place: `/messages/${id}`, label: code(id) }
      )
    }
    case "verification": {
      if (!can("verify:read")) return []
      const { id } = sought
      return yield* found(
        (yield* Verifications).find(accountId, id),
        { kind: "code", place: `/verify/${id}`, label: code(id) }
      )
    }
    case "record":
      return (yield* Effect.forEach(sought.kinds, (kind) => recordHits(ask, kind, sought.id))).flat()
    case "place":
      return [{ kind: "page" as const, place: sought.place, label: code(sought.path) }]
    default:
      return []
  }
})

const decodeAddress = Schema.decodeUnknownOption(EmailAddress)

const suppressionHits = Effect.fnUntraced(function*({ accountId, can }: AccountAsk, text: string) {
  const address = decodeAddress(text)
  if (Option.isNone(address) || !can("emails:read")) return []
  return yield* found(
    (yield* Suppressions).find(accountId, address.value),
    {
      kind: "suppression",
      place: `/suppressions?${new URLSearchParams({ email: address.value })}`,
      label: code(address.value)
    }
  )
})

/** The refused requests that name a recipient, the newest first. */
const refusedHits = Effect.fnUntraced(function*(ask: AccountAsk, recipient: string) {
  if (!ask.can("requests:read")) return []
  const { list } = yield* Requests
  const refused = yield* list(ask.accountId, { recipient }, { limit: mostRefused, offset: 0, after: null })
  return refused.map(({ created_at, error, id, method, path, status }): Hit => ({
    kind: "refused",
    place: `/requests/${id}`,
    label: html`${code(`${method} ${path}`)} ${code(error?.type ?? String(status))} ${moment(ask, created_at)}`
  }))
})

/** Records and pages whose names have these words. */
const byName = Effect.fnUntraced(function*(ask: AccountAsk, text: string, places: ReadonlyArray<Place>) {
  const { accountId, can, t } = ask
  const words = text.toLowerCase()
  const has = (...names: ReadonlyArray<string | null>) => names.some((name) => name?.toLowerCase().includes(words))
  const templates = can("templates:read") ? (yield* (yield* Templates).list(accountId, first)).rows : []
  const domains = can("domains:read") ? yield* (yield* DomainRegistrations).list(accountId) : []
  const sessions = can("sessions:read") ? (yield* (yield* Sessions).list(accountId, {}, first)).rows : []
  const keys = can("keys:read") ? yield* (yield* ApiKeys).list(accountId) : []
  const isAllowed = ({ permission }: Place) => permission === undefined || can(permission)
  const hits: ReadonlyArray<Hit> = [
    ...places.filter((place) => isAllowed(place) && has(t.named(place.label) ?? null)).map(({ label, path }) => ({
      kind: "page" as const,
      place: path,
      label: t.named(label) ?? path
    })),
    ...templates.filter(({ name, subject }) => has(name, subject)).map(({ id, name }) => ({
      kind: "template" as const,
      place: `/templates/${id}` as const,
      label: foreign(name)
    })),
    ...domains.filter(({ domain }) => has(domain)).map(({ domain, id }) => ({
      kind: "domain" as const,
      place: `/domains/${id}` as const,
      label: code(domain)
    })),
    ...sessions.filter(({ name, phone_number }) => has(name, phone_number)).map(({ id, name }) => ({
      kind: "session" as const,
      place: `/whatsapp/${id}` as const,
      label: foreign(name)
    })),
    ...(yield* webhooksOf(ask)).filter(({ url }) => has(url)).map(({ id, url }) => ({
      kind: "webhook" as const,
      place: `/webhooks/${id}` as const,
      label: code(url)
    })),
    ...keys.filter(({ key_prefix, name }) => has(name) || text.startsWith(key_prefix)).map(({ name }) => ({
      kind: "key" as const,
      place: "/keys" as const,
      label: foreign(name)
    }))
  ]
  return hits
})

/** Everything that was found beside messages. */
export const hitsOf = Effect.fnUntraced(function*(
  ask: AccountAsk,
  sought: ReadonlyArray<Sought>,
  places: ReadonlyArray<Place>
) {
  const hits: Array<Hit> = []
  for (const one of sought) {
    if (one.kind === "address") {
      hits.push(...(yield* suppressionHits(ask, one.text)), ...(yield* refusedHits(ask, one.text)))
    } else if (one.kind === "phone") hits.push(...(yield* refusedHits(ask, one.digits)))
    else if (one.kind === "words") hits.push(...(yield* byName(ask, one.text, places)))
    else hits.push(...(yield* byId(ask, one)))
  }
  return hits
})
