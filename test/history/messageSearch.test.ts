import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AllMessages, type Placed, type SummaryFilter } from "../../src/history/AllMessages.ts"
import { SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { AccountId } from "../../src/values/Ids.ts"
import type { Position } from "../../src/values/Page.ts"
import { fillSearch } from "../support/searchIndex.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const count = 24_000
const account = AccountId.make(1)

/**
 * Emails of several blocks, more with some statuses and tags than a search compares one by one. Every second has the word
 * "even", every thousandth "rare" and the first ten "oldest". Every third is bounced, and one of 600 has a bounced further
 * recipient. Beside them are some SMS.
 */
const fill = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into accounts (id, name, email, plan) overriding system value
    values (1, 'Owner', 'owner@test.example', 'enterprise')`
  yield* sql`insert into email_messages (account_id, recipient, status, subject, copies, tags, created_at)
    select 1, 'reader@host.example', case when i % 3 = 0 then 'bounced' else 'sent' end,
      concat_ws(' ', 'all', case when i % 2 = 0 then 'even' end, case when i % 1000 = 0 then 'rare' end,
        case when i <= 10 then 'oldest' end), case when i % 600 = 1 then 2 end,
      case when i % 5 = 0 then array['fifth'] when i % 100 = 1 then array['hundredth'] else '{}' end,
      now() - (${count} - i) * interval '1 second'
    from generate_series(1, ${count}::integer) as numbers (i)`
  yield* sql`insert into email_messages (account_id, recipient, status, position, part_of, created_at)
    select 1, 'copy@host.example', 'bounced', 1, id, created_at from email_messages where copies = 2 order by id`
  yield* sql`insert into messages (account_id, channel, direction, recipient, content, status, error_code, created_at)
    select 1, 'sms', 'out', '+250788123456', jsonb_build_object('body', 'all even'),
      case when i % 4 = 0 then 'failed' else 'delivered' end, case i % 8 when 0 then 'rejected' end, now() - i * interval '70 seconds'
    from generate_series(1, 300) as numbers (i)`
  yield* fillSearch(
    `select account_id, 'email' as channel, id, subject || ' <host.example' || case when id % 1000 = 0 then ' #7' else '' end as text
        from email_messages where part_of is null
      union all select account_id, channel, id, content ->> 'body' from messages`,
    1000
  )
  yield* sql`analyze`
})

/** The hrefs of all pages. */
const pages = Effect.fnUntraced(function*(filter: Partial<SummaryFilter>) {
  const all = yield* AllMessages
  const found: Array<string> = []
  let after: Position | null = null
  while (true) {
    const of = { accountId: account, channels: new Set(SummaryChannel.literals) }
    const page: ReadonlyArray<Placed> = yield* all.list(of, { tags: [], metadata: {}, ...filter }, {
      limit: 800,
      offset: 0,
      after
    })
    found.push(...page.map(({ summary }) => summary.href))
    const last: Placed | undefined = page.at(-1)
    if (last === undefined) return found
    after = last.position
  }
})

const Subject = AllMessages.layer.pipe(
  Layer.provideMerge(Layer.effectDiscard(fill)),
  Layer.provideMerge(TestDatabase.layer)
)

layer(Subject)((it) => {
  it.effect(
    "a search finds each message once, whatever its words, status and tags, on pages in the order of the list",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const filters: ReadonlyArray<Partial<SummaryFilter>> = [
          {},
          ...["sent", "bounced", "failed", "received"].map((status) => ({ status })),
          ...["fifth", "hundredth"].map((tag) => ({ tags: [tag] })),
          { tags: ["fifth"], status: "bounced" },
          { error_code: "rejected" },
          { session_id: 1 }
        ]
        const searches = [["all"], ["even"], ["rare"], ["oldest"], ["even", "rare"], ["oldest", "even"], ["absent"]]
        for (const filter of filters) {
          const listed = yield* pages(filter)
          for (const words of searches) {
            const rows = yield* sql`select '/v1/' || channel || '/messages/' || message_id as href from message_search
              where ${sql.and(words.map((word) => sql`words @@ ${word}::tsquery`))}`
            const matching = new Set(rows.map(({ href }) => String(href)))
            const found = yield* pages({ ...filter, q: words.join(" ") })
            assert.deepStrictEqual(
              found,
              listed.filter((href) => matching.has(href)),
              `${words.join(" ")} ${JSON.stringify(filter)}`
            )
          }
        }
      })
  )

  it.effect("a page of a sender's domain or of a key reads the same at the end of the list as at its start", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const all = yield* AllMessages
      const of = { accountId: account, channels: new Set(SummaryChannel.literals) }
      const read = sql`select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_xact_user_tables
        where relname in ('email_messages', 'messages', 'message_search', 'message_search_blocks')`
      const readsOf = (filter: Partial<SummaryFilter>, after: Position | null) =>
        sql.withTransaction(Effect.gen(function*() {
          const [before] = yield* read
          const page = yield* all.list(of, { tags: [], metadata: {}, ...filter }, { limit: 5, offset: 0, after })
          const [now] = yield* read
          assert.lengthOf(page, 5)
          return Number(now?.["count"]) - Number(before?.["count"])
        }))
      const [end] = yield* sql`select id from email_messages where part_of is null order by id offset 9000 limit 1`
      for (const filter of [{ domain: "host.example" }, { key_id: 7 }, { domain: "host.example", key_id: 7 }]) {
        const first = yield* readsOf(filter, null)
        const last = yield* readsOf(filter, [Number(end?.["id"]), 0, 0])
        assert.isAtMost(last, first * 1.1, JSON.stringify(filter))
        assert.isBelow(first, 1_200, JSON.stringify(filter))
      }
    }))

  it.effect("a page of a rare status reads neither older messages nor those after its last day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const all = yield* AllMessages
      const ago = (seconds: number) => sql`now() - ${seconds}::integer * interval '1 second'`
      yield* sql`insert into retention_marks (at, email_messages, messages)
        select ${ago(11_900)}, (select max(id) from email_messages where part_of is null and created_at <= ${
        ago(11_900)
      }),
          (select max(id) from messages)`
      const [day] = yield* sql`select to_json(${ago(12_000)}) as ends`
      const of = { accountId: account, channels: new Set(["email"] as const) }
      const read = sql`select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables
        where relname = 'email_messages'`
      for (const to_date of [undefined, String(day?.["ends"])]) {
        yield* sql.withTransaction(Effect.gen(function*() {
          const [before] = yield* read
          const filter = { tags: [], metadata: {}, status: "bounced", to_date }
          assert.lengthOf(yield* all.list(of, filter, { limit: 50, offset: 0, after: null }), 50)
          const [after] = yield* read
          assert.isBelow(Number(after?.["count"]) - Number(before?.["count"]), 1_000)
        }))
      }
    }))
})
