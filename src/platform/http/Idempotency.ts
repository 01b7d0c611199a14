import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import type { AccountId } from "../../values/Ids.ts"
import { type SealedColumn, Vault } from "../crypto/Vault.ts"
import { Database } from "../database/Database.ts"
import * as Query from "../database/Query.ts"
import { type ApiError, errorResponse, isApiError, statusOf } from "./ApiError.ts"
import { IdempotencyInProgress, IdempotencyKeyReused, ValidationFailed } from "./ApiErrors.ts"
import { RequestContext } from "./RequestContext.ts"

const Stored = Schema.Struct({
  fingerprint: Schema.Uint8Array,
  status: Schema.Int,
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.Uint8Array
})

const place = (scope: string, key: string) => `idempotency_records:${scope}:${key}`

/** The column of the stored answers. */
export const idempotencyColumn: SealedColumn = {
  table: "idempotency_records",
  column: "body",
  key: [["scope", "text"], ["key", "text"]],
  parts: ["scope", "key"],
  what: (scope, key) => place(String(scope), String(key))
}

/** Statuses that depend on more than the request; a repetition may get another one, for example after payment (402). */
const isTransient = (status: number) => [401, 402, 403, 429].includes(status) || status >= 500

/** Carries an answer out of a transaction that rolls back. */
class Refused extends Data.TaggedError("Refused")<{ readonly answer: HttpServerResponse.HttpServerResponse }> {}

/** The owner of idempotency keys. */
export interface Caller {
  /** An API key, or all logins of an account. */
  readonly name: string
  readonly accountId: AccountId
}

interface Record {
  readonly accountId: AccountId
  readonly scope: string
  readonly key: string
  readonly fingerprint: Uint8Array
}

const storedHeaders = ["content-type", "location", "deprecation"]

const validKey = /^[\x21-\x7e]{1,255}$/

/**
 * Stores the first answer to a request with an `Idempotency-Key` (per scope, method and path, for 24 hours) in the
 * transaction of its effect, so that after any crash both exist or neither does. The answer is encrypted, because it may
 * hold a secret that the API shows once.
 */
export class Idempotency extends Context.Service<Idempotency, {
  /**
   * Runs an endpoint under the key of the current request, if it has one. `body` is the text of the request body.
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
      const { transaction } = yield* Database
      const find = Query.findOneOption({
        Request: Schema.Struct({ scope: Schema.String, key: Schema.String }),
        Result: Stored,
        execute: ({ key, scope }) =>
          sql`select fingerprint, status, headers, body from idempotency_records
              where scope = ${scope} and key = ${key} and created_at > now() - interval '24 hours'`
      })
      const tryLock = Query.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ acquired: Schema.Boolean }),
        execute: (name) => sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as acquired`
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
        for (const name of storedHeaders) {
          const value = answerHeaders.get(name) ?? answer.headers[name] ??
            (name === "content-type" && answer.body._tag === "Uint8Array" ? answer.body.contentType : undefined)
          if (value !== undefined) headers[name] = value
        }
        const bytes = answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array()
        yield* Query.run(
          sql`insert into idempotency_records (account_id, scope, key, fingerprint, status, headers, body)
          values (${record.accountId}, ${record.scope}, ${record.key}, ${record.fingerprint}, ${answer.status}, ${
            sql.json(headers)
          },
                  ${vault.seal(place(record.scope, record.key), bytes)})
          on conflict (scope, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
            headers = excluded.headers, body = excluded.body, created_at = now()`
        )
      })

      /** The answer of an endpoint. A documented error is an answer too, but its transaction rolls back. */
      const answerOf = <E, R>(endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
        Effect.catchIf(
          endpoint,
          (error): error is E & ApiError => isApiError(error) && !isTransient(statusOf(error)),
          (error) => Effect.flatMap(errorResponse(error), (answer) => Effect.fail(new Refused({ answer })))
        )

      const locked = Effect.fnUntraced(function*<E, R>(
        record: Record,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        const { fingerprint, key, scope } = record
        if (!(yield* tryLock(place(scope, key))).acquired) {
          const { answerHeaders } = yield* RequestContext
          answerHeaders.set("retry-after", "1")
          return yield* new IdempotencyInProgress()
        }
        const stored = yield* find({ scope, key })
        if (Option.isNone(stored)) {
          const answer = yield* answerOf(endpoint)
          if (!isTransient(answer.status)) yield* store(record, answer)
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
          )
        )
      })
      return Idempotency.of({ once })
    })
  )
}
