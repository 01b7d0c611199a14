import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type SealBroken, type SealedColumn, Vault } from "../platform/crypto/Vault.ts"
import * as Query from "../platform/database/Query.ts"
import { domainOf, type EmailAddress } from "../values/EmailAddress.ts"
import { AccountId } from "../values/Ids.ts"
import { DomainCheck, SenderNotVerified } from "./EmailDomain.ts"
import { warningsOf } from "./warningsOf.ts"

/** The context to which a sealed DKIM key is bound. */
export const sealedDkimKey = (accountId: AccountId, domain: string): string =>
  `email_domains:${accountId}:${domain}:dkim`

/** The sealed DKIM keys. */
export const dkimKeyColumn: SealedColumn = {
  table: "email_domains",
  column: "dkim_private_key",
  key: [["id", "bigint"]],
  parts: ["account_id", "domain"],
  what: (accountId, domain) => sealedDkimKey(AccountId.make(Number(accountId)), String(domain))
}

const Named = Schema.Struct({ accountId: AccountId, domain: Schema.String })

/** What a mail needs of its sender's domain. */
export interface SenderDomain {
  readonly track_opens: boolean
  readonly track_clicks: boolean
  /** Why large receivers may refuse bulk mail from it, according to its last check. */
  readonly warnings: ReadonlyArray<string>
}

const unknownDomain = { status: "", track_opens: false, track_clicks: false, last_check: null }

/** The sending domains of an account (spec 2.4), for senders. */
export class EmailDomains extends Context.Service<EmailDomains, {
  /** The domain of a sender. One that the account has not added tracks nothing. */
  readonly ofSender: (accountId: AccountId, sender: EmailAddress) => Effect.Effect<SenderDomain>
  /** The same. Refuses a sender whose domain is not verified for the account. A sub-domain needs a separate entry. */
  readonly requireVerified: (
    accountId: AccountId,
    sender: EmailAddress
  ) => Effect.Effect<SenderDomain, SenderNotVerified>
  /**
   * The private DKIM key (PEM) of the account's domain, if it has one. Also for a domain that has lost its verification
   * since the mail was accepted. A domain that was removed, or is verified for another account, fails.
   */
  readonly dkimKey: (
    accountId: AccountId,
    domain: string
  ) => Effect.Effect<Option.Option<Redacted.Redacted>, SenderNotVerified | SealBroken>
  /** The private DKIM key (PEM) of the account that the domain is verified for, if any. */
  readonly verifiedKey: (domain: string) => Effect.Effect<Option.Option<Redacted.Redacted>, SealBroken>
}>()("messaging-service/email-domains/EmailDomains") {
  static readonly layer = Layer.effect(
    EmailDomains,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const findKey = Query.findOneOption({
        Request: Named,
        Result: Schema.Struct({
          dkim_private_key: Schema.NullOr(Schema.Uint8Array),
          is_displaced: Schema.Boolean
        }),
        execute: ({ accountId, domain }) =>
          // Any number of test accounts may have a domain.
          sql`select dkim_private_key, d.account_id > 0 and exists (select from email_domains o
              where o.domain = d.domain and o.status = 'verified' and o.account_id <> d.account_id and o.account_id > 0
            ) as is_displaced
            from email_domains d where account_id = ${accountId} and domain = ${domain}`
      })

      const findSender = Query.findOneOption({
        Request: Named,
        Result: Schema.Struct({
          status: Schema.String,
          track_opens: Schema.Boolean,
          track_clicks: Schema.Boolean,
          last_check: Schema.NullOr(DomainCheck)
        }),
        execute: ({ accountId, domain }) =>
          sql`select status, track_opens, track_clicks, last_check from email_domains
            where account_id = ${accountId} and domain = ${domain}`
      })

      const findVerified = Query.findOneOption({
        Request: Schema.String,
        Result: Schema.Struct({ account_id: AccountId, dkim_private_key: Schema.Uint8Array }),
        execute: (domain) =>
          sql`select account_id, dkim_private_key from email_domains
            where domain = ${domain} and status = 'verified' and account_id > 0 and dkim_private_key is not null`
      })

      const opened = Effect.fnUntraced(function*(accountId: AccountId, domain: string, sealed: Uint8Array) {
        const pem = yield* vault.open(sealedDkimKey(accountId, domain), sealed)
        return Option.some(Redacted.make(Buffer.from(pem).toString("utf8"), { label: "DKIM private key" }))
      })

      const senderDomain = Effect.fnUntraced(function*(accountId: AccountId, domain: string) {
        const found = yield* findSender({ accountId, domain })
        const { last_check, status, ...tracking } = Option.getOrElse(found, () => unknownDomain)
        return { isVerified: status === "verified", domain: { ...tracking, warnings: warningsOf(last_check) } }
      })

      return EmailDomains.of({
        ofSender: Effect.fn("EmailDomains.ofSender")((accountId, sender) =>
          Effect.map(senderDomain(accountId, domainOf(sender)), ({ domain }) => domain)
        ),
        requireVerified: Effect.fn("EmailDomains.requireVerified")(function*(accountId, sender) {
          const name = domainOf(sender)
          const { domain, isVerified } = yield* senderDomain(accountId, name)
          return isVerified ? domain : yield* new SenderNotVerified({ param: "from", domain: name })
        }),
        dkimKey: Effect.fn("EmailDomains.dkimKey")(function*(accountId, domain) {
          const found = yield* findKey({ accountId, domain })
          if (Option.isNone(found) || found.value.is_displaced) {
            return yield* new SenderNotVerified({ param: "from", domain })
          }
          const sealed = found.value.dkim_private_key
          return sealed === null ? Option.none() : yield* opened(accountId, domain, sealed)
        }),
        verifiedKey: Effect.fn("EmailDomains.verifiedKey")(function*(domain) {
          const found = yield* findVerified(domain)
          if (Option.isNone(found)) return Option.none()
          return yield* opened(found.value.account_id, domain, found.value.dkim_private_key)
        })
      })
    })
  )
}
