import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import type { AccountId } from "../../../values/Ids.ts"

/** Smaller texts and files stay in the rows of their mail, which costs less than a second row. */
const leastBytes = 4 * 1024

/** The key of a body of an account. */
export interface StoredBody {
  /** A day (UTC). */
  readonly day: string
  readonly hash: Uint8Array
}

/**
 * Stores large texts and files, each once for an account and a day: 500 mails with the same file have one row. Returns
 * the keys in the same order; undefined for what is absent or small, which the caller stores. Needs a transaction.
 */
export const storeBodies = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  accountId: AccountId,
  contents: ReadonlyArray<Uint8Array | null>
) {
  const large = contents.map((content) => content !== null && content.byteLength >= leastBytes ? content : undefined)
  const bodies = large.flatMap((content) =>
    content === undefined ? [] : [{ content, hash: hash("sha256", content, "buffer") }]
  )
  if (bodies.length === 0) return contents.map((): StoredBody | undefined => undefined)
  const store = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ day: Schema.String }),
    execute: () =>
      sql`with today as (select (now() at time zone 'UTC')::date as day), stored as (
          insert into email_bodies (day, account_id, hash, content)
          select day, ${accountId}::bigint, hash, content from today,
            unnest(${column.bytea(bodies.map((body) => body.hash))}, ${
        column.bytea(bodies.map((body) => body.content))
      })
              as t (hash, content)
          on conflict do nothing
        )
        select day::text as day from today`
  })
  const { day } = yield* store()
  const hashes = bodies.values()
  return large.map((content): StoredBody | undefined => {
    const body = content === undefined ? undefined : hashes.next().value
    return body && { day, hash: body.hash }
  })
})
