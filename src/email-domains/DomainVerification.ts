import { Context, DateTime, Duration, Effect, Layer, Option, Random, Schedule, Semaphore } from "effect"
import { Notices } from "../accounts/Notices.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound, ServiceUnavailable } from "../platform/http/ApiErrors.ts"
import type { AccountId, EmailDomainId } from "../values/Ids.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import { displacedNotice, unverifiedNotice, verifiedNotice } from "./changeNotice.ts"
import { longestCheck, makeCheckRecords } from "./checkRecords.ts"
import { dnsRecords } from "./dnsRecords.ts"
import type { CheckedDomain, DomainCheck, Purpose } from "./EmailDomain.ts"
import { type ClaimedDomain, type DomainRow, EmailDomainsRepo } from "./EmailDomainsRepo.ts"
import { transition, verdictOf } from "./EmailDomainState.ts"

/** What a transaction has left for itself while name servers are asked in it. */
const margin = Duration.seconds(2)

/**
 * Decides which domains are verified, by what DNS publishes (spec 3.2). There is one check at a time of a domain, in the
 * whole cluster: a lease in its row says so. An outcome, its notice and whom it displaces commit together.
 *
 * With an `Idempotency-Key` a request is a transaction, so its check holds a connection of the pool that all requests
 * share. At most a quarter of them may be held so; who comes then is asked to come again.
 *
 * Of the accounts that have added a domain, the one whose key is published has it: DNS names one of them at a time. An
 * account whose check passes takes the verification from another one at once, whose own check would fail from now on.
 */
export class DomainVerification extends Context.Service<DomainVerification, {
  /** Checks a domain now; whoever asks while a check is under way, or within ten seconds of it, gets the same outcome. */
  readonly verify: (
    accountId: AccountId,
    id: EmailDomainId
  ) => Effect.Effect<CheckedDomain, NotFound | ServiceUnavailable>
  /** Makes the check that is due longest, and says whether there was one. */
  readonly checkDue: Effect.Effect<boolean>
  /** Whether there is one. */
  readonly isAnyDue: Effect.Effect<boolean>
}>()("messaging-service/email-domains/DomainVerification") {
  static readonly layer = Layer.effect(
    DomainVerification,
    Effect.gen(function*() {
      const { transaction, inTransaction, idleInTransaction } = yield* Database
      const { enqueue } = yield* Notices
      const { databaseConnections, spfIncludeHost: spfHost } = yield* AppConfig
      const repo = yield* EmailDomainsRepo
      const checkRecords = yield* makeCheckRecords
      const holding = yield* Semaphore.make(Math.floor(databaseConnections / 4))

      const bounded = Effect.fnUntraced(function*<A, E>(effect: Effect.Effect<A, E>) {
        if (!(yield* inTransaction)) return yield* effect
        const done = yield* holding.withPermitsIfAvailable(1)(effect)
        return Option.isSome(done) ? done.value : yield* new ServiceUnavailable()
      })

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
        if (next.change === "verified") {
          if (yield* repo.isOvertaken(claimed)) {
            yield* repo.giveBack(claimed.id)
            return
          }
          for (const displaced of yield* repo.displace(claimed)) yield* enqueue(displacedNotice(displaced))
        }
        yield* repo.settle(claimed.id, check, next)
        if (next.change === "verified") yield* enqueue(verifiedNotice(claimed))
        if (next.change === "unverified") yield* enqueue(unverifiedNotice(claimed, check))
      }, transaction)

      const check = Effect.fn("DomainVerification.check")(function*(claimed: ClaimedDomain) {
        const { domain, public_key: publicKey } = claimed
        const looking = checkRecords({ domain, publicKey, spfHost })
        const found = yield* (yield* inTransaction)
          ? idleInTransaction(looking, Duration.sum(longestCheck, margin))
          : looking
        yield* settle(claimed, found)
      })

      /** A domain after its last check; one that was deleted meanwhile is not found. */
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
        return yield* shown(yield* bounded(checked))
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
