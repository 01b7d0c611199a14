import { Effect } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { SandboxMessages } from "./SandboxMessage.ts"
import { SandboxMessagesApi } from "./SandboxMessagesApi.ts"

/** Handlers of {@link SandboxMessagesApi}. */
export const SandboxMessagesHttp = endpointGroup(
  baseContract.add(SandboxMessagesApi),
  "sandboxMessages",
  (handlers) =>
    Effect.gen(function*() {
      const messages = yield* SandboxMessages
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(
            query,
            (window) => messages.list(accountId, query, window),
            ({ id, received_at }) => [received_at, id]
          )
        }),
        clear: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: { deleted: yield* messages.clear(accountId) } }
        })
      })
    })
)
