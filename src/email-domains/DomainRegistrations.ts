import { Context, Effect, Layer, Option, Redacted, Semaphore } from "effect"
import { Audit, type AuditEntry } from "../accounts/Audit.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Vault } from "../platform/crypto/Vault.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { DomainName } from "../values/DomainName.ts"
import { domainOf, type EmailAddress } from "../values/EmailAddress.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import { dnsRecords } from "./dnsRecords.ts"
import type { AddedDomain, DomainChange, EmailDomain } from "./EmailDomain.ts"
import { DomainAlreadyExists } from "./EmailDomainErrors.ts"
import { sealedDkimKey } from "./EmailDomains.ts"
import { type DomainRow, EmailDomainsRepo } from "./EmailDomainsRepo.ts"
import { generateDkimKey } from "./generateDkimKey.ts"
import { warningsOf } from "./warningsOf.ts"

/**
 * The sending domains of an account, as their owner manages them (spec 2.4, 4.4). Several accounts may have added the same
 * domain, each with a key of its own; {@link DomainVerification} decides who may send from it.
 */
export class DomainRegistrations extends Context.Service<DomainRegistrations, {
  /** Newest first. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<EmailDomain>>
  readonly find: (accountId: AccountId, id: EmailDomainId) => Effect.Effect<EmailDomain, NotFound>
  /** Makes the domain's own DKIM key and gives the records to publish. */
  readonly add: (accountId: AccountId, domain: DomainName) => Effect.Effect<AddedDomain, DomainAlreadyExists>
  /** Holds for mail that is accepted from now on. */
  readonly change: (
    domain: { readonly accountId: AccountId; readonly id: EmailDomainId },
    change: DomainChange
  ) => Effect.Effect<EmailDomain, NotFound>
  /** From now on the domain must not stand in From; its key is gone. */
  readonly remove: (accountId: AccountId, id: EmailDomainId) => Effect.Effect<void, NotFound>
  /** What large receivers will hold against mail from a sender of the account, by its domain's last check. */
  readonly warnings: (accountId: AccountId, sender: EmailAddress) => Effect.Effect<ReadonlyArray<string>>
  /** The same for mail that is signed with the key a domain is verified with, in any account; none when it is in none. */
  readonly verifiedWarnings: (domain: string) => Effect.Effect<Option.Option<ReadonlyArray<string>>>
}>()("messaging-service/email-domains/DomainRegistrations") {
  static readonly layer = Layer.effect(
    DomainRegistrations,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const vault = yield* Vault
      const audit = yield* Audit
      const repo = yield* EmailDomainsRepo
      const { spfIncludeHost: spfHost } = yield* AppConfig
      // Making keys is the heaviest work there is: one at a time leaves the other threads to whoever signs mail.
      const keyMaking = yield* Semaphore.make(1)

      const added = ({ domain, id, public_key: publicKey, status }: DomainRow): AddedDomain => ({
        id,
        domain,
        status,
        dns_records: dnsRecords({ domain, publicKey, spfHost })
      })
      const shown = (row: DomainRow): EmailDomain => ({
        ...added(row),
        track_opens: row.track_opens,
        track_clicks: row.track_clicks,
        warnings: warningsOf(row.last_check),
        checked_at: row.checked_at,
        created_at: row.created_at
      })

      /** Makes a change and, if it changed a row, writes it into the book, both or neither. */
      const recorded = <A>(entry: AuditEntry, change: Effect.Effect<Option.Option<A>>) =>
        transaction(Effect.tap(change, (row) => Option.isSome(row) ? audit.record(entry) : Effect.void))

      const add = Effect.fn("DomainRegistrations.add")(function*(accountId: AccountId, domain: DomainName) {
        if (Option.isSome(yield* repo.named({ accountId, domain }))) {
          return yield* new DomainAlreadyExists({ domain })
        }
        const { privateKey, publicKey } = yield* keyMaking.withPermits(1)(generateDkimKey)
        const sealed = vault.seal(sealedDkimKey(accountId, domain), Buffer.from(Redacted.value(privateKey)))
        const row = yield* recorded(
          { accountId, action: "domain.added", data: { domain } },
          repo.insert({ accountId, domain, publicKey, privateKey: sealed })
        )
        if (Option.isNone(row)) return yield* new DomainAlreadyExists({ domain })
        return added(row.value)
      })

      return DomainRegistrations.of({
        add,
        list: (accountId) => Effect.map(repo.list(accountId), (rows) => rows.map(shown)),
        find: Effect.fn("DomainRegistrations.find")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          return Option.isSome(row) ? shown(row.value) : yield* new NotFound()
        }),
        change: Effect.fn("DomainRegistrations.change")(function*(domain, { track_clicks, track_opens }) {
          const wanted = { ...domain, opens: track_opens ?? null, clicks: track_clicks ?? null }
          const row = yield* recorded(
            { accountId: domain.accountId, action: "domain.changed", target: `domain ${domain.id}` },
            repo.change(wanted)
          )
          return Option.isSome(row) ? shown(row.value) : yield* new NotFound()
        }),
        remove: Effect.fn("DomainRegistrations.remove")(function*(accountId, id) {
          const gone = yield* recorded(
            { accountId, action: "domain.removed", target: `domain ${id}` },
            repo.remove({ accountId, id })
          )
          if (Option.isNone(gone)) return yield* new NotFound()
        }),
        warnings: (accountId, sender) =>
          Effect.map(
            repo.named({ accountId, domain: domainOf(sender) }),
            (row) => warningsOf(Option.isSome(row) ? row.value.last_check : null)
          ),
        verifiedWarnings: (domain) =>
          Effect.map(repo.verified(domain), Option.map(({ last_check }) => warningsOf(last_check)))
      })
    })
  ).pipe(Layer.provide(EmailDomainsRepo.layer))
}
