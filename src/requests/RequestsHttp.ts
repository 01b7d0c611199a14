import { Effect, Layer } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { cursorPage } from "../platform/http/pages.ts"
import { Requests } from "./Requests.ts"
import { RequestsApi } from "./RequestsApi.ts"

const RequestsHttp = endpointGroup(
  baseContract.add(RequestsApi),
  "requests",
  (handlers) =>
    Effect.gen(function*() {
      const requests = yield* Requests
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* cursorPage(query, (window) => requests.list(accountId, query, window), ({ id }) => [id])
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* requests.find(accountId, params.request_id) }
        })
      })
    })
)

/** The log of requests, as the API shows it. */
export const RequestsLayer = RequestsHttp.pipe(Layer.provideMerge(Requests.layer))
