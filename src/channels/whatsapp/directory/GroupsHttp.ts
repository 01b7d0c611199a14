import { Effect } from "effect"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import { Groups } from "./Groups.ts"
import { GroupsApi } from "./GroupsApi.ts"

export const GroupsHttp = endpointGroup(
  baseContract.add(GroupsApi),
  "whatsappGroups",
  (handlers) =>
    Effect.gen(function*() {
      const groups = yield* Groups
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => groups.list(accountId, query, window), ({ id }) => [id])
        }),
        create: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const group = yield* groups.create(accountId, payload)
          yield* created(`/v1/whatsapp/groups/${group.id}`)
          return { data: group }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* groups.find({ accountId, id: params.id }) }
        }),
        change: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* groups.change({ accountId, id: params.id }, payload) }
        })
      })
    })
)
