import { Duration } from "effect"

/** The most recipients that an actor claims at once, and of a batch that the accepting node sends at once. */
export const claimSize = 50

/**
 * A node may not know yet that its batch has moved: it was frozen, or a restart of PostgreSQL released its locks. The next
 * owner reclaims claims that have not been renewed for this long.
 */
export const leaseTimeout = Duration.seconds(8)

/** Less than `leaseTimeout`, so that the former owner has ended an old claim by then. */
export const leaseTime = Duration.seconds(7)
