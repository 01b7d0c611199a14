/** What an open list counts as new. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AllMessages, type Seen, seenOn, type SummaryFilter } from "../../src/history/AllMessages.ts"
import { SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const Subject = AllMessages.layer.pipe(Layer.provideMerge(TestDatabase.layer))

let accounts = 0

/** An account with a list of `perPage` rows. Its messages are written as the senders write them. */
const makeList = Effect.fnUntraced(function*(filter: Partial<SummaryFilter> = {}, perPage = 50) {
  const sql = yield* SqlClient.SqlClient
  const all = yield* AllMessages
  const accountId = AccountId.make(++accounts)
  yield* sql`insert into accounts (id, name, email, plan) overriding system value
    values (${accountId}, 'Owner', ${`owner${accountId}@test.example`}, 'enterprise')`
  const of = { accountId, channels: new Set(SummaryChannel.literals) }
  const wanted = { tags: [], metadata: {}, ...filter }
  return {
    accountId,
    emails: (count: number, { age = "0", subject = "Hello", tags = "{}" } = {}) =>
      sql`insert into email_messages (account_id, recipient, status, subject, tags, created_at)
        select ${accountId}, 'reader@host.example', 'sent', ${subject}, ${tags}::text[], now() - ${age}::interval
        from generate_series(1, ${count}::integer)`,
    texts: (count: number) =>
      sql`insert into messages (account_id, channel, direction, recipient, content, status)
        select ${accountId}, 'sms', 'out', '+250788123456', '{"body": "Hello"}', 'delivered'
        from generate_series(1, ${count}::integer)`,
    /** Time passes. */
    settle: Effect.forEach(
      ["email_messages", "messages"],
      (table) =>
        sql`update ${sql(table)} set created_at = created_at - interval '1 minute' where account_id = ${accountId}`
    ),
    open: Effect.gen(function*() {
      const marks = yield* all.marks(accountId)
      const rows = yield* all.list(of, wanted, { limit: perPage + 1, offset: 0, after: null })
      return seenOn(marks, rows.slice(0, perPage), rows.length > perPage)
    }),
    look: (seen: Seen) => all.added(of, wanted, seen)
  }
})

layer(Subject)("an open list of messages", (it) => {
  it.effect("counts each message of each channel that came after it, once", () =>
    Effect.gen(function*() {
      const { emails, look, open, settle, texts } = yield* makeList()
      yield* emails(3)
      let added = yield* look(yield* open)
      assert.strictEqual(added.count, 0)
      yield* emails(2)
      yield* texts(3)
      added = yield* look(added.seen)
      assert.strictEqual(added.count, 5)
      yield* settle
      added = yield* look(added.seen)
      assert.deepInclude(added, { count: 5, isMore: false })
      assert.isTrue(added.seen.known.every(({ ids }) => ids.length === 0))
      yield* emails(1)
      assert.strictEqual((yield* look(added.seen)).count, 6)
    }))

  it.effect("counts a batch that is committed after messages with higher ids", () =>
    Effect.gen(function*() {
      const { emails, look, open } = yield* makeList()
      const sql = yield* SqlClient.SqlClient
      yield* emails(1, { age: "1 minute" })
      const seen = yield* open
      const [written, isSeen] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const batch = yield* Effect.forkChild(sql.withTransaction(
        emails(4).pipe(Effect.andThen(Deferred.succeed(written, undefined)), Effect.andThen(Deferred.await(isSeen)))
      ))
      yield* Deferred.await(written)
      yield* emails(1)
      const added = yield* look(seen)
      assert.strictEqual(added.count, 1)
      yield* Deferred.succeed(isSeen, undefined)
      yield* Fiber.join(batch)
      assert.strictEqual((yield* look(added.seen)).count, 5)
    }))

  it.effect("counts only what its filter selects, and words that are not in the index yet", () =>
    Effect.gen(function*() {
      const tagged = yield* makeList({ tags: ["vip"] })
      const inTagged = yield* tagged.open
      yield* tagged.emails(2, { tags: "{vip}" })
      yield* tagged.emails(3)
      assert.strictEqual((yield* tagged.look(inTagged)).count, 2)
      const searched = yield* makeList({ q: "invoice" })
      const inSearched = yield* searched.open
      yield* searched.emails(1, { subject: "Your invoice" })
      yield* searched.emails(3)
      yield* searched.texts(1)
      assert.strictEqual((yield* searched.look(inSearched)).count, 1)
    }))

  it.effect("takes the messages of a burst that are on its further pages for old ones", () =>
    Effect.gen(function*() {
      const { emails, look, open, texts } = yield* makeList({}, 10)
      yield* texts(5)
      yield* emails(40)
      const added = yield* look(yield* open)
      assert.strictEqual(added.count, 0)
      yield* emails(2)
      assert.strictEqual((yield* look(added.seen)).count, 2)
    }))

  it.effect("reads few messages of a quiet account, however many of others are newer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const filter of [{}, { q: "hello" }]) {
        const quiet = yield* makeList(filter)
        yield* quiet.texts(2_000)
        yield* quiet.settle
        yield* (yield* makeList()).texts(20_000)
        yield* sql`insert into message_search_progress (name, id) select 'messages', max(id) from messages
          on conflict (name) do update set id = excluded.id`
        yield* sql`vacuum analyze messages`
        const read =
          sql`select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'messages'`
        yield* sql.withTransaction(Effect.gen(function*() {
          const [before] = yield* read
          assert.strictEqual((yield* quiet.look(yield* quiet.open)).count, 0)
          const [after] = yield* read
          assert.isBelow(Number(after?.["count"]) - Number(before?.["count"]), 2_000)
        }))
      }
    }))

  it.effect("reads at most 500 messages at a time, and then says that there may be more", () =>
    Effect.gen(function*() {
      const { emails, look, open, settle } = yield* makeList()
      const seen = yield* open
      yield* emails(600)
      assert.deepInclude(yield* look(seen), { count: 500, isMore: true })
      yield* settle
      const { count, isMore, seen: later } = yield* look(seen)
      assert.deepStrictEqual({ count, isMore }, { count: 500, isMore: true })
      assert.deepInclude(yield* look(later), { count: 500, isMore: true })
    }))
})
