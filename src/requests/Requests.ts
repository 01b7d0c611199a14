import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { KeyObject } from "node:crypto"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { AccountId, ApiKeyId } from "../values/Ids.ts"
import { statusesOf, type StatusRange, type Window } from "../values/Page.ts"
import { recipientHash } from "./refusedRecipients.ts"
import { type RequestFilter, RequestLogRepo } from "./RequestLogRepo.ts"
import { arrivalOf, firstIdAt, type LoggedRequest, type RequestId, type RequestRecord } from "./RequestRecord.ts"

/** Selects requests. Absent fields do not filter. */
export interface AskedRequests {
  readonly request_id?: RequestId | undefined
  /** A status, or a class such as `4xx`. */
  readonly status?: string | undefined
  readonly error_type?: string | undefined
  readonly method?: string | undefined
  /** The beginning of the path. */
  readonly path?: string | undefined
  readonly key_id?: ApiKeyId | undefined
  /** A recipient of sends that were refused. */
  readonly recipient?: string | undefined
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
}

interface Wanted {
  readonly asked: AskedRequests
  readonly window: Window
}

const anyStatus: StatusRange = { lowest: 0, highest: 999 }

const firstAt = (instant: string | undefined) =>
  instant === undefined ? null : firstIdAt(DateTime.toEpochMillis(DateTime.makeUnsafe(instant)))

const filterOf = (key: KeyObject, accountId: AccountId, { asked, window }: Wanted): RequestFilter => {
  const { lowest, highest } = asked.status === undefined ? anyStatus : statusesOf(asked.status)
  return {
    ...window,
    accountId,
    id: asked.request_id ?? null,
    from: firstAt(asked.from_date),
    to: firstAt(asked.to_date),
    // An answer with an error type is one of these.
    isRefused: lowest >= 400 || asked.error_type !== undefined,
    lowest,
    highest,
    errorType: asked.error_type ?? null,
    method: asked.method ?? null,
    path: asked.path ?? null,
    keyId: asked.key_id ?? null,
    recipient: asked.recipient === undefined ? null : recipientHash(key, accountId, asked.recipient)
  }
}

const recordOf = (request: LoggedRequest): RequestRecord => ({ ...request, created_at: arrivalOf(request.id) })

/** What the requests of an account did. */
export class Requests extends Context.Service<Requests, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    asked: AskedRequests,
    window: Window
  ) => Effect.Effect<ReadonlyArray<RequestRecord>>
  readonly find: (accountId: AccountId, id: RequestId) => Effect.Effect<RequestRecord, NotFound>
}>()("messaging-service/requests/Requests") {
  static readonly layer = Layer.effect(
    Requests,
    Effect.gen(function*() {
      const repo = yield* RequestLogRepo
      const { recipient: key } = yield* MacKeys
      return Requests.of({
        list: Effect.fn("Requests.list")(function*(accountId, asked, window) {
          return (yield* repo.list(filterOf(key, accountId, { asked, window }))).map(recordOf)
        }),
        find: Effect.fn("Requests.find")(function*(accountId, id) {
          const found = yield* repo.find({ accountId, id })
          return Option.isSome(found) ? recordOf(found.value) : yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(RequestLogRepo.layer))
}
