import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { createHash } from "node:crypto"
import type { AccountId } from "../../values/Ids.ts"
import type { SealedColumn } from "../crypto/SealedColumn.ts"
import { Vault } from "../crypto/Vault.ts"
import { transaction } from "../database/transaction.ts"
import { IdempotencyInProgress, IdempotencyKeyReused, ValidationFailed } from "./ApiErrors.ts"
import { type ApiError, errorResponse, isApiError, statusOf } from "./errorResponse.ts"
import { RequestContext } from "./RequestContext.ts"

const Stored = Schema.Struct({
  fingerprint: Schema.Uint8Array,
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.Uint8Array
})

const place = (scope: string, key: string) => `idempotency_records:${scope}:${key}`

/** The stored answers, as they are kept. */
export const idempotencyColumn: SealedColumn = {
  table: "idempotency_records",
  column: "body",
  key: [["scope", "text"], ["key", "text"]],
  parts: ["scope", "key"],
  what: (scope, key) => place(String(scope), String(key))
}

/** Answers that say nothing about the request itself: asking again may be answered otherwise, as after paying (402). */
const isPassing = (status: number) => [401, 402, 403, 429].includes(status) || status >= 500

/** Rolls the effect back while its answer is kept. */
class Refused extends Data.TaggedError("Refused")<{ readonly answer: HttpServerResponse.HttpServerResponse }> {}

/** Whose keys they are. */
export interface Caller {
  /** A key, or the logins of an account. */
  readonly name: string
  readonly accountId: AccountId
}

interface Record {
  readonly accountId: AccountId
  readonly scope: string
  readonly key: string
  readonly fingerprint: Uint8Array
}

const kept = ["content-type", "location", "deprecation"]

const validKey = /^[\x21-\x7e]{1,255}$/

/**
 * `Idempotency-Key` (one per scope, method and path, for 24 hours): the first answer is stored in the transaction of
 * its effect, so that after any crash either both exist or neither. The stored answer is encrypted, as it may hold a
 * secret that is shown once.
 */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * Runs an endpoint under the key of the request in hand, if it has one. `body` is the text that was sent.
   */
  readonly once: <E, R>(
    caller: Caller,
    body: string,
    endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    E | IdempotencyInProgress | IdempotencyKeyReused | ValidationFailed,
    R | HttpServerRequest.HttpServerRequest
  >
}>()("messaging-service/platform/http/Idempotency") {
  static readonly layer = Layer.effect(
    Idempotency,
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const vault = yield* Vault
      const find = SqlSchema.findOneOption({
        Request: Schema.Struct({ scope: Schema.String, key: Schema.String }),
        Result: Stored,
        execute: ({ key, scope }) =>
          sql`select fingerprint, status, headers, body from idempotency_records
              where scope = ${scope} and key = ${key} and created_at > now() - interval '24 hours'`
      })
      const replay = Effect.fnUntraced(function*(what: string, stored: typeof Stored.Type) {
        const body = yield* Effect.orDie(vault.open(what, stored.body))
        const { answerHeaders } = yield* RequestContext
        answerHeaders.set("idempotency-replayed", "true")
        return HttpServerResponse.uint8Array(body, { status: stored.status, headers: stored.headers })
      })

      const store = Effect.fnUntraced(function*(
        record: Record,
        answer: HttpServerResponse.HttpServerResponse
      ) {
        const { answerHeaders } = yield* RequestContext
        const headers: { [name: string]: string } = {}
        for (const name of kept) {
          const value = answerHeaders.get(name) ?? answer.headers[name] ??
            (name === "content-type" && answer.body._tag === "Uint8Array" ? answer.body.contentType : undefined)
          if (value !== undefined) headers[name] = value
        }
        const bytes = answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array()
        yield* sql`insert into idempotency_records (account_id, scope, key, fingerprint, status, headers, body)
          values (${record.accountId}, ${record.scope}, ${record.key}, ${record.fingerprint}, ${answer.status}, ${
          sql.json(headers)
        },
                  ${vault.seal(place(record.scope, record.key), bytes)})
          on conflict (scope, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
            headers = excluded.headers, body = excluded.body, created_at = now()`
      }, Effect.orDie)

      /** The answer of an endpoint; a documented error is one too, but what was done on the way to it is undone. */
      const answerOf = <E, R>(endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
        Effect.catchIf(
          endpoint,
          (error): error is E & ApiError => isApiError(error) && !isPassing(statusOf(error)),
          (error) => Effect.flatMap(errorResponse(error), (answer) => Effect.fail(new Refused({ answer })))
        )

      const locked = Effect.fnUntraced(function*<E, R>(
        record: Record,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        const { fingerprint, key, scope } = record
        const [lock] = yield* Effect.orDie(
          sql`select pg_try_advisory_xact_lock(hashtextextended(${place(scope, key)}, 0)) as taken`
        )
        if (lock?.["taken"] !== true) {
          const { answerHeaders } = yield* RequestContext
          answerHeaders.set("retry-after", "1")
          return yield* new IdempotencyInProgress()
        }
        const stored = yield* Effect.orDie(find({ scope, key }))
        if (Option.isNone(stored)) {
          const answer = yield* answerOf(endpoint)
          if (!isPassing(answer.status)) yield* store(record, answer)
          return answer
        }
        if (!Buffer.from(fingerprint).equals(stored.value.fingerprint)) return yield* new IdempotencyKeyReused()
        return yield* replay(place(scope, key), stored.value)
      })

      const once = Effect.fnUntraced(function*<E, R>(
        caller: Caller,
        body: string,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const key = request.headers["idempotency-key"]
        if (key === undefined || request.method !== "POST") return yield* endpoint
        if (!validKey.test(key)) {
          return yield* ValidationFailed.of("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
        }
        const scope = `${caller.name} ${request.method} ${request.url.split("?")[0]}`
        const record = {
          accountId: caller.accountId,
          scope,
          key,
          fingerprint: createHash("sha256").update(body).digest()
        }
        return yield* transaction(locked(record, endpoint)).pipe(
          Effect.catchIf(
            (error) => error instanceof Refused,
            ({ answer }) => Effect.as(store(record, answer), answer)
          ),
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      })
      return Idempotency.of({ once })
    })
  )
}
