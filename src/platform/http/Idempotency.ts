import { Context, Data, Effect, Layer, Option, Semaphore } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import type { AccountId } from "../../values/Ids.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { type SealedColumn, Vault } from "../crypto/Vault.ts"
import { Database } from "../database/Database.ts"
import { type ApiError, errorResponse, isApiError, statusOf } from "./ApiError.ts"
import { IdempotencyInProgress, IdempotencyKeyReused, ValidationFailed } from "./ApiErrors.ts"
import { IdempotencyRepo, type Stored } from "./IdempotencyRepo.ts"
import { RequestContext } from "./RequestContext.ts"

const place = (scope: string, key: string) => `idempotency_records:${scope}:${key}`

/** The column of the stored answers. */
export const idempotencyColumn: SealedColumn = {
  table: "idempotency_records",
  column: "body",
  key: [["scope", "text"], ["key", "text"]],
  parts: ["scope", "key"],
  what: (scope, key) => place(String(scope), String(key))
}

/** Connections of the pool that requests with a key leave to all others. */
const reserved = 4

/** Statuses that depend on more than the request; a repetition may get another one, for example after payment (402). */
const isTransient = (status: number) => [401, 402, 403, 429].includes(status) || status >= 500

/** Carries an answer out of a transaction that rolls back. */
class Refused extends Data.TaggedError("Refused")<{ readonly answer: HttpServerResponse.HttpServerResponse }> {}

/** Another request with the same key has stored its answer first. The transaction of this one rolls back. */
class Overtaken extends Data.TaggedError("Overtaken") {}

/** The owner of idempotency keys. */
export interface Caller {
  /** An API key, or all logins of an account. */
  readonly name: string
  readonly accountId: AccountId
}

/** A request by an account, before its endpoint runs. */
interface Call {
  readonly caller: Caller
  /** The text of the request body. */
  readonly body: string
  /** Whether the endpoint waits for something other than the database. */
  readonly waits: boolean
}

interface Keyed {
  readonly accountId: AccountId
  readonly scope: string
  readonly key: string
  readonly fingerprint: Uint8Array
}

const storedHeaders = ["content-type", "location", "deprecation"]

const validKey = /^[\x21-\x7e]{1,255}$/

/**
 * Runs the last write of an endpoint that waits. With an `Idempotency-Key` it runs in the transaction that stores the
 * answer, so that after any crash both exist or neither does; otherwise at once.
 */
export const WriteWithAnswer = Context.Reference<(write: Effect.Effect<void>) => Effect.Effect<void>>(
  "messaging-service/platform/http/Idempotency/WriteWithAnswer",
  { defaultValue: () => (write) => write }
)

const inProgress = Effect.gen(function*() {
  const { answerHeaders } = yield* RequestContext
  answerHeaders.set("retry-after", "1")
  return yield* new IdempotencyInProgress()
})

/** The answer of an endpoint. A documented error is an answer too, but its transaction rolls back. */
const answerOf = <E, R>(endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catchIf(
    endpoint,
    (error): error is E & ApiError => isApiError(error) && !isTransient(statusOf(error)),
    (error) => Effect.flatMap(errorResponse(error), (answer) => Effect.fail(new Refused({ answer })))
  )

const headersOf = Effect.fnUntraced(function*(answer: HttpServerResponse.HttpServerResponse) {
  const { answerHeaders } = yield* RequestContext
  const headers: { [name: string]: string } = {}
  for (const name of storedHeaders) {
    const value = answerHeaders.get(name) ?? answer.headers[name] ??
      (name === "content-type" && answer.body._tag === "Uint8Array" ? answer.body.contentType : undefined)
    if (value !== undefined) headers[name] = value
  }
  return headers
})

/**
 * Stores the first answer to a request with an `Idempotency-Key` (per scope, method and path, for 24 hours) in the
 * transaction of its effect, so that after any crash both exist or neither does. The answer is encrypted, because it may
 * hold a secret that the API shows once.
 *
 * Such a transaction holds a connection of the pool from its start to its end. Four connections always remain for other
 * requests. An endpoint that waits for something other than the database runs outside of a transaction, under a claim.
 */
export class Idempotency extends Context.Service<Idempotency, {
  /** Runs an endpoint under the key of the current request, if it has one. */
  readonly once: <E, R>(
    call: Call,
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
      const repo = yield* IdempotencyRepo
      const vault = yield* Vault
      const { transaction } = yield* Database
      const { databaseConnections } = yield* AppConfig
      const transactions = yield* Semaphore.make(Math.max(1, databaseConnections - reserved))

      const replay = Effect.fnUntraced(function*({ fingerprint, key, scope }: Keyed, stored: Stored) {
        if (!Buffer.from(fingerprint).equals(stored.fingerprint)) return yield* new IdempotencyKeyReused()
        const body = yield* Effect.orDie(vault.open(place(scope, key), stored.body))
        const { answerHeaders } = yield* RequestContext
        answerHeaders.set("idempotency-replayed", "true")
        return HttpServerResponse.text(Buffer.from(body).toString(), { status: stored.status, headers: stored.headers })
      })

      /** Stores an answer. Fails if the key has one already. */
      const store = Effect.fnUntraced(function*(
        { accountId, fingerprint, key, scope }: Keyed,
        answer: HttpServerResponse.HttpServerResponse
      ) {
        const bytes = answer.body._tag === "Uint8Array" ? answer.body.body : new Uint8Array()
        const { status } = answer
        const body = vault.seal(place(scope, key), bytes)
        const row = { account_id: accountId, scope, key, fingerprint, status, headers: yield* headersOf(answer), body }
        if (Option.isNone(yield* repo.store(row))) return yield* new Overtaken()
        return answer
      })

      const replayFirst = Effect.fnUntraced(function*(keyed: Keyed) {
        const found = yield* repo.find(keyed)
        return Option.isSome(found) ? yield* replay(keyed, found.value) : yield* inProgress
      })

      /** Stores a refusal after its transaction rolled back. Answers as the request that stored its answer first. */
      const settled = <E, R>(keyed: Keyed, answered: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
        answered.pipe(
          Effect.catchIf((error) => error instanceof Refused, ({ answer }) => store(keyed, answer)),
          Effect.catchIf((error) => error instanceof Overtaken, () => replayFirst(keyed))
        )

      /** Runs an endpoint and stores its answer in one transaction, which holds a lock on the key. */
      const locked = Effect.fnUntraced(function*<E, R>(
        keyed: Keyed,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        if (!(yield* repo.tryLock(place(keyed.scope, keyed.key))).acquired) return yield* inProgress
        const found = yield* repo.find(keyed)
        if (Option.isSome(found)) return yield* replay(keyed, found.value)
        const answer = yield* answerOf(endpoint)
        return isTransient(answer.status) ? answer : yield* store(keyed, answer)
      })

      /** Runs an endpoint outside of a transaction, then stores its answer together with its last write. */
      const claimed = Effect.fnUntraced(function*<E, R>(
        keyed: Keyed,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        const found = yield* repo.find(keyed)
        if (Option.isSome(found)) return yield* replay(keyed, found.value)
        const writes: Array<Effect.Effect<void>> = []
        const answer = yield* answerOf(endpoint).pipe(
          Effect.provideService(WriteWithAnswer, (write) => Effect.sync(() => void writes.push(write)))
        )
        if (isTransient(answer.status)) return answer
        return yield* transaction(Effect.andThen(Effect.all(writes, { discard: true }), store(keyed, answer)))
      })

      const withClaim = Effect.fnUntraced(function*<E, R>(
        keyed: Keyed,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        yield* repo.dropExpiredClaims
        const claim = yield* repo.claim(keyed)
        if (Option.isNone(claim)) return yield* inProgress
        // A claim that cannot be released expires.
        const release = Effect.ignoreCause(repo.release(claim.value.holder))
        return yield* Effect.ensuring(settled(keyed, claimed(keyed, endpoint)), release)
      })

      const once = Effect.fnUntraced(function*<E, R>(
        { body, caller, waits }: Call,
        endpoint: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const key = request.headers["idempotency-key"]
        if (key === undefined || request.method !== "POST") return yield* endpoint
        if (!validKey.test(key)) {
          return yield* ValidationFailed.of("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
        }
        const scope = `${caller.name} ${request.method} ${request.url.split("?")[0]}`
        const fingerprint = createHash("sha256").update(body).digest()
        const keyed = { accountId: caller.accountId, scope, key, fingerprint }
        if (waits) return yield* withClaim(keyed, endpoint)
        return yield* settled(keyed, transactions.withPermits(1)(transaction(locked(keyed, endpoint))))
      })
      return Idempotency.of({ once })
    })
  ).pipe(Layer.provide(IdempotencyRepo.layer))
}
