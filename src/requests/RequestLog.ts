import { Effect, Layer, Option, Schema } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { KeyObject } from "node:crypto"
import { KeyRequests } from "../api-keys/KeyRequests.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import { Database } from "../platform/database/Database.ts"
import { isDatabaseUnavailable } from "../platform/database/unavailable.ts"
import { type AnsweredRequest, AnsweredRequests } from "../platform/http/RequestContext.ts"
import { counter } from "../platform/observability/series.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import type { AccountId } from "../values/Ids.ts"
import { recipientHash, recipientsIn } from "./refusedRecipients.ts"
import { type NewRow, RequestLogRepo } from "./RequestLogRepo.ts"
import { RefusedBecause, RequestId } from "./RequestRecord.ts"

/** Requests that wait in memory, and the bytes of the errors of their answers. */
const mostWaiting = 10_000
const mostBytes = 8 * 1024 * 1024

/** The largest answer whose error is kept. */
const largestAnswer = 64 * 1024

/** Rows of one statement. */
const groupSize = 1000

/** Requests of one account in a round that are above its rate limit: a program that repeats them at once makes thousands. */
const mostLimited = 20

const mostFaults = 20
const longestPath = 500
const longestMessage = 500

const changing = new Set(["POST", "PUT", "PATCH", "DELETE"])

/**
 * What has changed something or was refused. A program that waits for its record asks this log again and again. A message to
 * `/mcp` changes something only by a request that it makes, which has another record.
 */
const isKept = ({ facts: { route }, method, status }: AnsweredRequest) =>
  (status >= 400 || (changing.has(method) && route !== "/mcp")) && route?.startsWith("/v1/requests") !== true

const bytesOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Uint8Array" && body.body.length <= largestAnswer ? body.body : undefined

/** A caller may put a key or a token at a wrong place. Its start is enough to recognise it. */
const withoutSecrets = (text: string) =>
  text.replaceAll(/((?:sk|lt|rt)_(?:live|test)_[0-9A-Za-z]{3}|whsec_[0-9A-Za-z]{3})[0-9A-Za-z+/=]+/g, "$1…")

/** The beginning of a text, without secrets, and without what PostgreSQL does not store: NUL, and half of a surrogate pair. */
const storable = (text: string, longest: number) =>
  withoutSecrets(text).replaceAll("\0", "\ufffd").slice(0, longest).toWellFormed()

const errorIn = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ error: RefusedBecause })))

/** The error of an answer, bounded and without secrets. Null for an answer of another form. */
export const refusalIn = (body: Uint8Array | undefined): RefusedBecause | null =>
  body === undefined ? null : Option.match(errorIn(Buffer.from(body).toString()), {
    onNone: () => null,
    onSome: ({ error: { errors, message, param, ...error } }) => {
      const cut = (text: string) => storable(text, longestMessage)
      return {
        ...error,
        message: cut(message),
        ...(param !== undefined && { param: cut(param) }),
        ...(errors !== undefined && {
          errors: errors.slice(0, mostFaults).map((fault) => ({
            ...fault,
            param: cut(fault.param),
            message: cut(fault.message)
          }))
        })
      }
    }
  })

/** What is kept of a request until it is stored: not its answer, which may have any size. */
interface Waiting {
  readonly row: Omit<NewRow, "error">
  /** The answer of a refusal. */
  readonly body: Uint8Array | undefined
}

/** Keyed hashes of the recipients of a refused request, whose body is then let go. */
const takeRecipients = (key: KeyObject, accountId: AccountId, { facts }: AnsweredRequest) => {
  const recipients = recipientsIn(facts.refusedBody).map((one) => recipientHash(key, accountId, one))
  delete facts.refusedBody
  return recipients
}

const rowOf = (key: KeyObject, accountId: AccountId, request: AnsweredRequest): Waiting["row"] => {
  const { facts, method, millis, path, response, status } = request
  const { caller, clientAddress, requestId, route } = facts
  return {
    accountId,
    id: RequestId.make(requestId),
    method,
    path: storable(path, longestPath),
    route: route ?? "",
    status,
    recipients: takeRecipients(key, accountId, request),
    made: status < 300 ? response.headers["location"] ?? null : null,
    duration_ms: millis,
    key_id: caller?.keyId ?? null,
    key_prefix: caller?.keyPrefix ?? null,
    person_id: caller?.person?.id ?? null,
    ip: clientAddress
  }
}

const countDropped = counter(
  "request_log_dropped_total",
  "Requests that are missing in the log of requests, because too many waited or the database refused them"
)

/** How many requests of each account were above its rate limit in this round. */
const makeRepeats = () => {
  const limited = new Map<AccountId, number>()
  return {
    has: (accountId: AccountId, { status }: AnsweredRequest) => {
      if (status !== 429) return false
      const count = (limited.get(accountId) ?? 0) + 1
      limited.set(accountId, count)
      return count > mostLimited
    },
    forget: () => limited.clear()
  }
}

/**
 * Collects the requests of accounts in memory and stores them in groups once a second, so that no request has a statement more
 * or waits. What waits is bounded: a request beyond it is counted and not stored. `kill -9` loses about a second.
 */
export const RequestCollector = Layer.effect(
  AnsweredRequests,
  Effect.gen(function*() {
    const { requestLogRetentionDays } = yield* AppConfig
    const { insert } = yield* RequestLogRepo
    const { countRequest } = yield* KeyRequests
    const { recipient: key } = yield* MacKeys
    let waiting: Array<Waiting> = []
    let bytes = 0
    const repeats = makeRepeats()

    const forget = (count: number) => {
      for (const { body } of waiting.slice(0, count)) bytes -= body?.length ?? 0
      waiting = waiting.slice(count)
    }

    /** The database may be away: then the group waits for the next round. Another fault would come again. */
    const storeGroup = Effect.suspend(() => {
      const group = waiting.slice(0, groupSize)
      return insert(group.map(({ body, row }) => ({ ...row, error: refusalIn(body) }))).pipe(
        Effect.tapCause((cause) =>
          Effect.sync(() => {
            if (isDatabaseUnavailable(cause)) return
            countDropped(group.length)
            forget(group.length)
          })
        ),
        Effect.tap(() => Effect.sync(() => forget(group.length)))
      )
    })
    const storeAll = Effect.whileLoop({
      while: () => waiting.length > 0,
      body: () => storeGroup,
      step: () => undefined
    })
    const store = Effect.andThen(Effect.sync(repeats.forget), storeAll)

    if (requestLogRetentionDays === 0) return AnsweredRequests.of({ note: countRequest })
    yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(store, "2 seconds")))
    yield* Effect.forkScoped(PeriodicTask.repeat("RequestLog", "1 second", store))

    return AnsweredRequests.of({
      note: (request) => {
        countRequest(request)
        const accountId = request.facts.caller?.accountId
        if (accountId === undefined || accountId === null || !isKept(request)) return
        const body = request.status >= 400 ? bytesOf(request.response) : undefined
        const size = body?.length ?? 0
        if (waiting.length >= mostWaiting || bytes + size > mostBytes || repeats.has(accountId, request)) {
          return countDropped(1)
        }
        bytes += size
        waiting.push({ row: rowOf(key, accountId, request), body })
      }
    })
  })
)

/** The collector of a node. It has no connection of the pool that requests wait for. */
export const RequestLog = RequestCollector.pipe(
  Layer.provide(Database.onMaintenancePool(Layer.merge(RequestLogRepo.layer, KeyRequests.layer)))
)
