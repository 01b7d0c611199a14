import { Effect, type Record } from "effect"
import { DomainRegistrations } from "../../../email-domains/DomainRegistrations.ts"
import type { DnsRecord, DomainCheck, EmailDomain, Purpose, RecordStatus } from "../../../email-domains/EmailDomain.ts"
import { EmailDomainsApi } from "../../../email-domains/EmailDomainsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailDomainId } from "../../../values/Ids.ts"
import { ruleOf } from "../../language/rules.ts"
import { Action, goTo, ifNamed, namedFields } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { idIn, Page } from "../../page/Page.ts"
import { buttonForm, form, refusalOf } from "../../ui/form.ts"
import {
  badge,
  card,
  code,
  copyable,
  emptyState,
  facts,
  foreign,
  linkButton,
  moment,
  note,
  type Tone
} from "../../ui/parts.ts"
import { type Column, table } from "../../ui/table.ts"

const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/domains"), label: t.text("domains.title") }]

const statusBadge = ({ t }: Ask, { status }: EmailDomain) =>
  badge(t.text(`domains.status.${status}`), status === "verified" ? "good" : "busy")

const checkedAt = (ask: Ask, { checked_at }: EmailDomain) =>
  checked_at === null ? ask.t.text("common.never") : moment(ask, checked_at)

const columns = (ask: AccountAsk): ReadonlyArray<Column<EmailDomain>> => {
  const { t, to } = ask
  return [
    {
      label: t.text("domains.domain"),
      cell: ({ domain, id }) => html`<a href="${to(`/domains/${id}`)}">${code(domain)}</a>`
    },
    { label: t.text("domains.status"), cell: (domain) => statusBadge(ask, domain) },
    {
      label: t.text("domains.warnings"),
      cell: ({ warnings }) =>
        warnings.length === 0
          ? t.text("common.none")
          : badge(t.text("domains.warningCount", { count: warnings.length }), "warn")
    },
    { label: t.text("domains.checked"), cell: (domain) => checkedAt(ask, domain) },
    { label: t.text("domains.created"), cell: ({ created_at }) => moment(ask, created_at) }
  ]
}

const list = Page.account({
  path: "/domains",
  permission: "domains:read",
  entry: { group: "email", label: "nav.domains", icon: "globe", order: 2, key: "d" },
  read: ({ accountId }) => Effect.flatMap(DomainRegistrations, (domains) => domains.list(accountId)),
  draw: (domains, ask) => {
    const { can, t, to } = ask
    const button = can("domains:write") &&
      linkButton(to("/domains/new"), t.text("domains.new"), { icon: "plus", tone: "main" })
    return {
      title: t.text("domains.title"),
      lead: t.text("domains.lead"),
      curl: "/v1/email/domains",
      buttons: domains.length > 0 && button,
      content: domains.length === 0
        ? emptyState({
          icon: "globe",
          title: t.text("domains.empty.title"),
          text: t.text("domains.empty.text"),
          button
        })
        : table(t.text("domains.caption"), columns(ask), domains)
    }
  }
})

const add = Action.make({
  name: "add",
  endpoint: EmailDomainsApi.endpoints.add,
  fields: {
    domain: Field.text({ label: "domains.domain", hint: "domains.domainHint", autocomplete: "off", isMono: true })
  },
  request: ({ domain }) => ({ payload: { domain: domain ?? "" } }),
  after: ({ data }, { ask }) => goTo(ask.to(`/domains/${data.id}`), "domains.added")
})

const make = Page.account({
  path: "/domains/new",
  permission: "domains:write",
  read: () => Effect.void,
  draw: (_, ask) => ({
    title: ask.t.text("domains.add.title"),
    crumbs: crumbs(ask),
    content: form(ask, add, { submit: ask.t.text("domains.add.button"), cancel: ask.to("/domains") })
  }),
  actions: [add]
})

const recordTones: Readonly<Record<RecordStatus, Tone>> = {
  verified: "good",
  missing: "bad",
  mismatch: "bad",
  conflict: "bad",
  temporary_error: "warn"
}

/** DKIM and SPF decide whether a domain may send; the others are advice. */
const isRequired = (purpose: Purpose) => purpose === "DKIM" || purpose === "SPF"

/** The name as DNS hosts want it that add the domain by themselves. */
const shortName = (name: string, domain: string) => name === domain ? "@" : name.slice(0, -domain.length - 1)

type Judged = DomainCheck[number]

const toneOf = ({ purpose, status }: Judged): Tone =>
  !isRequired(purpose) && recordTones[status] === "bad" ? "warn" : recordTones[status]

/** What a verdict or a warning says, in the reader's language. */
const detailText = ({ t }: Ask, detail: string) => {
  const rule = ruleOf(detail)
  return (rule &&
    t.named(rule.text, rule.values)) ??
    foreign(detail)
}

const verdict = (ask: Ask, judged: Judged) => {
  const { t } = ask
  const found = judged.found.length === 0
    ? html`<p class="quiet">${t.text("domains.record.nothing")}</p>`
    : html`<ul class="found">${
      judged.found.map((value) => html`<li><code dir="ltr">${foreign(value)}</code></li>`)
    }</ul>`
  return html`${note(detailText(ask, judged.detail), toneOf(judged))}<h3>${t.text("domains.record.found")}</h3>${found}`
}

const record = (ask: Ask, { domain, judged, record: { name, purpose, type, value } }: {
  readonly domain: string
  readonly record: DnsRecord
  readonly judged: Judged | undefined
}) => {
  const { t } = ask
  const of = (label: string) => `${t.text(`domains.purpose.${purpose}`)}, ${label}`
  return html`<section class="card record" aria-labelledby="record-${purpose}"><h2 id="record-${purpose}">${
    t.text(`domains.purpose.${purpose}`)
  } ${
    judged === undefined
      ? badge(t.text("domains.record.unchecked"), "quiet")
      : badge(t.text(`domains.record.${judged.status}`), toneOf(judged))
  } ${badge(t.text(isRequired(purpose) ? "domains.required" : "domains.advised"), "quiet")}</h2>
<p class="quiet">${t.text(`domains.purposeText.${purpose}`)}</p>
<h3>${t.text("domains.record.type")}</h3><p>${code(type)}</p>
<h3>${t.text("domains.record.name")}</h3>${copyable(ask, name, { label: of(t.text("domains.record.name")) })}
<h3>${t.text("domains.record.short")}</h3>${
    copyable(ask, shortName(name, domain), { label: of(t.text("domains.record.short")) })
  }
<h3>${t.text("domains.record.value")}</h3>${copyable(ask, value, { label: of(t.text("domains.record.value")) })}
${judged !== undefined && judged.status !== "verified" && verdict(ask, judged)}</section>`
}

/** A text of DNS has parts of at most 255 bytes. */
const quoted = (value: string) => (value.match(/.{1,255}/g) ?? []).map((part) => `"${part}"`).join(" ")

const zoneLine = ({ name, type, value }: DnsRecord) =>
  `${name}. 3600 IN ${type} ${type === "TXT" ? quoted(value) : `${value}.`}`

export const check = Action.make({
  name: "check",
  endpoint: EmailDomainsApi.endpoints.verify,
  fields: {},
  request: (_, { params }) => ({ params: { id: params["id"] } }),
  after: ({ data }, { ask }) => goTo(ask.to(`/domains/${data.id}`), "domains.check.done")
})

const track = Action.make({
  name: "track",
  endpoint: EmailDomainsApi.endpoints.update,
  fields: {
    track_opens: Field.flag({ label: "domains.tracking.opens" }),
    track_clicks: Field.flag({ label: "domains.tracking.clicks" })
  },
  request: (payload, { params }) => ({ params: { id: params["id"] }, payload }),
  after: ({ data }, { ask }) => goTo(ask.to(`/domains/${data.id}`), "domains.tracking.done")
})

/** Why large receivers may refuse its mail. */
const warningsCard = (ask: Ask, { warnings }: EmailDomain) =>
  warnings.length > 0 &&
  card(
    ask.t.text("domains.warnings"),
    html`${warnings.map((warning) => note(detailText(ask, warning), "warn"))}`,
    "warnings"
  )

const trackingCard = (ask: AccountAsk, { track_clicks, track_opens }: EmailDomain) => {
  const { can, t } = ask
  const valueOf = (isOn: boolean) => isOn ? "on" : ""
  return can("domains:write") && card(
    t.text("domains.tracking"),
    html`<p>${t.text("domains.tracking.text")}</p>${
      form(ask, track, {
        submit: t.text("me.save"),
        values: { track_opens: valueOf(track_opens), track_clicks: valueOf(track_clicks) }
      })
    }`,
    "tracking"
  )
}

const domainIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  return yield* (yield* DomainRegistrations).checked(ask.accountId, yield* idIn(ask, EmailDomainId))
})

const one = Page.account({
  path: "/domains/:id",
  permission: "domains:read",
  read: domainIn,
  draw: ({ check: judgements, domain }, ask) => {
    const { can, t, to } = ask
    const records = domain.dns_records.map((one) =>
      record(ask, {
        domain: domain.domain,
        record: one,
        judged: judgements?.find(({ purpose }) => purpose === one.purpose)
      })
    )
    return {
      title: domain.domain,
      crumbs: crumbs(ask),
      curl: `/v1/email/domains/${domain.id}`,
      buttons: can("domains:write") &&
        html`${buttonForm(ask, check, { label: t.text("domains.check"), tone: "main" })}${
          linkButton(to(`/domains/${domain.id}/delete`), t.text("domains.delete"), {
            icon: "trash",
            tone: "danger",
            opensDialog: true
          })
        }`,
      content: html`<div class="stack">${ask.attempt?.action !== track.name && refusalOf(ask)}${
        note(t.text(`domains.state.${domain.status}`), domain.status === "verified" ? "good" : "warn")
      }${
        facts([
          [t.text("domains.status"), statusBadge(ask, domain)],
          [t.text("domains.checked"), checkedAt(ask, domain)],
          [t.text("domains.created"), moment(ask, domain.created_at)]
        ])
      }${warningsCard(ask, domain)}${records}${
        card(
          t.text("domains.zone"),
          copyable(ask, domain.dns_records.map(zoneLine).join("\n"), { label: t.text("domains.zone"), isBlock: true }),
          "zone"
        )
      }${trackingCard(ask, domain)}</div>`
    }
  },
  actions: [check, track]
})

const removeDomain = ifNamed(
  Action.make({
    name: "delete",
    endpoint: EmailDomainsApi.endpoints.remove,
    isFresh: true,
    fields: namedFields("domains.delete.typed"),
    request: (_, { params }) => ({ params: { id: params["id"] } }),
    after: (_, { ask }) => goTo(ask.to("/domains"), "domains.delete.done")
  })
)

const remove = Page.account({
  path: "/domains/:id/delete",
  permission: "domains:write",
  read: domainIn,
  draw: ({ domain: { domain, id } }, ask) => ({
    title: ask.t.text("domains.delete.title", { domain }),
    crumbs: crumbs(ask),
    content: html`<p>${ask.t.text("domains.delete.text")}</p>
${
      form(ask, removeDomain, {
        submit: ask.t.text("domains.delete.button"),
        tone: "danger",
        cancel: ask.to(`/domains/${id}`),
        values: { named: domain }
      })
    }`
  }),
  actions: [removeDomain]
})

/** The pages of sending domains: list, add, one with its records, delete. */
export const domainsPages = [list, make, one, remove] as const
