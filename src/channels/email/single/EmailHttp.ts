import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { page } from "../../../platform/http/pages.ts"
import { created } from "../../../platform/http/RequestContext.ts"
import type { EmailMessageId } from "../../../values/Ids.ts"
import type { PageRequest } from "../../../values/Page.ts"
import { EmailApi } from "./EmailApi.ts"
import { EmailChanges } from "./EmailChanges.ts"
import { Emails, type MessageFilter } from "./Emails.ts"
import { EmailSources } from "./EmailSources.ts"

/** A browser saves it, and must never show a mail as a page of this origin. */
const sourceHeaders = (id: EmailMessageId) => ({
  "content-disposition": `attachment; filename="email-${id}.eml"`,
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'"
})

/** Serves {@link EmailApi}. */
export const EmailHttp = endpointGroup(
  baseContract.add(EmailApi),
  "emailMessages",
  (handlers) =>
    Effect.gen(function*() {
      const messages = yield* Emails
      const changes = yield* EmailChanges
      const sources = yield* EmailSources
      const list = Effect.fnUntraced(function*({ query }: { readonly query: PageRequest & MessageFilter }) {
        const { accountId } = yield* Principal
        return yield* page(query, (window) => messages.list(accountId, query, window), ({ id }) => [id])
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
        status: find,
        content: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* messages.content(accountId, params.id) }
        }),
        source: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          const { source } = yield* sources.read(accountId, params.id)
          const headers = sourceHeaders(params.id)
          return HttpServerResponse.uint8Array(source, { contentType: "message/rfc822", headers })
        }),
        cancel: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* changes.cancel(accountId, params.id) }
        }),
        reschedule: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* changes.reschedule(accountId, params.id, payload.send_at) }
        })
      })
    })
)
