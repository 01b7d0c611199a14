import { Effect } from "effect"
import { Principal } from "../../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../../platform/http/baseContract.ts"
import { cursorPage, page } from "../../../platform/http/pages.ts"
import { created, nothing } from "../../../platform/http/RequestContext.ts"
import { PairingLinks } from "./PairingLinks.ts"
import { Sessions } from "./Sessions.ts"
import { SessionsApi } from "./SessionsApi.ts"

export const SessionsHttp = endpointGroup(
  baseContract.add(SessionsApi),
  "whatsappSessions",
  (handlers) =>
    Effect.gen(function*() {
      const sessions = yield* Sessions
      const links = yield* PairingLinks
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => sessions.list(accountId, query, window), ({ id }) => [id])
        }),
        create: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const session = yield* sessions.create(accountId, payload)
          yield* created(`/v1/whatsapp/sessions/${session.id}`)
          return session
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return yield* sessions.find({ accountId, id: params.id })
        }),
        states: Effect.fnUntraced(function*({ params, query }) {
          const { accountId } = yield* Principal
          const { id } = yield* sessions.find({ accountId, id: params.id })
          return yield* cursorPage(
            query,
            (window) => sessions.states({ accountId, id }, window),
            ({ reason, since, status }) => [since, status, reason ?? ""]
          )
        }),
        qr: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return yield* sessions.qr({ accountId, id: params.id })
        }),
        pairingCode: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          const digits = payload.phone_number.replaceAll(/\D/g, "")
          return { success: true as const, data: yield* sessions.pairingCode({ accountId, id: params.id }, digits) }
        }),
        pairingLink: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* links.make({ accountId, id: params.id }) }
        }),
        reconnect: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* sessions.reconnect({ accountId, id: params.id }) }
        }),
        logOut: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* sessions.logOut({ accountId, id: params.id }) }
        }),
        change: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return yield* sessions.rename({ accountId, id: params.id }, payload.name)
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* sessions.remove({ accountId, id: params.id })
          return yield* nothing
        })
      })
    })
)
