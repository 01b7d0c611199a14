import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Principal } from "../../../platform/http/Authentication.ts"
import { contractRoot } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import type { PageRequest } from "../../../values/Page.ts"
import { EmailMessagesApi } from "./EmailApi.ts"
import { EmailMessages, type MessageFilter } from "./Emails.ts"

/** Handlers of {@link EmailMessagesApi}. */
export const EmailMessagesHttp = HttpApiBuilder.group(
  contractRoot.add(EmailMessagesApi),
  "emailMessages",
  (handlers) =>
    Effect.gen(function*() {
      const messages = yield* EmailMessages
      const list = Effect.fnUntraced(function*({ query }: { readonly query: PageRequest & MessageFilter }) {
        const { accountId } = yield* Principal
        return yield* page(query, (window) => messages.list(accountId, query, window))
      })
      const find = Effect.fnUntraced(function*({ params }: { readonly params: { readonly id: EmailMessageId } }) {
        const { accountId } = yield* Principal
        return { data: yield* messages.find(accountId, params.id) }
      })
      return handlers.handleAll({
        send: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const accepted = yield* messages.send(accountId, payload)
          yield* created(`/v1/email/messages/${accepted.id}`)
          return { success: true as const, data: accepted }
        }),
        list,
        history: list,
        find,
        status: find
      })
    })
)
