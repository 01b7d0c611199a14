import { Effect, Option } from "effect"
import type { SmsLink } from "../../../channels/sms/parts/SmsLink.ts"
import { SmsLinks } from "../../../channels/sms/SmsLinks.ts"
import { SmsStatistics } from "../../../channels/sms/SmsStatistics.ts"
import type { SmsStatisticsReport } from "../../../channels/sms/SmsStatisticsReport.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { html } from "../../../platform/http/html.ts"
import { Prices } from "../../../pricing/Prices.ts"
import { dollars } from "../../../pricing/SmsPrice.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import {
  badge,
  card,
  code,
  countryName,
  facts,
  foreign,
  inDollars,
  linkButton,
  moment,
  note,
  number,
  share,
  type Tone
} from "../../ui/parts.ts"
import { type Column, search, table } from "../../ui/table.ts"
import { awayOf } from "../messages/explanation.ts"

interface Price {
  readonly country: string
  readonly code: string
  readonly dial_prefix: string
  readonly price_micros: number
}

/** The prices by the names of the countries in the reader's language. */
const inLanguage = ({ t }: Ask, prices: ReadonlyArray<Price>): ReadonlyArray<Price> => {
  const names = new Intl.DisplayNames([t.intl, "en"], { type: "region", fallback: "none" })
  const nameOf = ({ code: region, country }: Price) => /^[A-Z]{2}$/.test(region) ? names.of(region) ?? country : country
  const { compare } = new Intl.Collator(t.intl)
  return prices.map((price) => ({ ...price, country: nameOf(price) })).toSorted((a, b) => compare(a.country, b.country))
}

const columns = (ask: Ask): ReadonlyArray<Column<Price>> => {
  const { t } = ask
  return [
    { label: t.text("smsPage.country"), cell: ({ country }) => foreign(country) },
    { label: t.text("smsPage.prefix"), cell: ({ dial_prefix }) => code(dial_prefix) },
    {
      label: t.text("smsPage.price"),
      kind: "number",
      cell: ({ price_micros }) => inDollars(ask, dollars(price_micros))
    }
  ]
}

/** A country by a part of its name, or by the number to dial. */
const isFound = ({ country, dial_prefix }: Price, wanted: string) => {
  const digits = wanted.replaceAll(/\D/g, "")
  return country.toLowerCase().includes(wanted.toLowerCase())
    || (digits !== "" && digits.startsWith(dial_prefix.replaceAll(/\D/g, "")))
}

interface Sending {
  readonly provider: "smpp" | "http" | "sandbox"
  readonly senders: ReadonlyArray<string>
  readonly away: Effect.Success<ReturnType<typeof awayOf>>
  readonly link: Option.Option<SmsLink>
}

const tones: Readonly<Record<SmsLink["status"], Tone>> = { bound: "good", unbound: "warn", paused: "quiet" }

/** The bind to the carrier. Its last error may name machines of the operator. */
const linkFacts = (ask: AccountAsk, { last_error, max_rate, rate, since, status, window }: SmsLink) => {
  const { signedIn, t } = ask
  return facts([
    [
      t.text("smsPage.link.status"),
      html`${badge(t.text(`smsPage.link.${status}`), tones[status])} <span class="quiet">${
        t.rich("sessions.since", { when: moment(ask, since) })
      }</span>`
    ],
    [t.text("smsPage.link.window"), number(ask, window)],
    [
      t.text("smsPage.link.rate"),
      t.text("sessions.ofLimit", { count: number(ask, rate), limit: number(ask, max_rate) })
    ],
    ...(signedIn.person.is_operator && last_error !== null
      ? [
        [
          t.text("smsPage.link.lastError"),
          html`${foreign(last_error.reason)} <span class="quiet">${moment(ask, last_error.at)}</span>`
        ] as const
      ]
      : [])
  ])
}

const linkCard = (ask: AccountAsk, link: Sending["link"]) => {
  const { t } = ask
  return card(
    t.text("smsPage.link"),
    Option.match(link, {
      onNone: () => note(t.text("smsPage.link.silent"), "warn"),
      onSome: (found) => linkFacts(ask, found)
    }),
    "link"
  )
}

const about = (ask: AccountAsk, { away, provider, senders }: Sending) => {
  const { mode, t } = ask
  return card(
    t.text("smsPage.about"),
    html`${away !== null && note(t.text(`attention.${away}`), "warn")}${
      provider === "sandbox" && note(t.text(mode === "test" ? "smsPage.testNote" : "smsPage.sandboxNote"))
    }${
      facts([
        [t.text("smsPage.provider"), t.text(`smsPage.provider.${provider}`)],
        [
          t.text("smsPage.senders"),
          senders.length === 0
            ? t.text("smsPage.anySender")
            : html`${senders.map((sender) => html`${code(sender)} `)}<p class="hint">${
              t.text("smsPage.firstSender")
            }</p>`
        ]
      ])
    }`,
    "about"
  )
}

/** How many of the newest texts were delivered. */
const delivery = (ask: AccountAsk, { by_country, messages }: SmsStatisticsReport) => {
  const { t } = ask
  const counts = {
    delivered: "overview.outcome.delivered",
    failed: "overview.outcome.failed",
    pending: "smsPage.pending"
  } as const
  const names = ["delivered", "failed", "pending"] as const
  return html`<h2>${t.text("smsPage.delivery")}</h2>
<p class="quiet">${t.text("smsPage.counted", { count: number(ask, messages) })}</p>
${
    table(t.text("smsPage.delivery"), [
      { label: t.text("smsPage.country"), cell: ({ country }) => countryName(ask, country) },
      ...names.map((name) => ({
        label: t.text(counts[name]),
        kind: "number" as const,
        cell: (of: SmsStatisticsReport["by_country"][number]) => number(ask, of[name])
      })),
      { label: t.text("smsPage.rate"), kind: "number", cell: ({ delivery_rate }) => share(ask, delivery_rate) }
    ], by_country)
  }`
}

/** How texts are sent. By country, how many were delivered and what one costs. */
export const smsPage = Page.account({
  path: "/sms",
  permission: "sms:read",
  entry: { group: "sms", label: "nav.sms", icon: "message-square", order: 1, key: "n" },
  read: (ask) =>
    Effect.gen(function*() {
      const { smsSenderIds = [] } = yield* AppConfig
      const { rows } = yield* (yield* Prices).current
      return {
        ...yield* (yield* SmsLinks).of(ask.mode),
        away: yield* awayOf(ask, "sms"),
        statistics: yield* (yield* SmsStatistics).read(ask.accountId),
        senders: smsSenderIds,
        prices: rows
      }
    }),
  draw: ({ prices, statistics, ...sending }, ask) => {
    const { can, query, t, to } = ask
    const wanted = query.get("q")?.trim() ?? ""
    const all = inLanguage(ask, prices)
    const found = wanted === "" ? all : all.filter((price) => isFound(price, wanted))
    return {
      title: t.text("smsPage.title"),
      lead: t.text("smsPage.lead"),
      curl: "/v1/sms/pricing",
      buttons: html`${linkButton(`${to("/messages")}?channel=sms`, t.text("smsPage.messages"), { icon: "inbox" })}${
        can("messages:write") &&
        linkButton(`${to("/send")}?channel=sms`, t.text("smsPage.send"), { icon: "send", tone: "main" })
      }`,
      content: html`<div class="stack">${about(ask, sending)}${
        sending.provider === "smpp" && linkCard(ask, sending.link)
      }</div>
${statistics.messages > 0 && delivery(ask, statistics)}
<h2>${t.text("smsPage.prices")}</h2>
<p class="quiet">${t.text("smsPage.pricesText")}</p>
${search(ask, { label: t.text("smsPage.find"), button: t.text("smsPage.search") })}${
        found.length === 0
          ? note(t.text("smsPage.noPrice"), "warn")
          : table(t.text("smsPage.pricesCaption"), columns(ask), found)
      }`
    }
  }
})
