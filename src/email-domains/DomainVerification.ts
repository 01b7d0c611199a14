import { Context, DateTime, Duration, Effect, Layer, Option, Random, Schedule } from "effect"
import type { Notice } from "../accounts/notices/Notice.ts"
import { Notices } from "../accounts/notices/Notices.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { Dns } from "../platform/net/Dns.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import { isTest } from "../values/TestMode.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import { checkInSandbox, checkRecords, type Expected, isTestDomain } from "./checkRecords.ts"
import { type CheckedDomain, dnsRecords, type DomainCheck, type Purpose } from "./EmailDomain.ts"
import { type ClaimedDomain, type DomainRow, EmailDomainsRepo } from "./EmailDomainsRepo.ts"
import { transition, verdictOf } from "./EmailDomainState.ts"

/** A domain with its account. */
export interface OwnedDomain {
  readonly id: EmailDomainId
  readonly account_id: AccountId
  readonly domain: string
}

/** At most once a day for each domain, so that frequent DNS changes do not flood a mailbox. */
const about = ({ account_id, id }: OwnedDomain) => ({ accountId: account_id, once: `domain ${id}` })

/** For a domain whose required records were found. */
const verifiedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_verified",
  subject: `${owned.domain} is verified`,
  body: `The DNS records of ${owned.domain} were found. You can now use it in "from".\n\n`
    + "Keep the records: the service checks them once a day."
})

/** For a domain whose required records were wrong for too long. Names the fault of each record. */
const unverifiedNotice = (owned: OwnedDomain, check: DomainCheck): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body: [
    `The DNS records of ${owned.domain} have been wrong for two days. Mail from this domain is refused`
    + " until they are correct.",
    ...check
      .filter(({ purpose, status }) => (purpose === "DKIM" || purpose === "SPF") && status !== "verified")
      .map(({ detail, purpose }) => `${purpose}: ${detail}`),
    "The service checks again for three days. After that, start a check when the records are in place."
  ].join("\n\n")
})

/** For a domain whose published DKIM key now belongs to another account. */
const displacedNotice = (owned: OwnedDomain): Notice => ({
  ...about(owned),
  kind: "domain_unverified",
  subject: `${owned.domain} is no longer verified`,
  body: `The DKIM key published for ${owned.domain} belongs to another account, so that account controls the domain.`
    + " Mail of your account from this domain is refused.\n\n"
    + "If the domain is yours, publish your DKIM record again and start a check. If not, delete it from your account."
})

/**
 * Verifies domains by their published DNS records (spec 3.2). A lease in the row ensures that the cluster runs one
 * check of a domain at a time. An outcome, its notices and the displaced verification commit together.
 *
 * If several accounts have added a domain, it belongs to the account whose key is published, because DNS names only one
 * key. A check that passes takes the verification from the other account at once.
 */
export class DomainVerification extends Context.Service<DomainVerification, {
  /** Checks a domain now. Callers during a check, or within ten seconds after it, receive the same outcome. */
  readonly verify: (
    accountId: AccountId,
    id: EmailDomainId
  ) => Effect.Effect<CheckedDomain, NotFound>
  /** Runs the check that has been due longest. Returns whether there was one. */
  readonly checkDue: Effect.Effect<boolean>
  /** Whether a check is due. */
  readonly isAnyDue: Effect.Effect<boolean>
}>()("messaging-service/email-domains/DomainVerification") {
  static readonly layer = Layer.effect(
    DomainVerification,
    Effect.gen(function*() {
      const { transaction, waitWithoutConnection } = yield* Database
      const { enqueue } = yield* Notices
      const { smtpUrl, spfIncludeHost: spfHost } = yield* AppConfig
      const repo = yield* EmailDomainsRepo
      const checkDns = checkRecords(yield* Dns)
      const lookUp = (accountId: AccountId, expected: Expected) =>
        isTest(accountId) || (smtpUrl === "sandbox" && isTestDomain(expected.domain))
          ? Effect.succeed(checkInSandbox(expected))
          : checkDns(expected)

      const settle = Effect.fnUntraced(function*(claimed: ClaimedDomain, check: DomainCheck) {
        const held = yield* repo.hold(claimed)
        if (Option.isNone(held)) return
        const next = transition(
          {
            ...held.value,
            failingFor: Duration.millis(held.value.failing_millis),
            pendingFor: Duration.millis(held.value.pending_millis)
          },
          verdictOf(check),
          yield* Random.next
        )
        // Any number of test accounts may have a domain verified.
        if (next.change === "verified" && !isTest(claimed.account_id)) {
          if (yield* repo.isOvertaken(claimed)) {
            yield* repo.release(claimed.id)
            return
          }
          for (const displaced of yield* repo.displace(claimed)) yield* enqueue(displacedNotice(displaced))
        }
        yield* repo.settle(claimed.id, check, next)
        if (next.change === "verified") yield* enqueue(verifiedNotice(claimed))
        if (next.change === "unverified") yield* enqueue(unverifiedNotice(claimed, check))
      }, transaction)

      const check = Effect.fn("DomainVerification.check")(function*(claimed: ClaimedDomain) {
        const { account_id, domain, public_key: publicKey } = claimed
        yield* settle(claimed, yield* waitWithoutConnection(lookUp(account_id, { domain, publicKey, spfHost })))
      })

      /** The domain after its last check; NotFound if it was deleted meanwhile. */
      const afterCheck = Effect.fnUntraced(function*(accountId: AccountId, id: EmailDomainId) {
        const claimed = yield* repo.begin({ accountId, id })
        if (Option.isSome(claimed)) yield* check(claimed.value)
        const row = yield* repo.find({ accountId, id })
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const shown = Effect.fnUntraced(function*({ domain, id, public_key: publicKey, ...row }: DomainRow) {
        const judged = (purpose: Purpose) => row.last_check?.find((record) => record.purpose === purpose)
        const checked: CheckedDomain = {
          id,
          domain,
          status: row.status,
          dns_records: dnsRecords({ domain, publicKey, spfHost }).flatMap((record) => {
            const judgement = judged(record.purpose)
            return judgement === undefined ? [] : [{ ...record, ...judgement }]
          }),
          checked_at: row.checked_at ?? fromDateTime(yield* DateTime.now)
        }
        return checked
      })

      const verify = Effect.fn("DomainVerification.verify")(function*(accountId: AccountId, id: EmailDomainId) {
        const checked = Effect.repeat(afterCheck(accountId, id), {
          until: ({ is_fresh }) => is_fresh,
          schedule: Schedule.spaced("100 millis")
        })
        return yield* shown(yield* checked)
      })

      return DomainVerification.of({
        verify,
        isAnyDue: Effect.map(repo.anyDue(), ({ is }) => is),
        checkDue: Effect.gen(function*() {
          const claimed = yield* repo.beginDue()
          if (Option.isNone(claimed)) return false
          yield* check(claimed.value)
          return true
        })
      })
    })
  ).pipe(Layer.provide(EmailDomainsRepo.layer))
}

/**
 * Concurrent checks. A check only waits, up to ten seconds for silent name servers, which must not block the others.
 */
const concurrency = 16

/**
 * Checks due domains on one node of the cluster: pending ones with growing pauses for three days, verified ones once a
 * day. A check that a crashed node did not record stays due and runs again after its lease.
 */
export const DomainRechecks = PeriodicTask.make(
  "EmailDomainRechecks",
  "1 second",
  Effect.gen(function*() {
    const { checkDue, isAnyDue } = yield* DomainVerification
    if (!(yield* isAnyDue)) return
    const untilNone = Effect.repeat(checkDue, { while: (found) => found })
    yield* Effect.all(Array.from({ length: concurrency }, () => untilNone), { concurrency, discard: true })
  })
)
