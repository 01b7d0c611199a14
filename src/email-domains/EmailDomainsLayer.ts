import { Layer } from "effect"
import { Dns } from "../platform/net/Dns.ts"
import { DomainRegistrations } from "./DomainRegistrations.ts"
import { DomainRechecks, DomainVerification } from "./DomainVerification.ts"
import { EmailDomains } from "./EmailDomains.ts"
import { EmailDomainsHttp } from "./EmailDomainsHttp.ts"

/** Sending domains with their endpoints, checks and services for senders. */
export const EmailDomainsLayer = Layer.mergeAll(EmailDomainsHttp, DomainRechecks).pipe(
  Layer.provide(DomainVerification.layer),
  Layer.provideMerge(DomainRegistrations.layer),
  Layer.provide(Dns.layer),
  Layer.provideMerge(EmailDomains.layer)
)
