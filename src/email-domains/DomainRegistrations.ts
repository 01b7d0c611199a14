import { Context, Effect, Layer, Option, Redacted, Semaphore } from "effect"
import { generateKeyPair } from "node:crypto"
import { Audit, type AuditEntry } from "../accounts/Audit.ts"
import { PlanLimits } from "../accounts/PlanLimits.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Vault } from "../platform/crypto/Vault.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound, type PlanLimitExceeded } from "../platform/http/ApiErrors.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import type { DomainName } from "../values/DomainName.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import { isTest } from "../values/TestMode.ts"
import { isTestDomain } from "./checkRecords.ts"
import {
  type AddedDomain,
  dnsRecords,
  DomainAlreadyExists,
  type DomainChange,
  type DomainCheck,
  type EmailDomain,
  KeyMakerBusy
} from "./EmailDomain.ts"
import { sealedDkimKey } from "./EmailDomains.ts"
import { type DomainRow, EmailDomainsRepo } from "./EmailDomainsRepo.ts"
import { warningsOf } from "./warningsOf.ts"

/** A domain's key pair. */
interface DkimKey {
  /** PKCS #8 in PEM form. */
  readonly privateKey: Redacted.Redacted
  /** Base64 of the DER form, as published in DNS. */
  readonly publicKey: string
}

/**
 * Generates an RSA key of 2048 bits (RFC 8301), which every receiver verifies and which fits into DNS. It takes a tenth
 * of a second on a thread of the pool, so the event loop continues.
 */
const generateDkimKey = Effect.callback<DkimKey>((resume) => {
  generateKeyPair("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" }
  }, (error, publicKey, privateKey) => {
    resume(
      error === null
        ? Effect.succeed({
          privateKey: Redacted.make(privateKey, { label: "DKIM private key" }),
          publicKey: publicKey.toString("base64")
        })
        : Effect.die(error)
    )
  })
})

/** Keys that a node generates or that wait for their turn: less than two seconds of work. */
const maxKeys = 16

/** As many of them for one account, so that it cannot keep others waiting. */
const maxKeysOfAccount = 8

/**
 * Generates one key at a time, which leaves the other threads for signing mail. It is the heaviest work of the service,
 * so it refuses more than a few that wait.
 */
const makeKeyMaker = Effect.map(Semaphore.make(1), (turn) => {
  const waiting: Array<AccountId> = []
  return Effect.fnUntraced(function*(accountId: AccountId) {
    if (waiting.length >= maxKeys || waiting.filter((id) => id === accountId).length >= maxKeysOfAccount) {
      const { answerHeaders } = yield* RequestContext
      answerHeaders.set("retry-after", "2")
      return yield* new KeyMakerBusy()
    }
    waiting.push(accountId)
    return yield* Effect.ensuring(
      turn.withPermits(1)(generateDkimKey),
      Effect.sync(() => waiting.splice(waiting.indexOf(accountId), 1))
    )
  })
})

/**
 * The sending domains of an account, for their owner (spec 2.4, 4.4). Several accounts may add the same domain, each
 * with another key. {@link DomainVerification} decides which of them may send from it.
 */
export class DomainRegistrations extends Context.Service<DomainRegistrations, {
  /** Newest first. */
  readonly list: (accountId: AccountId) => Effect.Effect<ReadonlyArray<EmailDomain>>
  readonly find: (accountId: AccountId, id: EmailDomainId) => Effect.Effect<EmailDomain, NotFound>
  /** The domain with the verdicts of its last check; null before the first. */
  readonly checked: (
    accountId: AccountId,
    id: EmailDomainId
  ) => Effect.Effect<{ readonly domain: EmailDomain; readonly check: DomainCheck | null }, NotFound>
  /** Generates a DKIM key and returns the records to publish. The limit of the plan holds for concurrent requests. */
  readonly add: (
    accountId: AccountId,
    domain: DomainName
  ) => Effect.Effect<AddedDomain, DomainAlreadyExists | PlanLimitExceeded | KeyMakerBusy>
  /** Applies to mail that is accepted afterwards. */
  readonly change: (
    domain: { readonly accountId: AccountId; readonly id: EmailDomainId },
    change: DomainChange
  ) => Effect.Effect<EmailDomain, NotFound>
  /** Deletes the domain and its key. Mail from it is refused afterwards. */
  readonly remove: (accountId: AccountId, id: EmailDomainId) => Effect.Effect<void, NotFound>
  /**
   * Why large receivers may refuse bulk mail from this domain, according to its last check for the account that it is
   * verified for; nothing if it is verified for none.
   */
  readonly verifiedWarnings: (domain: string) => Effect.Effect<Option.Option<ReadonlyArray<string>>>
}>()("messaging-service/email-domains/DomainRegistrations") {
  static readonly layer = Layer.effect(
    DomainRegistrations,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const vault = yield* Vault
      const audit = yield* Audit
      const repo = yield* EmailDomainsRepo
      const { smtpUrl, spfIncludeHost: spfHost } = yield* AppConfig
      const limits = yield* PlanLimits
      const makeKey = yield* makeKeyMaker

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

      /** Makes a change. If it changed a row, adds the entry to the audit log in the same transaction. */
      const recorded = <A, E>(entry: AuditEntry, change: Effect.Effect<Option.Option<A>, E>) =>
        transaction(Effect.tap(change, (row) => Option.isSome(row) ? audit.record(entry) : Effect.void))

      const add = Effect.fn("DomainRegistrations.add")(function*(accountId: AccountId, domain: DomainName) {
        if (Option.isSome(yield* repo.named({ accountId, domain }))) {
          return yield* new DomainAlreadyExists({ domain })
        }
        const capacity = limits.requireCapacity(accountId, "email_domains", repo.count(accountId))
        // Before the key as well, which is work for nothing above the limit.
        yield* transaction(capacity)
        const { privateKey, publicKey } = yield* makeKey(accountId)
        const sealed = vault.seal(sealedDkimKey(accountId, domain), Buffer.from(Redacted.value(privateKey)))
        // An owner needs at least a minute to publish the records. The sandbox needs none of them for a test domain, nor
        // for the domains of test accounts, which send nothing.
        const isAtOnce = isTest(accountId) || (smtpUrl === "sandbox" && isTestDomain(domain))
        const firstCheckSeconds = isAtOnce ? 0 : 60
        const row = yield* recorded(
          { accountId, action: "domain.added", data: { domain } },
          Effect.andThen(
            capacity,
            repo.insert({ accountId, domain, publicKey, privateKey: sealed, firstCheckSeconds })
          )
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
        checked: Effect.fn("DomainRegistrations.checked")(function*(accountId, id) {
          const row = yield* repo.find({ accountId, id })
          if (Option.isNone(row)) return yield* new NotFound()
          return { domain: shown(row.value), check: row.value.last_check }
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
        verifiedWarnings: (domain) =>
          Effect.map(repo.verified(domain), Option.map(({ last_check }) => warningsOf(last_check)))
      })
    })
  ).pipe(Layer.provide(EmailDomainsRepo.layer))
}
