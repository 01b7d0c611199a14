import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import type { AnsweredRequest } from "../platform/http/RequestContext.ts"
import { makeCounts } from "../platform/work/Counts.ts"
import type { ApiKeyId } from "../values/Ids.ts"

const dayMillis = 86_400_000

/** The requests with a key on a day of UTC, by the class of their answer. */
interface Count {
  readonly keyId: ApiKeyId
  /** Days since 1970-01-01. */
  readonly day: number
  readonly succeeded: number
  readonly refused: number
  readonly failed: number
}

/** Counts the requests with each key. */
export class KeyRequests extends Context.Service<KeyRequests, {
  /** Counts a request, if it has a key. */
  readonly countRequest: (request: AnsweredRequest) => void
}>()("messaging-service/api-keys/KeyRequests") {
  static readonly layer = Layer.effect(
    KeyRequests,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock

      // One order for all nodes. A key that is revoked meanwhile gets no row: the reference to it fails, and the next round
      // leaves it out.
      const write = (given: ReadonlyArray<Count>) =>
        Query.run(sql`insert into api_key_requests as c (key_id, day, succeeded, refused, failed)
          select k.id, date '1970-01-01' + t.day, t.succeeded, t.refused, t.failed
          from unnest(${column.int8(given.map(({ keyId }) => keyId))}, ${column.int4(given.map(({ day }) => day))},
            ${column.int4(given.map(({ succeeded }) => succeeded))}, ${
          column.int4(given.map(({ refused }) => refused))
        },
            ${column.int4(given.map(({ failed }) => failed))}) as t (key_id, day, succeeded, refused, failed)
          join api_keys k on k.id = t.key_id
          order by k.id, t.day
          on conflict (key_id, day) do update set succeeded = c.succeeded + excluded.succeeded,
            refused = c.refused + excluded.refused, failed = c.failed + excluded.failed`)

      const add = yield* makeCounts<Count, never>({
        task: "KeyRequests",
        keyOf: ({ day, keyId }) => `${keyId} ${day}`,
        sum: (one, other) => ({
          ...other,
          succeeded: one.succeeded + other.succeeded,
          refused: one.refused + other.refused,
          failed: one.failed + other.failed
        }),
        write
      })

      return KeyRequests.of({
        countRequest: ({ facts: { caller, isOwn }, status }) => {
          const keyId = caller?.keyId ?? undefined
          // What a tool of MCP asks for is a part of its request.
          if (keyId === undefined || isOwn) return
          add({
            keyId,
            day: Math.floor(clock.currentTimeMillisUnsafe() / dayMillis),
            succeeded: status < 400 ? 1 : 0,
            refused: status >= 400 && status < 500 ? 1 : 0,
            failed: status >= 500 ? 1 : 0
          })
        }
      })
    })
  )
}
