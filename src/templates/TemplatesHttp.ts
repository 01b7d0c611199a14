import { Effect, Layer } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { page } from "../platform/http/pages.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { Templates } from "./Templates.ts"
import { TemplatesApi } from "./TemplatesApi.ts"

/** Handlers of {@link TemplatesApi}. */
const TemplatesHttp = endpointGroup(
  baseContract.add(TemplatesApi),
  "templates",
  (handlers) =>
    Effect.gen(function*() {
      const templates = yield* Templates
      return handlers.handleAll({
        list: Effect.fnUntraced(function*({ query }) {
          const { accountId } = yield* Principal
          return yield* page(query, (window) => templates.list(accountId, window), ({ numeric_id }) => [numeric_id])
        }),
        create: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const template = yield* templates.create(accountId, payload)
          yield* created(`/v1/email/templates/${template.id}`)
          return { data: template }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* templates.find(accountId, params.template_id) }
        }),
        update: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* templates.update(accountId, params.template_id, payload) }
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* templates.remove(accountId, params.template_id)
          return yield* nothing
        }),
        versions: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* templates.versions(accountId, params.template_id) }
        }),
        version: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* templates.version(accountId, params.template_id, params.version_id) }
        }),
        restore: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* templates.restore(accountId, params.template_id, params.version_id) }
        })
      })
    })
)

/** Templates with their endpoints and their service for senders. */
export const TemplatesLayer = TemplatesHttp.pipe(Layer.provideMerge(Templates.layer))
