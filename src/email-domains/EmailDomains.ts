import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type SealBroken, Vault } from "../platform/crypto/Vault.ts"
import { domainOf, type EmailAddress } from "../values/EmailAddress.ts"
import { AccountId } from "../values/Ids.ts"
import { SenderNotVerified } from "./EmailDomainErrors.ts"

/** What a domain's sealed DKIM key belongs to. */
export const sealedDkimKey = (accountId: AccountId, domain: string): string =>
  `email_domains:${accountId}:${domain}:dkim`

const Query = Schema.Struct({ accountId: AccountId, domain: Schema.String })

/** The sending domains of an account (spec 2.4), as senders need them. */
export class EmailDomains extends Context.Service<EmailDomains, {
  /** Refuses a sender whose domain is not a verified one of the account; a sub-domain needs its own entry. */
  readonly requireVerified: (accountId: AccountId, sender: EmailAddress) => Effect.Effect<void, SenderNotVerified>
  /**
   * The private DKIM key (PEM) of a domain of the account, if it has one. The domain was verified when the mail was
   * accepted; one that is merely waiting for its next check still signs, one that was removed must not stand in From.
   */
  readonly dkimKey: (
    accountId: AccountId,
    domain: string
  ) => Effect.Effect<Option.Option<Redacted.Redacted>, SenderNotVerified | SealBroken>
}>()("messaging-service/email-domains/EmailDomains") {
  static readonly layer = Layer.effect(
    EmailDomains,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const find = SqlSchema.findOneOption({
        Request: Query,
        Result: Schema.Struct({ status: Schema.String, dkim_private_key: Schema.NullOr(Schema.Uint8Array) }),
        execute: ({ accountId, domain }) =>
          sql`select status, dkim_private_key from email_domains where account_id = ${accountId} and domain = ${domain}`
      })

      return EmailDomains.of({
        requireVerified: Effect.fn("EmailDomains.requireVerified")(function*(accountId, sender) {
          const domain = domainOf(sender)
          const found = yield* Effect.orDie(find({ accountId, domain }))
          if (Option.isNone(found) || found.value.status !== "verified") {
            return yield* new SenderNotVerified({ param: "from", domain })
          }
        }),
        dkimKey: Effect.fn("EmailDomains.dkimKey")(function*(accountId, domain) {
          const found = yield* Effect.orDie(find({ accountId, domain }))
          if (Option.isNone(found)) return yield* new SenderNotVerified({ param: "from", domain })
          const sealed = found.value.dkim_private_key
          if (sealed === null) return Option.none()
          const pem = yield* vault.open(sealedDkimKey(accountId, domain), sealed)
          return Option.some(Redacted.make(Buffer.from(pem).toString("utf8"), { label: "DKIM private key" }))
        })
      })
    })
  )
}
