import { Effect } from "effect"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { DomainVerification } from "./DomainVerification.ts"

/** Domains at once. A check does nothing but wait, ten seconds where name servers are silent; those must not hold up all. */
const width = 16

/**
 * Checks the domains that are due, by one node of the cluster: pending ones with growing pauses for three days, verified
 * ones once a day. A check that its node did not live to note is due still, and made again when its lease is over.
 */
export const DomainRechecks = PeriodicTask.make(
  "EmailDomainRechecks",
  "1 second",
  Effect.gen(function*() {
    const { checkDue, isAnyDue } = yield* DomainVerification
    if (!(yield* isAnyDue)) return
    const untilNone = Effect.repeat(checkDue, { while: (found) => found })
    yield* Effect.all(Array.from({ length: width }, () => untilNone), { concurrency: width, discard: true })
  })
)
