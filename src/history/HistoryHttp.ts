import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { lackOf, type Purpose } from "../failovers/channelAccess.ts"
import { SummaryChannel } from "../messages/MessageSummary.ts"
import { Database } from "../platform/database/Database.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { cursorPage } from "../platform/http/pages.ts"
import { metadataKeyOf } from "../values/Labels.ts"
import { AllMessages } from "./AllMessages.ts"
import { HistoryApi } from "./HistoryApi.ts"
import { SearchIndexing } from "./SearchIndexing.ts"
import { SearchRepo } from "./SearchRepo.ts"
import { Timelines } from "./Timelines.ts"

/** The channels that the caller may see. A channel that it names and may not see is refused. */
const channelsOf = Effect.fnUntraced(function*(to: Purpose, asked?: SummaryChannel) {
  const caller = yield* Principal
  const lack = asked === undefined ? undefined : lackOf(caller, to, asked)
  if (lack !== undefined) return yield* lack
  const wanted = asked === undefined ? SummaryChannel.literals : [asked]
  return new Set(wanted.filter((channel) => lackOf(caller, to, channel) === undefined))
})

/** The parameters `metadata[KEY]`. */
const metadataOf = Effect.gen(function*() {
  const search = yield* HttpServerRequest.ParsedSearchParams
  const entries: Array<readonly [string, string]> = []
  for (const [name, value] of Object.entries(search)) {
    const key = metadataKeyOf(name)
    if (key === undefined || value === undefined) continue
    if (typeof value !== "string") return yield* ValidationFailed.of(name, "must be given once")
    entries.push([key, value])
  }
  return Object.fromEntries(entries.toSorted(([one], [other]) => one < other ? -1 : 1))
})

const HistoryHttp = endpointGroup(baseContract.add(HistoryApi), "history", (handlers) =>
  Effect.gen(function*() {
    const messages = yield* AllMessages
    const timelines = yield* Timelines
    const timeline = (channel: SummaryChannel) =>
      Effect.fnUntraced(function*({ params }: { readonly params: { readonly id: number } }) {
        const { accountId } = yield* Principal
        return { data: yield* timelines.read({ accountId, channel, id: params.id }) }
      })
    return handlers.handleAll({
      list: Effect.fnUntraced(function*({ query }) {
        const { accountId } = yield* Principal
        const of = { accountId, channels: yield* channelsOf("list", query.channel) }
        const metadata = yield* metadataOf
        const filter = { ...query, tags: [query.tag ?? []].flat(), metadata }
        const { data, meta } = yield* cursorPage(
          filter,
          (window) => messages.list(of, filter, window),
          ({ position }) => position
        )
        return { data: data.map(({ summary }) => summary), meta }
      }),
      emailTimeline: timeline("email"),
      smsTimeline: timeline("sms"),
      whatsappTimeline: timeline("whatsapp"),
      failoverTimeline: Effect.fnUntraced(function*({ params }) {
        const { accountId } = yield* Principal
        const channels = yield* channelsOf("read")
        return { data: yield* timelines.ofFailover({ accountId, id: params.failover_id }, channels) }
      }),
      codeTimeline: Effect.fnUntraced(function*({ params }) {
        const { accountId } = yield* Principal
        return { data: yield* timelines.ofVerification({ accountId, id: params.verification_id }) }
      })
    })
  }))

const Indexing = Database.onMaintenancePool(SearchIndexing.pipe(Layer.provide(SearchRepo.layer)))

/** The list of all messages, and the task that keeps its search current. */
export const HistoryLayer = Layer.merge(
  HistoryHttp.pipe(Layer.provideMerge(Layer.merge(AllMessages.layer, Timelines.layer))),
  Indexing
)
