import { Effect, Layer } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { created, nothing } from "../platform/http/RequestContext.ts"
import { Dns } from "../platform/net/Dns.ts"
import { DomainRegistrations } from "./DomainRegistrations.ts"
import { DomainRechecks, DomainVerification } from "./DomainVerification.ts"
import { EmailDomains } from "./EmailDomains.ts"
import { EmailDomainsApi } from "./EmailDomainsApi.ts"

/** Handlers of {@link EmailDomainsApi}. */
const EmailDomainsHttp = endpointGroup(
  baseContract.add(EmailDomainsApi),
  "emailDomains",
  (handlers) =>
    Effect.gen(function*() {
      const domains = yield* DomainRegistrations
      const verification = yield* DomainVerification
      return handlers.handleAll({
        list: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* domains.list(accountId) }
        }),
        add: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const domain = yield* domains.add(accountId, payload.domain)
          yield* created(`/v1/email/domains/${domain.id}`)
          return { success: true as const, data: domain }
        }),
        get: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { data: yield* domains.find(accountId, params.id) }
        }),
        update: Effect.fnUntraced(function*({ params, payload }) {
          const { accountId } = yield* Principal
          return { data: yield* domains.change({ accountId, id: params.id }, payload) }
        }),
        verify: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          return { success: true as const, data: yield* verification.verify(accountId, params.id) }
        }),
        remove: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* domains.remove(accountId, params.id)
          return yield* nothing
        })
      })
    })
)

/** Sending domains with their endpoints, checks and services for senders. */
export const EmailDomainsLayer = Layer.mergeAll(EmailDomainsHttp, DomainRechecks).pipe(
  Layer.provide(DomainVerification.layer),
  Layer.provideMerge(DomainRegistrations.layer),
  Layer.provide(Dns.layer),
  Layer.provideMerge(EmailDomains.layer)
)
