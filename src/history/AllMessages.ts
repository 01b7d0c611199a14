import { Context, Effect, Layer, Option, Schema } from "effect"
import type { MessageSummary, SummaryChannel } from "../messages/MessageSummary.ts"
import type { AccountId } from "../values/Ids.ts"
import type { Position, Window } from "../values/Page.ts"
import { HistoryRepo, type Known, newestAdded, type SummaryRange } from "./HistoryRepo.ts"
import { type SearchedTable, SearchRepo } from "./SearchRepo.ts"
import { matchesSearch, type Search, tsqueryPartsOf } from "./searchWords.ts"

/** Selects messages. Absent fields do not filter. */
export interface SummaryFilter extends Pick<SummaryRange, "tags" | "metadata"> {
  readonly status?: string | undefined
  readonly direction?: "in" | "out" | undefined
  /** The beginning of a recipient, or of the sender of a received message. */
  readonly to?: string | undefined
  readonly batch_id?: string | undefined
  readonly session_id?: number | undefined
  /** Of failed SMS and WhatsApp messages. */
  readonly error_code?: string | undefined
  /** The domain of the sender of emails. */
  readonly domain?: string | undefined
  /** The API key whose request made them. */
  readonly key_id?: number | undefined
  readonly q?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

/** A message and its place: the last message read of each channel. */
export interface Placed {
  readonly summary: MessageSummary
  readonly position: Position
}

/** Most new messages of an account that a search reads one by one, because they are not in the index yet. */
const mostUnindexed = 1000

/** Statuses that only emails have, and those that emails do not have. */
const ofEmails: ReadonlySet<string> = new Set(["opened", "clicked", "bounced", "complained", "suppressed"])
const ofTexts: ReadonlySet<string> = new Set(["read", "received"])

/** Whether messages of a channel can match. */
const mayMatch = (
  channel: SummaryChannel,
  { direction, domain, error_code, session_id, status }: SummaryFilter
) =>
  (direction !== "in" || channel !== "email") &&
  (domain === undefined || channel === "email") &&
  (session_id === undefined || channel === "whatsapp") &&
  (error_code === undefined || (channel !== "email" && (status ?? "failed") === "failed")) &&
  (status === undefined || !(channel === "email" ? ofTexts : ofEmails).has(status))

/** The words of a search, if the filter has some, and what selects messages besides. */
const wantedBy = (filter: SummaryFilter) => {
  const { domain, key_id, q, to } = filter
  const { batch_id, direction, error_code, from_date, metadata, session_id, tags, to_date } = filter
  // The failed messages have an index.
  const status = error_code === undefined ? filter.status : "failed"
  return {
    asked: (q ?? to ?? domain ?? key_id) === undefined ? undefined : { domain, key_id, q, to },
    selects: { batch_id, direction, error_code, from_date, metadata, session_id, status, tags, to_date }
  }
}

/** A source of the list. Each has its own ids, which follow the order of creation. */
interface Source {
  readonly channel: SummaryChannel
  readonly table: SearchedTable
}

/** The sources in the order of a cursor's ids. A further kind of message adds one, and a way to read it. */
const sources: ReadonlyArray<Source> = [
  { channel: "email", table: "email_messages" },
  { channel: "sms", table: "messages" },
  { channel: "whatsapp", table: "messages" }
]

/** The place of a message in the list: the last id read of each source. */
export const SummaryPosition = Schema.Array(Schema.Int).check(
  Schema.isMinLength(sources.length),
  Schema.isMaxLength(sources.length)
)

/** What an open list shows. A cursor cannot say it: a message may be committed later than one with a higher id. */
export const Seen = Schema.Struct({
  known: Schema.Array(Schema.Struct({ mark: Schema.Int, ids: Schema.Array(Schema.Int) })).check(
    Schema.isMinLength(sources.length),
    Schema.isMaxLength(sources.length)
  ),
  /** Messages up to the marks that the list does not show. */
  count: Schema.Int,
  /** There may be more of them. */
  isMore: Schema.Boolean
})
export type Seen = typeof Seen.Type

/** The newest message of an account in each source, and the newest one before which no other one can come any more. */
type Marks = ReadonlyArray<{ readonly settled: number; readonly newest: number }>

/** What the first page of a list shows. `marks` were read before it. A page with further ones behind it is full. */
export const seenOn = (marks: Marks, rows: ReadonlyArray<Placed>, isFull: boolean): Seen => ({
  known: sources.map(({ channel }, index): Known => {
    const { newest, settled } = marks[index] ?? { newest: 0, settled: 0 }
    const shown = rows.flatMap(({ summary: { channel: of, id } }) =>
      of === channel && typeof id === "number" ? [id] : []
    )
    // What is older than a full page is not new.
    const mark = isFull ? Math.max(settled, shown.length === 0 ? newest : Math.min(...shown) - 1) : settled
    return { mark, ids: shown.filter((id) => id > mark) }
  }),
  count: 0,
  isMore: false
})

/** Messages that an open list does not show. */
export interface Added {
  readonly count: number
  /** There may be more of them. */
  readonly isMore: boolean
  /** For the next look. */
  readonly seen: Seen
}

/** Before the first page, no message of a source was read. */
const start: Position = sources.map(() => Number.MAX_SAFE_INTEGER)

/** Merges the rows of all sources, the newest first, with the place of each. */
const merged = (found: ReadonlyArray<ReadonlyArray<MessageSummary>>, from: Position, limit: number) => {
  const next = found.map(() => 0)
  const rows: Array<Placed> = []
  let position = from
  while (rows.length < limit) {
    const heads = found.map((source, index) => source[next[index] ?? 0])
    const newest = heads.reduce(
      (best, head, index) =>
        head !== undefined && (heads[best] === undefined || head.created_at > (heads[best]?.created_at ?? ""))
          ? index
          : best,
      0
    )
    const summary = heads[newest]
    if (summary === undefined) break
    next[newest] = (next[newest] ?? 0) + 1
    position = position.map((id, index) => index === newest ? summary.id : id)
    rows.push({ summary, position })
  }
  return rows
}

/** The messages of all channels in one list. */
export class AllMessages extends Context.Service<AllMessages, {
  /** Newest first. */
  readonly list: (
    of: { readonly accountId: AccountId; readonly channels: ReadonlySet<SummaryChannel> },
    filter: SummaryFilter,
    window: Window
  ) => Effect.Effect<ReadonlyArray<Placed>>
  /** For {@link seenOn}. */
  readonly marks: (accountId: AccountId) => Effect.Effect<Marks>
  /**
   * Counts the messages that an open list does not show. It reads each message for about ten seconds, and at most 500 of an
   * account and a source at a time.
   */
  readonly added: (
    of: { readonly accountId: AccountId; readonly channels: ReadonlySet<SummaryChannel> },
    filter: SummaryFilter,
    seen: Seen
  ) => Effect.Effect<Added>
}>()("messaging-service/history/AllMessages") {
  static readonly layer = Layer.effect(
    AllMessages,
    Effect.gen(function*() {
      const repo = yield* HistoryRepo
      const search = yield* SearchRepo

      /** The messages that match and are not in the index yet, and the last id that is. */
      const searchedBy = Effect.fnUntraced(function*(asked: Search, table: SearchedTable, accountId: AccountId) {
        const { has_more, up_to: upTo } = yield* search.indexed({ table, accountId })
        const range = { after: upTo, limit: mostUnindexed, accountId }
        const unindexed = has_more ? yield* search.documents(table, range) : []
        const ids = unindexed.filter((document) => matchesSearch(asked, document)).map(({ id }) => id)
        return { query: tsqueryPartsOf(asked), upTo, ids }
      })

      /** The messages behind a mark that a search finds. The index may not have them yet. */
      const addedBy = Effect.fnUntraced(function*(
        asked: Search,
        { channel, table }: Source,
        { accountId, mark }: { readonly accountId: AccountId; readonly mark: number }
      ) {
        const documents = yield* search.documents(table, { after: mark, limit: newestAdded, accountId, channel })
        return documents.filter((document) => matchesSearch(asked, document)).map(({ id }) => id)
      })

      const read = Effect.fnUntraced(function*(
        range: Omit<SummaryRange, "found">,
        searched: Effect.Success<ReturnType<typeof searchedBy>> | undefined
      ) {
        if (searched === undefined) return yield* repo.read({ ...range, found: undefined })
        const { query, upTo } = searched
        const indexed = { ...range, before: Math.min(range.before, upTo + 1), found: undefined }
        const isSelective = repo.isSelective(indexed)
        const newest = isSelective ? { ids: [], end: indexed.before } : yield* repo.newest(indexed, query)
        const ids = [...searched.ids, ...newest.ids]
        let rows = ids.length === 0 ? [] : yield* repo.read({ ...range, found: ids })
        const remaining = (before: number) => ({ ...range, before, limit: range.limit - rows.length })
        if (rows.length >= range.limit || newest.end === null) return rows
        let older = remaining(newest.end)
        if (isSelective) {
          rows = [...rows, ...(yield* repo.read({ ...older, found: { query, by: "filter" } }))]
          if (rows.length >= range.limit) return rows
          const rest = yield* repo.restOfSearch(indexed)
          if (Option.isNone(rest)) return rows
          older = remaining(rest.value.id)
        }
        return [...rows, ...(yield* repo.read({ ...older, found: { query, by: "words" } }))]
      })

      return AllMessages.of({
        list: Effect.fn("AllMessages.list")(function*({ accountId, channels }, filter, { after, limit }) {
          const from = after ?? start
          const { asked, selects } = wantedBy(filter)
          const asks = new Set(sources.filter(({ channel }) => channels.has(channel)).map(({ table }) => table))
          const searched = new Map<SearchedTable, Effect.Success<ReturnType<typeof searchedBy>>>()
          if (asked !== undefined) {
            for (const table of asks) searched.set(table, yield* searchedBy(asked, table, accountId))
          }
          const found: Array<ReadonlyArray<MessageSummary>> = []
          for (const [index, { channel, table }] of sources.entries()) {
            const before = Number(from[index])
            const range = { accountId, channel, ...selects, before, limit }
            found.push(
              channels.has(channel) && mayMatch(channel, filter) ? yield* read(range, searched.get(table)) : []
            )
          }
          return merged(found, from, limit)
        }),
        marks: Effect.fn("AllMessages.marks")(function*(accountId) {
          return yield* Effect.forEach(sources, ({ channel }) => repo.marks({ accountId, channel }))
        }),
        added: Effect.fn("AllMessages.added")(function*({ accountId, channels }, filter, seen) {
          const { asked, selects } = wantedBy(filter)
          const known: Array<Known> = []
          let { count, isMore } = seen
          let recent = 0
          for (const [index, source] of sources.entries()) {
            const { channel } = source
            const { ids, mark } = seen.known[index] ?? { mark: 0, ids: [] }
            const isWatched = channels.has(channel) && mayMatch(channel, filter)
            const found = isWatched && asked !== undefined
              ? yield* addedBy(asked, source, { accountId, mark })
              : undefined
            const range = { accountId, channel, ...selects, found, before: Number.MAX_SAFE_INTEGER, limit: 0 }
            const look = isWatched
              ? yield* repo.added(range, { ids, mark })
              : { mark, settled: 0, recent: 0, is_whole: true }
            known.push({ mark: look.mark, ids: ids.filter((id) => id > look.mark) })
            count += look.settled
            recent += look.recent
            isMore ||= !look.is_whole
          }
          return { count: count + recent, isMore, seen: { known, count, isMore } }
        })
      })
    })
  ).pipe(Layer.provide([HistoryRepo.layer, SearchRepo.layer]))
}
