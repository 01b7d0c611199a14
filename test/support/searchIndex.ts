import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Fills the index of the search from rows with `account_id`, `channel`, `id` and `text`, as the task does. The words of a
 * text are separated by blanks.
 */
export const fillSearch = Effect.fnUntraced(function*(rows: string, blockSize: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`insert into message_search (account_id, channel, message_id, block, words)
    select account_id, channel, id, min(id) over (partition by account_id, channel, number / ${blockSize}),
      (select string_agg(quote_literal(word) || ':1', ' ') from unnest(string_to_array(text, ' ')) as w (word))::tsvector
    from (select *, row_number() over (partition by account_id, channel order by id) - 1 as number from (${rows}) r) n`)
  yield* sql`insert into message_search_blocks (account_id, channel, first_id, last_id, records)
    select account_id, channel, block, max(message_id), count(*) from message_search group by account_id, channel, block`
  yield* sql`update message_search_progress p set id = case p.name when 'messages' then (select max(id) from messages)
    else (select max(id) from email_messages) end`
})
